// The range of addresses of which a Gateway gets one if it asks for none of its own (--address-pool), and who gets
// which.
//
// These are values and pure functions, for any thread. Nothing here knows whether this machine may listen on an
// address; that shows when the sockets are opened.
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
  /// Parses a CIDR such as "127.8.0.0/24" or "fd00:8::/64": of IPv4 from /8 on, of IPv6 from /64 on, with nothing after
  /// its prefix. Errors quote the text and say what is wrong with it.
  static base::Result<AddressPool> parse(std::string_view text);

  /// Returns the CIDR in canonical form.
  const std::string& text() const { return text_; }
  /// Returns how many addresses it can give, at least one. The first and the last one of an IPv4 network are not given
  /// (RFC 1122 section 3.2.1.3), unless it is a /31 or /32; of a part of 127.0.0.0/8 all are, but for the first and the
  /// last one of that whole network. The first one of an IPv6 network means its routers (RFC 4291 section 2.6.1) and is
  /// not given either, unless it is a /127 or /128.
  std::uint64_t size() const { return size_; }
  /// Returns an address in canonical form; `index` is below size().
  std::string at(std::uint64_t index) const;
  /// Returns true if it can give this address, which is in canonical form.
  bool gives(std::string_view address) const;

 private:
  using Bytes = std::array<std::uint8_t, 16>;  // an IPv4 address has the first four

  AddressPool() = default;
  void bound(unsigned hostBits);
  std::uint64_t lowBits(const Bytes& address) const;

  std::string text_;
  int family_ = 0;
  Bytes network_{};
  std::uint64_t first_ = 0;  // the last 64 bits, or 32 of IPv4, of the first address that it gives
  std::uint64_t size_ = 0;
};

/// Pairs of a Gateway, by kind, namespace and name, and an address that it has. A Gateway may have several.
using GatewayAddresses = std::set<std::pair<std::string, std::string>>;

/// A Gateway that takes part in the assignment.
struct PoolMember {
  std::string gateway;                 // kind, namespace and name
  std::string created;                 // texts compare as times; empty sorts as oldest
  std::vector<std::string> addresses;  // those that it asks for, in canonical form
  bool wantsOne = false;               // of the pool, perhaps beside its own ones
};

struct PoolAssignment {
  /// The addresses of the pool by Gateway. Gateways that want one and have none are left out: the pool is exhausted.
  std::map<std::string, std::string> addresses;
  /// The Gateways by address of the pool. No other Gateway may have that address, even if it asks for it.
  std::map<std::string, std::string> holders;
};

/// Gives each Gateway that wants one an address of the pool that no other one has. The result does not depend on the
/// order of `members`.
///
/// What a Gateway has in `before`, the addresses of the configuration that was served last or those that clients were
/// told of, it keeps. The others choose
/// in the order of creation and name: an address that a Gateway asks for is its own, unless another one has it of the
/// pool already, and who wants one of the pool gets the first free one from a place on that its name alone determines.
/// So a process that starts without any memory gives nearly always the same addresses as the one before.
PoolAssignment assignFromPool(const AddressPool& pool, std::vector<PoolMember> members, const GatewayAddresses& before);

}  // namespace sluice::compile
