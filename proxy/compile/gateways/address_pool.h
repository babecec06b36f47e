// The address pool (--address-pool) is the range from which a Gateway that asks for no address of its own gets one.
// assignFromPool() decides which Gateway gets which address.
//
// These are values and pure functions, for any thread. They do not know whether this machine can listen on an address;
// the process finds that out when it opens the sockets.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"

namespace sluice::compile {

class AddressPool {
 public:
  /// Parses a CIDR such as "127.8.0.0/24" or "fd00:8::/64". The shortest prefix is /8 for IPv4 and /64 for IPv6, and
  /// all bits after the prefix must be 0. Errors quote the text and explain the mistake.
  static base::Result<AddressPool> parse(std::string_view text);

  /// Returns the CIDR in canonical form.
  const std::string& text() const { return text_; }
  /// Returns how many addresses the pool can give, at least one. The first and the last address of an IPv4 network are
  /// left out (RFC 1122 section 3.2.1.3), unless it is a /31 or /32. In a part of 127.0.0.0/8, only the first and the
  /// last address of that whole network are left out. The first address of an IPv6 network means its routers (RFC 4291
  /// section 2.6.1) and is left out too, unless it is a /127 or /128.
  std::uint64_t size() const { return size_; }
  /// Returns an address in canonical form; `index` is below size().
  std::string at(std::uint64_t index) const;
  /// Returns true if the pool can give this address, which is in canonical form.
  bool gives(std::string_view address) const;

 private:
  using Bytes = std::array<std::uint8_t, 16>;  // an IPv4 address uses the first four bytes

  AddressPool() = default;
  void bound(unsigned hostBits);
  std::uint64_t lowBits(const Bytes& address) const;

  std::string text_;
  int family_ = 0;
  Bytes network_{};
  std::uint64_t first_ = 0;  // the last 64 bits (IPv4: 32 bits) of the first address that the pool gives
  std::uint64_t size_ = 0;
};

/// Pairs of a Gateway, by kind, namespace and name, and an address that it has. A Gateway may have several.
using GatewayAddresses = std::set<std::pair<std::string, std::string>>;

/// A Gateway that takes part in the assignment.
struct PoolMember {
  std::string gateway;                 // kind, namespace and name
  std::string created;                 // these texts sort as times do; an empty one is the oldest
  std::vector<std::string> addresses;  // the addresses that it asks for, in canonical form
  bool wantsOne = false;               // it wants an address of the pool, perhaps besides its own ones
};

struct PoolAssignment {
  /// The addresses of the pool by Gateway. A Gateway that wants an address and is not here got none, because the pool
  /// is exhausted.
  std::map<std::string, std::string> addresses;
  /// The Gateways by their address of the pool. No other Gateway may use that address, even if it asks for it.
  std::map<std::string, std::string> holders;
};

/// Gives each Gateway that wants one an address of the pool that no other Gateway has. The result does not depend on
/// the order of `members`.
///
/// A Gateway keeps the addresses that it has in `before`. These are the addresses of the configuration that was served
/// last, or those that clients were told. The other Gateways choose in the order of creation and name. A Gateway gets
/// an address that it asks for unless another Gateway has it from the pool already. A Gateway that wants an address of
/// the pool gets the first free one after a start that depends only on its name. So a process that starts without
/// `before` gives nearly always the same addresses as the process before it.
PoolAssignment assignFromPool(const AddressPool& pool, std::vector<PoolMember> members, const GatewayAddresses& before);

}  // namespace sluice::compile
