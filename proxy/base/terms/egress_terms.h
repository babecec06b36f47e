// The terms of an EgressPolicy: which destinations requests may reach. Configuration reads them, and routing compiles
// them into tables (proxy/routing/policy/egress/egress_judge.h). Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/ip_network.h"
#include "proxy/base/terms/caller.h"

namespace sluice::base {

/// The most rules of one policy.
inline constexpr std::size_t kMostEgressRules = 256;

struct EgressPath {
  enum class Type : std::uint8_t { kExact, kPathPrefix, kRegularExpression };
  Type type = Type::kPathPrefix;
  std::string value;  // a path in normal form, or an expression in RE2's syntax

  friend bool operator==(const EgressPath&, const EgressPath&) = default;
};

struct EgressPorts {
  std::uint16_t first = 0;
  std::uint16_t last = 0;  // included

  friend bool operator==(const EgressPorts&, const EgressPorts&) = default;
};

/// The callers of a rule: all that is given must hold. An absent list matches every caller.
struct EgressCallers {
  std::optional<std::vector<std::string>> namespaces = std::nullopt;
  std::optional<std::vector<std::string>> serviceAccounts = std::nullopt;  // "namespace/name"
  std::optional<std::vector<std::string>> principals = std::nullopt;
  std::optional<Assurance> assurance = std::nullopt;  // the least

  friend bool operator==(const EgressCallers&, const EgressCallers&) = default;
};

/// A rule matches if everything that it gives matches. An absent list matches everything.
struct EgressRule {
  std::string name;
  bool allows = true;
  std::optional<std::vector<IpNetwork>> clients = std::nullopt;      // from.cidrs
  std::optional<EgressCallers> callers = std::nullopt;               // the other fields of `from`
  std::optional<std::vector<std::string>> hostnames = std::nullopt;  // in lower case, "*.suffix" or exact
  std::optional<std::vector<IpNetwork>> addresses = std::nullopt;    // to.cidrs
  std::optional<std::vector<EgressPorts>> ports = std::nullopt;
  std::optional<std::vector<std::string>> methods = std::nullopt;
  std::optional<std::vector<EgressPath>> paths = std::nullopt;
  bool requiresTls = false;       // the hop to the destination must be TLS
  bool matchesServerName = true;  // in a tunnel, `hostnames` must match the name of TLS (SNI) too

  friend bool operator==(const EgressRule&, const EgressRule&) = default;
};

struct EgressTerms {
  bool audits = false;           // refuses nothing, and only tells what it would refuse
  bool allowsByDefault = false;  // what no rule matches passes
  std::vector<EgressRule> rules;

  friend bool operator==(const EgressTerms&, const EgressTerms&) = default;
};

}  // namespace sluice::base
