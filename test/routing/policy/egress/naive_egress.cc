#include "test/routing/policy/egress/naive_egress.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

namespace sluice::routing::test {
namespace {

using base::EgressPath;
using base::EgressRule;
using base::IpNetwork;

using Octets = std::vector<std::uint8_t>;

Truth truthOf(bool value) { return value ? Truth::kTrue : Truth::kFalse; }
Truth all(Truth a, Truth b) { return std::min(a, b); }
Truth any(Truth a, Truth b) { return std::max(a, b); }

/// A fact that does not exist: Allow rules are not held to it, and Deny rules are false by it.
Truth ofAbsent(const EgressRule& rule) { return truthOf(rule.allows); }

bool bitOf(const std::uint8_t* bytes, unsigned index) { return (bytes[index / 8] >> (7 - index % 8) & 1) != 0; }

const Octets kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// A network of mapped addresses is one of IPv4, too.
bool isIn(const IpNetwork& network, const Octets& address) {
  const bool isMapped = network.bytes == 16 && network.bits >= kMappedPrefix.size() * 8 &&
                        std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), network.prefix.begin());
  if (isMapped && address.size() == 4) {
    Octets mapped = kMappedPrefix;
    mapped.insert(mapped.end(), address.begin(), address.end());
    return isIn(network, mapped);
  }
  if (address.size() != network.bytes) return false;
  for (unsigned i = 0; i < network.bits; ++i) {
    if (bitOf(network.prefix.data(), i) != bitOf(address.data(), i)) return false;
  }
  return true;
}

bool isInOne(const std::vector<IpNetwork>& networks, const Octets& address) {
  return std::any_of(networks.begin(), networks.end(), [&](const IpNetwork& each) { return isIn(each, address); });
}

bool begins(const Octets& address, const Octets& prefix) {
  return address.size() == 16 && std::equal(prefix.begin(), prefix.end(), address.begin());
}

/// ::ffff:a.b.c.d is only another spelling of an IPv4 address.
Octets unmapped(base::AddressBytes address) {
  const Octets octets(address.begin(), address.end());
  if (!begins(octets, kMappedPrefix)) return octets;
  return {octets.begin() + 12, octets.end()};
}

/// The IPv4 address to which NAT64 or 6to4 would take the packets; else the address itself.
Octets carried(const Octets& address) {
  if (begins(address, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return {address.begin() + 12, address.end()};
  if (begins(address, {0x20, 0x02})) return {address.begin() + 2, address.begin() + 6};
  return address;
}

/// A connection to 0.0.0.0 is one to 127.0.0.1, and a connection to :: is one to ::1.
Octets reached(Octets address) {
  if (std::count(address.begin(), address.end(), 0) < static_cast<std::ptrdiff_t>(address.size())) return address;
  if (address.size() == 4) address.front() = 127;
  address.back() = 1;
  return address;
}

bool egressNameFits(const std::string& hostname, std::string_view name) {
  if (!hostname.starts_with("*.")) return hostname == name;
  return name.size() >= hostname.size() && name.ends_with(std::string_view(hostname).substr(1));
}

bool oneHostFits(const std::vector<std::string>& hostnames, std::string_view name) {
  if (name.empty()) return false;
  return std::any_of(hostnames.begin(), hostnames.end(), [&](const auto& each) { return egressNameFits(each, name); });
}

/// In a tunnel, the name of TLS. Where the first bytes are no TLS there is none; TLS that names no server matches
/// nothing.
Truth serverNameTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!facts.serverName) return Truth::kUnknown;
  if (facts.serverName->empty() && facts.tls == false) return ofAbsent(rule);
  return truthOf(oneHostFits(*rule.hostnames, *facts.serverName));
}

Truth hostnameTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!rule.hostnames) return Truth::kTrue;
  const Truth name = truthOf(oneHostFits(*rule.hostnames, facts.name));
  if (sightOf(facts.way).serverName != Sight::kSeen || !rule.matchesServerName) return name;
  const Truth serverName = serverNameTruth(rule, facts);
  return rule.allows ? all(name, serverName) : any(name, serverName);
}

Truth portTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!rule.ports) {
    if (!rule.allows || facts.isStatic) return Truth::kTrue;
    return truthOf(facts.port == 443 || (facts.port == 80 && facts.isPlainTarget));
  }
  return truthOf(std::any_of(rule.ports->begin(), rule.ports->end(), [&](const base::EgressPorts& each) {
    return each.first <= facts.port && facts.port <= each.last;
  }));
}

Truth tlsTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!rule.requiresTls) return Truth::kTrue;
  return facts.tls ? truthOf(*facts.tls) : Truth::kUnknown;
}

Truth clientTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!rule.clients) return Truth::kTrue;
  if (sightOf(facts.way).client == Sight::kAbsent) return ofAbsent(rule);
  return truthOf(isInOne(*rule.clients, unmapped(facts.client)));
}

/// A Deny rule also matches a caller without the name; an Allow rule does not.
Truth callerNameTruth(const EgressRule& rule, const std::optional<std::vector<std::string>>& names,
                      const std::string& name) {
  if (!names) return Truth::kTrue;
  if (name.empty()) return truthOf(!rule.allows);
  return truthOf(std::count(names->begin(), names->end(), name) > 0);
}

std::string accountNameOf(const base::Caller& caller) {
  if (caller.nameSpace.empty() || caller.serviceAccount.empty()) return {};
  return caller.nameSpace + "/" + caller.serviceAccount;
}

Truth callerTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!rule.callers || *rule.callers == base::EgressCallers()) return Truth::kTrue;
  if (sightOf(facts.way).client == Sight::kAbsent) return ofAbsent(rule);
  if (facts.callerUnknown) return Truth::kUnknown;
  const base::Caller* const caller = facts.caller;
  if (caller == nullptr || caller->assurance == base::Assurance::kNone) return truthOf(!rule.allows);
  return std::min({callerNameTruth(rule, rule.callers->namespaces, caller->nameSpace),
                   callerNameTruth(rule, rule.callers->serviceAccounts, accountNameOf(*caller)),
                   callerNameTruth(rule, rule.callers->principals, caller->principal),
                   truthOf(caller->assurance >= rule.callers->assurance.value_or(base::Assurance::kNone))});
}

Truth addressTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!rule.addresses) return Truth::kTrue;
  if (facts.address.empty()) return Truth::kUnknown;
  const Octets asGiven(facts.address.begin(), facts.address.end());
  if (isInOne(*rule.addresses, asGiven)) return Truth::kTrue;
  if (rule.allows) return Truth::kFalse;
  const Octets inner = carried(unmapped(facts.address));
  return truthOf(isInOne(*rule.addresses, inner) || isInOne(*rule.addresses, reached(inner)));
}

bool egressPathFits(const EgressPath& path, const std::string& asked) {
  if (path.type == EgressPath::Type::kExact) return asked == path.value;
  if (path.type == EgressPath::Type::kRegularExpression) return std::regex_match(asked, std::regex(path.value));
  const std::string prefix = path.value.ends_with('/') ? path.value : path.value + "/";
  return (asked + "/").starts_with(prefix);
}

bool requestFits(const EgressRule& rule, const EgressHttp& http) {
  const auto isMethod = [&](const std::string& each) { return each == http.method; };
  if (rule.methods && std::none_of(rule.methods->begin(), rule.methods->end(), isMethod)) return false;
  const auto isPath = [&](const EgressPath& each) { return egressPathFits(each, std::string(http.path)); };
  return !rule.paths || std::any_of(rule.paths->begin(), rule.paths->end(), isPath);
}

Truth httpTruth(const EgressRule& rule, const EgressFacts& facts) {
  if (!rule.methods && !rule.paths) return Truth::kTrue;
  const Sight sight = sightOf(facts.way).http;
  if (sight == Sight::kAbsent) return ofAbsent(rule);
  if (sight == Sight::kUnknown) return Truth::kUnknown;
  const Truth sent = truthOf(requestFits(rule, facts.sent));
  const Truth leaving = truthOf(requestFits(rule, facts.leaving));
  return rule.allows ? all(sent, leaving) : any(sent, leaving);
}

}  // namespace

Truth naiveTruth(const EgressRule& rule, const EgressFacts& facts) {
  return std::min({hostnameTruth(rule, facts), portTruth(rule, facts), tlsTruth(rule, facts), clientTruth(rule, facts),
                   callerTruth(rule, facts), addressTruth(rule, facts), httpTruth(rule, facts)});
}

EgressRuling naiveRuling(const base::EgressTerms& terms, const EgressFacts& facts) {
  Truth deny = Truth::kFalse;
  Truth allow = truthOf(terms.allowsByDefault);
  for (const EgressRule& each : terms.rules) {
    Truth& verdict = each.allows ? allow : deny;
    verdict = any(verdict, naiveTruth(each, facts));
  }
  if (deny == Truth::kTrue || allow == Truth::kFalse) return EgressRuling::kDenied;
  return deny == Truth::kFalse && allow == Truth::kTrue ? EgressRuling::kPassed : EgressRuling::kUndecided;
}

EgressRuling naiveRuling(const std::vector<base::EgressTerms>& policies, const EgressFacts& facts) {
  EgressRuling worst = EgressRuling::kPassed;
  for (const base::EgressTerms& each : policies) {
    if (!each.audits) worst = std::max(worst, naiveRuling(each, facts));
  }
  return worst;
}

}  // namespace sluice::routing::test
