// A rule of ConnectGuard: the conditions under which it matches a connection. All conditions of a rule must hold.
//
// Immutable values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/ip_network.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/processing/call.h"

namespace sluice::filters {

/// A connection, or an address to which one may be made.
struct ConnectFacts {
  base::AddressBytes ip;
  std::uint16_t port = 0;
  /// The name that TLS asks for, or in a tunnel the host that the client names; empty if there is none.
  std::string_view serverName;
  /// Null while there is no connection. SHA-256, 32 bytes; empty if the peer has shown no certificate.
  const std::string_view* certificate = nullptr;
  const processing::Peer& peer;
};

enum class RuleMatch : std::uint8_t {
  kNo,
  kByCertificate,  // it matches if the certificate does, which is not known yet
  kYes
};

class ConnectRule {
 public:
  /// Reads a rule that satisfies the schema. Errors have config's origin, and begin with the member.
  static base::Result<ConnectRule> read(const content::Value& rule);

  /// `unknownCallers` is the answer of conditions about the caller if that which they ask about is not known.
  RuleMatch match(const ConnectFacts& facts, bool unknownCallers) const;

 private:
  bool matchesName(std::string_view serverName) const;
  bool matchesCaller(const processing::Peer& peer, bool unknownCallers) const;

  // An empty list is no condition.
  std::vector<base::IpNetwork> networks_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::string> names_;         // in lower case; "*.example.com" stands for all names below example.com
  std::vector<std::string> certificates_;  // SHA-256, 32 bytes
  std::vector<std::string> serviceAccounts_;
  base::Assurance assurance_ = base::Assurance::kNone;  // the least
};

}  // namespace sluice::filters
