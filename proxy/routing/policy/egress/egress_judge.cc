#include "proxy/routing/policy/egress/egress_judge.h"

#include <algorithm>
#include <limits>

#include "proxy/http/target.h"
#include "proxy/routing/policy/address_guard.h"

namespace sluice::routing {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

/// Returns the path in the normal form that requests have, so that no spelling slips past a rule. A prefix has no "/"
/// at its end, which has no meaning there.
base::Result<std::string> normalPathOf(const base::EgressPath& path) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto normal = http::normalizeTarget(arena, path.value);
  if (!normal.ok()) return base::Error::config("no request can have this path: " + normal.error().detail);
  std::string text(normal->text);
  if (path.type == base::EgressPath::Type::kPathPrefix && text.ends_with('/')) text.pop_back();
  return text;
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

bool EgressJudge::RulePath::matches(std::string_view path) const {
  switch (type) {
    case base::EgressPath::Type::kExact:
      return path == value;
    case base::EgressPath::Type::kPathPrefix:
      return path.starts_with(value) && (path.size() == value.size() || path[value.size()] == '/');
    case base::EgressPath::Type::kRegularExpression:
      return expression->matches(path);
  }
  return false;
}

base::Result<std::shared_ptr<const EgressJudge>> EgressJudge::compile(std::string name,
                                                                      const base::EgressTerms& terms) {
  std::unique_ptr<EgressJudge> policy(new EgressJudge());
  policy->name_ = std::move(name);
  policy->audits_ = terms.audits;
  policy->allowsByDefault_ = terms.allowsByDefault;
  for (std::size_t i = 0; i < terms.rules.size(); ++i) policy->addRule(terms.rules[i], i);
  policy->addTables(terms);
  const auto added = policy->addPaths(terms);
  if (!added.ok()) return added.error();
  return std::shared_ptr<const EgressJudge>(std::move(policy));
}

void EgressJudge::addTables(const base::EgressTerms& terms) {
  using Rule = base::EgressRule;
  std::vector<NameTable::RuleHostname> hostnames;
  std::vector<IntervalTable<std::uint16_t>::Interval> ports;
  std::vector<AddressTable::RuleNetwork> clients;
  std::vector<AddressTable::RuleNetwork> addresses;
  forElements(terms, &Rule::hostnames, [&](const auto& each, std::size_t i) { hostnames.emplace_back(each, i); });
  forElements(terms, &Rule::ports, [&](const auto& each, std::size_t i) {
    ports.push_back({each.first, each.last, i});
  });
  forElements(terms, &Rule::clients, [&](const auto& each, std::size_t i) { clients.emplace_back(each, i); });
  forElements(terms, &Rule::addresses, [&](const auto& each, std::size_t i) { addresses.emplace_back(each, i); });
  hostnames_ = NameTable(all_ - givenHostnames_, hostnames);
  ports_ = {all_ - givenPorts_, ports, std::numeric_limits<std::uint16_t>::max(),
            [](std::uint16_t port) { return static_cast<std::uint16_t>(port + 1); }};
  clients_ = AddressTable(all_ - givenClients_, clients);
  addresses_ = AddressTable(all_ - givenAddresses_, addresses);
  given_ = {givenHostnames_.any(), givenPorts_.any(),     givenTls_.any(),
            givenClients_.any(),   givenAddresses_.any(), givenMethods_.any() || givenPaths_.any()};
}

void EgressJudge::addRule(const base::EgressRule& rule, std::size_t index) {
  const auto insertIf = [index](bool given, RuleSet& rules) {
    if (given) rules.insert(index);
  };
  names_.push_back(rule.name);
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
    if (known == methods_.end()) known = methods_.emplace(methods_.end(), method, RuleSet());
    known->second.insert(index);
  }
}

base::Result<base::Done> EgressJudge::addPaths(const base::EgressTerms& terms) {
  if (!givenPaths_.any()) return base::Done{};
  Regex::Room room;
  paths_.resize(terms.rules.size());
  for (std::size_t i = 0; i < terms.rules.size(); ++i) {
    if (!terms.rules[i].paths) continue;
    for (const base::EgressPath& path : *terms.rules[i].paths) {
      const auto refusal = [&](const base::Error& why) {
        return base::Error::config("rule " + terms.rules[i].name + ": " + why.detail);
      };
      if (path.type == base::EgressPath::Type::kRegularExpression) {
        auto expression = Regex::compile(path.value, room);
        if (!expression.ok()) return refusal(expression.error());
        paths_[i].push_back({path.type, path.value, std::move(expression).value()});
        continue;
      }
      const auto normal = normalPathOf(path);
      if (!normal.ok()) return refusal(normal.error());
      paths_[i].push_back({path.type, *normal, std::nullopt});
    }
  }
  return base::Done{};
}

// --- the judgement ---------------------------------------------------------------------------------------------------

EgressJudgement EgressJudge::judge(const EgressFacts& facts) const {
  Standing standing{all_, {}};
  if (given_.hostnames) byName(facts, standing);
  if (given_.ports || !facts.isStatic) byPort(facts, standing);
  if (given_.tls) byTls(facts, standing);
  if (given_.clients) byClient(facts, standing);
  if (given_.addresses) byAddress(facts, standing);
  if (given_.http) byHttp(facts, standing);
  return decide(standing);
}

EgressJudgement EgressJudge::decide(const Standing& standing) const {
  const RuleSet mayDeny = standing.left & deny_;
  const bool someMayDeny = mayDeny.any();
  if (someMayDeny) {
    const RuleSet denying = mayDeny - standing.unknown;
    if (denying.any()) return {EgressRuling::kDenied, denying.first()};
  }
  const RuleSet mayAllow = standing.left & allow_;
  if (!allowsByDefault_ && !mayAllow.any()) return {EgressRuling::kDenied, kByDefault};
  const RuleSet allowing = mayAllow - standing.unknown;
  const bool isAllowed = allowing.any();
  if (someMayDeny || (!allowsByDefault_ && !isAllowed)) return {EgressRuling::kUndecided, kByDefault};
  return {EgressRuling::kPassed, isAllowed ? allowing.first() : kByDefault};
}

bool EgressJudge::withoutSight(Sight sight, const RuleSet& given, Standing& standing) const {
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
void EgressJudge::byName(const EgressFacts& facts, Standing& standing) const {
  const RuleSet matching = hostnames_.find(facts.name);
  if (sightOf(facts.way).serverName != Sight::kSeen) {
    standing.left &= matching;
    return;
  }
  if (!facts.serverName) {
    standing.left &= matching | deny_;
    standing.unknown |= (allow_ & givenServerName_) | (deny_ - matching);
    return;
  }
  const RuleSet ofServer = hostnames_.find(*facts.serverName);
  RuleSet allowing = matching;
  // Without TLS there is no such name. TLS that names no server may reach another one than the name that is dialled.
  const bool isPlain = facts.serverName->empty() && facts.tls == false;
  if (!isPlain) allowing &= ofServer | (all_ - givenServerName_);
  standing.left &= (allowing & allow_) | ((matching | ofServer) & deny_);
}

void EgressJudge::byPort(const EgressFacts& facts, Standing& standing) const {
  standing.left &= ports_.find(facts.port);
  const bool isUsual = facts.port == kHttpsPort || (facts.isPlainTarget && facts.port == kHttpPort);
  if (!facts.isStatic && !isUsual) standing.left &= givenPorts_ | deny_;
}

void EgressJudge::byTls(const EgressFacts& facts, Standing& standing) const {
  if (!facts.tls) {
    standing.unknown |= givenTls_;
  } else if (!*facts.tls) {
    standing.left -= givenTls_;
  }
}

void EgressJudge::byClient(const EgressFacts& facts, Standing& standing) const {
  if (withoutSight(sightOf(facts.way).client, givenClients_, standing)) return;
  if (facts.client.empty()) {
    standing.unknown |= givenClients_;
    return;
  }
  // A client of IPv4 at a socket for both versions has a mapped address.
  const bool isMapped = facts.client.size() == 16 && classify(facts.client) == AddressClass::kV4Mapped;
  standing.left &= clients_.find(isMapped ? facts.client.last(4) : facts.client);
}

/// A Deny rule also matches the IPv4 address that a form of IPv6 carries.
void EgressJudge::byAddress(const EgressFacts& facts, Standing& standing) const {
  if (facts.address.empty()) {
    standing.unknown |= givenAddresses_;
    return;
  }
  const RuleSet& matching = addresses_.find(facts.address);
  if (facts.address.size() == 16) {
    if (const auto carried = carriedV4(facts.address)) {
      standing.left &= matching | (addresses_.find(*carried) & deny_);
      return;
    }
  }
  standing.left &= matching;
}

void EgressJudge::byHttp(const EgressFacts& facts, Standing& standing) const {
  if (withoutSight(sightOf(facts.way).http, givenMethods_ | givenPaths_, standing)) return;
  RuleSet matching = ofHttp(facts.sent, standing.left);
  if (facts.sent != facts.leaving) {
    const RuleSet leaving = ofHttp(facts.leaving, standing.left);
    matching = (matching & leaving & allow_) | ((matching | leaving) & deny_);
  }
  standing.left &= matching;
}

RuleSet EgressJudge::ofHttp(const EgressHttp& http, const RuleSet& among) const {
  RuleSet matching = all_ - givenMethods_;
  for (const auto& [method, rules] : methods_) {
    if (method == http.method) matching |= rules;
  }
  matching &= among;
  RuleSet result = matching;
  (matching & givenPaths_).each([&](std::size_t rule) {
    const auto matches = [&](const RulePath& each) { return each.matches(http.path); };
    if (std::none_of(paths_[rule].begin(), paths_[rule].end(), matches)) result.remove(rule);
  });
  return result;
}

}  // namespace sluice::routing
