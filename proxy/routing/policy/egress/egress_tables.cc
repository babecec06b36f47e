#include "proxy/routing/policy/egress/egress_tables.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/target.h"
#include "proxy/routing/policy/address_guard.h"

namespace sluice::routing {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::array<std::uint8_t, 4> kLoopbackV4{127, 0, 0, 1};
constexpr std::array<std::uint8_t, 16> kLoopbackV6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

bool isUnspecified(base::AddressBytes address) {
  return std::all_of(address.begin(), address.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// Returns the address to which the kernel connects in place of an unspecified one.
base::AddressBytes loopbackOf(base::AddressBytes unspecified) {
  if (unspecified.size() == kLoopbackV4.size()) return kLoopbackV4;
  return kLoopbackV6;
}

/// Calls add(element, index of the rule) for all elements of a list that rules may give.
template <typename Element, typename Add>
void forElements(const base::EgressTerms& terms, std::optional<std::vector<Element>> base::EgressRule::*list,
                 Add&& add) {
  for (std::size_t i = 0; i < terms.rules.size(); ++i) {
    if (!(terms.rules[i].*list)) continue;
    for (const Element& each : *(terms.rules[i].*list)) add(each, i);
  }
}

}  // namespace

template <std::size_t Words>
EgressTables<Words>::EgressTables(const base::EgressTerms& terms, EgressPaths paths)
    : allowsByDefault_(terms.allowsByDefault), paths_(std::move(paths)) {
  for (std::size_t i = 0; i < terms.rules.size(); ++i) addRule(terms.rules[i], i);
  addTables(terms);
}

template <std::size_t Words>
void EgressTables<Words>::addTables(const base::EgressTerms& terms) {
  using Terms = base::EgressRule;
  std::vector<RuleHostname> hostnames;
  std::vector<typename IntervalTable<std::uint16_t, Rules>::Interval> ports;
  std::vector<RuleNetwork> clients;
  std::vector<RuleNetwork> addresses;
  forElements(terms, &Terms::hostnames, [&](const auto& each, std::size_t i) { hostnames.emplace_back(each, i); });
  forElements(terms, &Terms::ports, [&](const auto& each, std::size_t i) {
    ports.push_back({each.first, each.last, i});
  });
  forElements(terms, &Terms::clients, [&](const auto& each, std::size_t i) { clients.emplace_back(each, i); });
  forElements(terms, &Terms::addresses, [&](const auto& each, std::size_t i) { addresses.emplace_back(each, i); });
  hostnames_ = NameTable<Rules>(all_ - givenHostnames_, hostnames);
  ports_ = {all_ - givenPorts_, ports, std::numeric_limits<std::uint16_t>::max(),
            [](std::uint16_t port) { return static_cast<std::uint16_t>(port + 1); }};
  clients_ = AddressTable<Rules>(all_ - givenClients_, clients);
  addresses_ = AddressTable<Rules>(all_ - givenAddresses_, addresses);
  denies_ = deny_.any();
  callers_ = CallerTable<Rules>(terms.rules);
  given_ = {givenHostnames_.any(),
            givenPorts_.any(),
            givenTls_.any(),
            givenClients_.any(),
            callers_.given().any(),
            givenAddresses_.any(),
            givenMethods_.any() || givenPaths_.any()};
}

template <std::size_t Words>
void EgressTables<Words>::addRule(const base::EgressRule& rule, std::size_t index) {
  const auto insertIf = [index](bool given, Rules& rules) {
    if (given) rules.insert(index);
  };
  all_.insert(index);
  (rule.allows ? allow_ : deny_).insert(index);
  insertIf(rule.hostnames.has_value(), givenHostnames_);
  insertIf(rule.ports.has_value(), givenPorts_);
  insertIf(rule.clients.has_value(), givenClients_);
  insertIf(rule.addresses.has_value(), givenAddresses_);
  insertIf(rule.methods.has_value(), givenMethods_);
  insertIf(rule.paths.has_value(), givenPaths_);
  insertIf(rule.requiresTls, givenTls_);
  insertIf(rule.hostnames && rule.matchesServerName, givenServerName_);
  if (!rule.methods) return;
  for (const std::string& method : *rule.methods) {
    auto known = std::find_if(methods_.begin(), methods_.end(), [&](const auto& each) { return each.first == method; });
    if (known == methods_.end()) known = methods_.emplace(methods_.end(), method, Rules());
    known->second.insert(index);
  }
}

// --- the judgement ---------------------------------------------------------------------------------------------------

template <std::size_t Words>
EgressJudgement EgressTables<Words>::judge(const EgressFacts& facts) const {
  Standing standing{all_, {}};
  if (given_.hostnames) byName(facts, standing);
  if (given_.ports || !facts.isStatic) byPort(facts, standing);
  if (given_.tls) byTls(facts, standing);
  if (given_.clients) byClient(facts, standing);
  if (given_.callers) byCaller(facts, standing);
  if (given_.addresses) byAddress(facts, standing);
  if (given_.http) byHttp(facts, standing);
  return decide(standing);
}

template <std::size_t Words>
EgressJudgement EgressTables<Words>::decide(const Standing& standing) const {
  bool someMayDeny = false;
  if (denies_) {
    const Rules mayDeny = standing.left & deny_;
    const Rules denying = mayDeny - standing.unknown;
    if (denying.any()) return {EgressRuling::kDenied, denying.first()};
    someMayDeny = mayDeny.any();
  }
  const Rules mayAllow = standing.left & allow_;
  if (!allowsByDefault_ && !mayAllow.any()) return {EgressRuling::kDenied, kEgressDefault};
  const Rules allowing = mayAllow - standing.unknown;
  const bool isAllowed = allowing.any();
  if (someMayDeny || (!allowsByDefault_ && !isAllowed)) return {EgressRuling::kUndecided, kEgressDefault};
  return {EgressRuling::kPassed, isAllowed ? allowing.first() : kEgressDefault};
}

template <std::size_t Words>
bool EgressTables<Words>::withoutSight(Sight sight, const Rules& given, Standing& standing) const {
  switch (sight) {
    case Sight::kSeen:
      return false;
    case Sight::kUnknown:
      standing.unknown |= given;
      return true;
    case Sight::kAbsent:
      standing.left -= given & deny_;
      return true;
  }
  return true;
}

/// In a tunnel, the hostnames of an Allow rule match the name that is dialled and that of TLS, and those of a Deny rule
/// match one of them.
template <std::size_t Words>
void EgressTables<Words>::byName(const EgressFacts& facts, Standing& standing) const {
  const Rules matching = hostnames_.find(facts.name);
  if (sightOf(facts.way).serverName != Sight::kSeen) {
    standing.left &= matching;
    return;
  }
  if (!facts.serverName) {
    standing.left &= matching | deny_;
    standing.unknown |= (allow_ & givenServerName_) | (deny_ - matching);
    return;
  }
  const Rules ofServer = hostnames_.find(*facts.serverName);
  Rules allowing = matching;
  // Without TLS there is no such name. TLS that names no server may reach another one than the name that is dialled.
  const bool isPlain = facts.serverName->empty() && facts.tls == false;
  if (!isPlain) allowing &= ofServer | (all_ - givenServerName_);
  standing.left &= (allowing & allow_) | ((matching | ofServer) & deny_);
}

template <std::size_t Words>
void EgressTables<Words>::byPort(const EgressFacts& facts, Standing& standing) const {
  standing.left &= ports_.find(facts.port);
  const bool isUsual = facts.port == kHttpsPort || (facts.isPlainTarget && facts.port == kHttpPort);
  if (!facts.isStatic && !isUsual) standing.left &= givenPorts_ | deny_;
}

template <std::size_t Words>
void EgressTables<Words>::byTls(const EgressFacts& facts, Standing& standing) const {
  if (!facts.tls) {
    standing.unknown |= givenTls_;
  } else if (!*facts.tls) {
    standing.left -= givenTls_;
  }
}

template <std::size_t Words>
void EgressTables<Words>::byClient(const EgressFacts& facts, Standing& standing) const {
  if (withoutSight(sightOf(facts.way).client, givenClients_, standing)) return;
  if (facts.client.empty()) {
    standing.unknown |= givenClients_;
    return;
  }
  // A client of IPv4 at a socket for both versions has a mapped address.
  const bool isMapped = facts.client.size() == 16 && classify(facts.client) == AddressClass::kV4Mapped;
  standing.left &= clients_.find(isMapped ? facts.client.last(4) : facts.client);
}

/// A way that has no client has no caller.
template <std::size_t Words>
void EgressTables<Words>::byCaller(const EgressFacts& facts, Standing& standing) const {
  const Sight sight = sightOf(facts.way).client;
  const bool isUnknown = sight == Sight::kSeen && facts.callerUnknown;
  if (withoutSight(isUnknown ? Sight::kUnknown : sight, callers_.given(), standing)) return;
  standing.left &= callers_.find(facts.caller);
}

/// A Deny rule also matches the IPv4 address that a form of IPv6 carries, and loopback in place of an unspecified
/// address.
template <std::size_t Words>
void EgressTables<Words>::byAddress(const EgressFacts& facts, Standing& standing) const {
  if (facts.address.empty()) {
    standing.unknown |= givenAddresses_;
    return;
  }
  Rules matching = addresses_.find(facts.address);
  const auto carried = facts.address.size() == kLoopbackV6.size() ? carriedV4(facts.address) : std::nullopt;
  const base::AddressBytes reached = carried ? base::AddressBytes(*carried) : facts.address;
  if (carried) matching |= addresses_.find(reached) & deny_;
  if (isUnspecified(reached)) matching |= addresses_.find(loopbackOf(reached)) & deny_;
  standing.left &= matching;
}

template <std::size_t Words>
void EgressTables<Words>::byHttp(const EgressFacts& facts, Standing& standing) const {
  const Sight sight = sightOf(facts.way).http;
  const bool isUnknown = sight == Sight::kSeen && facts.sent.method.empty();
  if (withoutSight(isUnknown ? Sight::kUnknown : sight, givenMethods_ | givenPaths_, standing)) return;
  const bool isOneForm = facts.sent == facts.leaving && !facts.ignoresPathParameters;
  standing.left = isOneForm ? ofHttp(facts.sent, standing.left) : ofForms(facts, standing.left);
}

template <std::size_t Words>
typename EgressTables<Words>::Rules EgressTables<Words>::ofForms(const EgressFacts& facts, const Rules& among) const {
  Rules all = among;
  Rules some;
  const auto add = [&](const EgressHttp& form) {
    const Rules matching = ofHttp(form, among);
    all &= matching;
    some |= matching;
  };
  for (const EgressHttp& form : {facts.sent, facts.leaving}) {
    add(form);
    if (!facts.ignoresPathParameters) continue;
    std::string room;
    const std::string_view path = http::withoutPathParameters(form.path, room);
    if (path != form.path) add({form.method, path});
  }
  return (all & allow_) | (some & deny_);
}

template <std::size_t Words>
typename EgressTables<Words>::Rules EgressTables<Words>::ofHttp(const EgressHttp& http, const Rules& among) const {
  Rules matching = all_ - givenMethods_;
  for (const auto& [method, rules] : methods_) {
    if (method == http.method) matching |= rules;
  }
  matching &= among;
  Rules result = matching;
  (matching & givenPaths_).each([&](std::size_t rule) {
    if (!paths_.match(rule, http.path)) result.remove(rule);
  });
  return result;
}

template class EgressTables<1>;
template class EgressTables<kMostRuleWords>;

}  // namespace sluice::routing
