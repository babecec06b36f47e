#include "proxy/control/report/endpoint_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"
#include "proxy/compile/ground/backend_plan.h"
#include "proxy/net/address.h"

namespace sluice::control {
namespace {

using routing::BackendPlan;
using routing::Endpoint;

constexpr base::WallTime kNoTime{};

/// The state of one endpoint that is shown beside its names.
struct EndpointFacts {
  std::optional<bool> reachable = std::nullopt;
  std::optional<bool> healthy = std::nullopt;
  std::string address = {};  // empty: it has a name
  std::string zone = {};
  std::uint32_t weight = 1;
  std::optional<EndpointState> state = std::nullopt;  // nullopt: it stands for all endpoints of a Service
  base::WallTime since = kNoTime;
  std::string by = {};
  routing::ReachFailures failures = {};
};

/// The endpoints that one rule ejects now.
struct CurrentEjections {
  const routing::BackendEjections& of;
  routing::EjectedEndpoints endpoints;                 // sorted
  std::optional<base::WallTime> whole = std::nullopt;  // since when the Backend as a whole is ejected
  bool before = false;                                 // the rule has ejected something, now or earlier
};

struct KnownObject {
  std::vector<const BackendPlan*> plans;
  /// Those with endpoints, without others that have the same ones: plans of one port do, and several ports may.
  std::vector<const BackendPlan*> lists;
  std::vector<const routing::CheckedBackend*> checks;
  std::vector<CurrentEjections> ejections;
  std::map<Endpoint, const BackendPlan*> chosen;  // the endpoints that are listed, each with one of the lists
};

/// An endpoint of a Service, or a Backend's host and port.
struct AskedEndpoint {
  std::optional<Endpoint> part;
  std::string name;  // "host:port"

  bool belongsTo(const BackendPlan& plan) const {
    if (!part) return !plan.endpoints && compile::endpointOf(plan) == name;
    return plan.endpoints && std::binary_search(plan.endpoints->begin(), plan.endpoints->end(), *part);
  }
};

/// Returns the earlier of two times, of which one may be unknown.
base::WallTime earlier(base::WallTime a, base::WallTime b) {
  if (a == kNoTime || b == kNoTime) return std::max(a, b);
  return std::min(a, b);
}

/// Returns when the ejection of an endpoint, or of its whole Backend, began; nullopt if it is not ejected.
std::optional<base::WallTime> ejectedSince(const CurrentEjections& ejections, const std::optional<Endpoint>& endpoint) {
  if (ejections.whole) return ejections.whole;
  if (!endpoint) return std::nullopt;
  const auto found =
      std::lower_bound(ejections.endpoints.begin(), ejections.endpoints.end(), *endpoint,
                       [](const routing::EjectedEndpoint& a, const Endpoint& b) { return a.endpoint < b; });
  if (found == ejections.endpoints.end() || found->endpoint != *endpoint) return std::nullopt;
  return found->since;
}

/// Returns the zone of one of the plan's endpoints; empty if it is not known.
std::string_view zoneOf(const BackendPlan& plan, const Endpoint& endpoint) {
  const auto at = std::lower_bound(plan.endpoints->begin(), plan.endpoints->end(), endpoint);
  const auto index = static_cast<std::size_t>(at - plan.endpoints->begin());
  return index < plan.zones.size() ? std::string_view(plan.zones[index].zone) : std::string_view();
}

class EndpointLister {
 public:
  EndpointLister(const CompiledConfiguration& configuration, const SeenEndpoints& seen, const Moment& now)
      : configuration_(configuration), seen_(seen), now_(now) {}

  ListedEndpoints list();

 private:
  using Key = std::pair<std::string_view, std::string>;  // object and endpoint

  void gather();
  CurrentEjections current(const routing::BackendEjections& ejections) const;
  void listNames();
  void listAddresses(std::string_view object, const KnownObject& known);
  void choose(KnownObject& known, const Endpoint& endpoint);
  void chooseFailing(KnownObject& known);
  void chooseOthers(KnownObject& known);
  void listChosen(std::string_view object, const KnownObject& known);
  void judge(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const;
  void judgeChecks(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const;
  void judgeEjections(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const;
  void judgeAge(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const;
  void setWeights();
  void write(ListedEndpoints& to) const;

  const CompiledConfiguration& configuration_;
  const SeenEndpoints& seen_;
  const Moment now_;
  std::map<std::string_view, KnownObject> objects_;
  std::map<Key, EndpointFacts> listed_;
  std::size_t room_ = ListedEndpoints::kMost;
  std::vector<std::pair<std::string_view, std::size_t>> leftOut_;
};

CurrentEjections EndpointLister::current(const routing::BackendEjections& each) const {
  CurrentEjections found{each, {}};
  if (each.endpoints != nullptr) {
    if (const auto ejected = each.endpoints->report(now_.now)) found.endpoints = *ejected;
    found.before = each.endpoints->haveEjected();
  }
  if (each.whole != nullptr) {
    const bool isEjected = each.whole->state(now_.now) == routing::AnswerHealth::State::kEjected;
    // A Retry-After has no time.
    if (isEjected) found.whole = each.whole->isEjected(now_.now) ? each.whole->since() : kNoTime;
    found.before = found.before || each.whole->wasEjected();
  }
  return found;
}

void EndpointLister::gather() {
  const routing::Snapshot& snapshot = *configuration_.compiled.snapshot;
  for (const auto& plan : snapshot.backends) {
    if (!plan->ofSettings && plan->dynamic == nullptr) objects_[plan->object].plans.push_back(plan.get());
  }
  for (const routing::CheckedBackend& each : snapshot.checked) objects_[each.backend->object].checks.push_back(&each);
  for (const routing::BackendEjections& each : snapshot.ejections) {
    objects_[each.backend->object].ejections.push_back(current(each));
  }
  for (auto& [object, known] : objects_) {
    for (const BackendPlan* plan : known.plans) {
      const auto isSame = [plan](const BackendPlan* other) { return other->endpoints == plan->endpoints; };
      if (plan->endpoints && std::none_of(known.lists.begin(), known.lists.end(), isSame)) known.lists.push_back(plan);
    }
  }
}

ListedEndpoints EndpointLister::list() {
  gather();
  listNames();
  setWeights();
  for (auto& [object, known] : objects_) {
    listAddresses(object, known);
    chooseFailing(known);
  }
  for (auto& [object, known] : objects_) chooseOthers(known);
  for (const auto& [object, known] : objects_) listChosen(object, known);
  ListedEndpoints result;
  write(result);
  if (leftOut_.empty()) return result;
  base::JsonWriter json;
  json.beginList();
  for (const auto& [object, count] : leftOut_) {
    result.countLeftOut += count;
    json.beginObject().member("object", object).member("count", static_cast<std::int64_t>(count)).endObject();
  }
  result.leftOut = json.endList().take();
  return result;
}

/// Lists one entry for each Backend and port. It is healthy if all its checks pass.
void EndpointLister::listNames() {
  for (const compile::BackendHealth& each : configuration_.compiled.health) {
    if (each.part || each.ejections) continue;
    EndpointFacts& facts = listed_[{each.object, each.endpoint}];
    if (each.reach == nullptr) continue;
    facts.reachable = facts.reachable.value_or(true) && each.serves;
    if (!each.serves) facts.since = earlier(facts.since, each.since);
    if (routing::ReachFailures failures = each.reach->failures(); failures.last > facts.failures.last) {
      facts.failures = std::move(failures);
    }
  }
  for (const auto& [object, known] : objects_) {
    for (const BackendPlan* plan : known.plans) {
      const AskedEndpoint asked{std::nullopt, compile::endpointOf(*plan)};
      const auto found = listed_.find({object, asked.name});
      if (plan->endpoints || found == listed_.end() || found->second.state) continue;
      if (net::Address::parse(plan->hostname, plan->port)) found->second.address = asked.name;
      judge(known, asked, found->second);
    }
  }
}

/// Lists the ejected addresses of names. Only workers know the others. A name that is an address is listed already.
void EndpointLister::listAddresses(std::string_view object, const KnownObject& known) {
  std::map<Endpoint, std::string> ejected;  // with the host and port of the Backend
  for (const CurrentEjections& each : known.ejections) {
    if (each.of.backend->endpoints) continue;
    for (const auto& [endpoint, since] : each.endpoints)
      ejected.emplace(endpoint, compile::endpointOf(*each.of.backend));
  }
  std::size_t room = std::min(room_, ListedEndpoints::kMostOfObject);
  for (const auto& [endpoint, name] : ejected) {
    const Key key(object, compile::addressOf(endpoint));
    const bool isNew = !listed_.contains(key);
    if (isNew && room == 0) continue;
    EndpointFacts& facts = listed_[key];
    facts.address = key.second;
    if (isNew || facts.state == EndpointState::kHealthy) judgeEjections(known, {endpoint, name}, facts);
    if (!isNew) continue;
    --room;
    --room_;
  }
}

void EndpointLister::choose(KnownObject& known, const Endpoint& endpoint) {
  if (room_ == 0 || known.chosen.size() == ListedEndpoints::kMostOfObject) return;
  const AskedEndpoint asked{endpoint, {}};
  const auto list =
      std::find_if(known.lists.begin(), known.lists.end(), [&](const auto* each) { return asked.belongsTo(*each); });
  if (list != known.lists.end() && known.chosen.emplace(endpoint, *list).second) --room_;
}

void EndpointLister::chooseFailing(KnownObject& known) {
  for (const routing::CheckedBackend* each : known.checks) {
    const auto failing = each->check->failing();
    if (failing == nullptr) continue;
    for (const Endpoint& endpoint : *failing) choose(known, endpoint);
  }
  for (const CurrentEjections& each : known.ejections) {
    for (const routing::EjectedEndpoint& ejected : each.endpoints) choose(known, ejected.endpoint);
  }
}

void EndpointLister::chooseOthers(KnownObject& known) {
  for (const BackendPlan* list : known.lists) {
    for (const Endpoint& endpoint : *list->endpoints) {
      if (room_ == 0 || known.chosen.size() == ListedEndpoints::kMostOfObject) return;
      choose(known, endpoint);
    }
  }
}

void EndpointLister::listChosen(std::string_view object, const KnownObject& known) {
  for (const auto& [endpoint, list] : known.chosen) {
    const AskedEndpoint asked{endpoint, compile::addressOf(endpoint)};
    EndpointFacts& facts = listed_[{object, asked.name}];
    facts.address = asked.name;
    facts.zone = zoneOf(*list, endpoint);
    judge(known, asked, facts);
  }
  const bool isCut = room_ == 0 || known.chosen.size() == ListedEndpoints::kMostOfObject;
  std::size_t all = 0;
  for (const BackendPlan* list : known.lists) all += list->endpoints->size();
  if (isCut && known.chosen.size() < all) leftOut_.emplace_back(object, all - known.chosen.size());
}

// The later of these have precedence.
void EndpointLister::judge(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const {
  const bool isUnreachable = facts.reachable == false;
  const base::WallTime unreachable = facts.since;
  judgeAge(known, asked, facts);
  judgeEjections(known, asked, facts);
  judgeChecks(known, asked, facts);
  if (!isUnreachable) return;
  facts.since = *facts.state == EndpointState::kUnhealthy ? earlier(facts.since, unreachable) : unreachable;
  facts.state = EndpointState::kUnhealthy;
}

/// If a rule has ejected endpoints before, it is not known when a healthy one became so.
void EndpointLister::judgeAge(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const {
  facts.state = EndpointState::kHealthy;
  facts.since = kNoTime;
  base::WallTime slow = kNoTime;
  for (const BackendPlan* plan : known.plans) {
    const auto came = asked.belongsTo(*plan) ? seen_.since(*plan, asked.part) : std::nullopt;
    if (!came) continue;
    facts.since = earlier(facts.since, came->wall);
    const bool isSlow = asked.part && now_.now - came->now < plan->connection.balancing.slowStart;
    if (isSlow) slow = earlier(slow, came->wall);
  }
  if (slow != kNoTime) {
    facts.state = EndpointState::kSlowStart;
    facts.since = slow;
    return;
  }
  for (const CurrentEjections& each : known.ejections) {
    if (each.before && asked.belongsTo(*each.of.backend)) facts.since = kNoTime;
  }
}

void EndpointLister::judgeEjections(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const {
  std::size_t more = 0;
  for (const CurrentEjections& each : known.ejections) {
    const BackendPlan& plan = *each.of.backend;
    const bool isOfName = asked.part && !plan.endpoints && compile::endpointOf(plan) == asked.name;
    if (!isOfName && !asked.belongsTo(plan)) continue;
    const std::optional<base::WallTime> since = ejectedSince(each, asked.part);
    if (!since) continue;
    if (!facts.by.empty()) ++more;
    if (facts.by.empty()) facts.by = each.of.rule;
    facts.since = facts.state == EndpointState::kEjected ? earlier(facts.since, *since) : *since;
    facts.state = EndpointState::kEjected;
  }
  if (more > 0) facts.by += " and " + std::to_string(more) + (more == 1 ? " more rule" : " more rules");
}

void EndpointLister::judgeChecks(const KnownObject& known, const AskedEndpoint& asked, EndpointFacts& facts) const {
  base::WallTime failing = kNoTime;
  for (const routing::CheckedBackend* each : known.checks) {
    if (!asked.belongsTo(*each->backend)) continue;
    const bool passes = each->check->stateOf(asked.part) != routing::CheckedState::kUnhealthy;
    const base::WallTime changed = each->check->changedAt(asked.part);
    facts.healthy = facts.healthy.value_or(true) && passes;
    if (!passes) failing = earlier(failing, changed);
    const bool isSince = passes && facts.state == EndpointState::kHealthy && facts.since != kNoTime;
    if (isSince) facts.since = std::max(facts.since, changed);
  }
  if (facts.healthy.value_or(true)) return;
  facts.state = EndpointState::kUnhealthy;
  facts.since = failing;
}

/// The endpoints of a Backend may have weights.
void EndpointLister::setWeights() {
  for (const config::Backend& backend : configuration_.model.all<config::Backend>()) {
    if (!backend.hasEndpoints) continue;
    const auto object = objects_.find(compile::objectOf(backend.meta));
    if (object == objects_.end()) continue;
    for (const config::BackendPort& port : backend.ports) {
      const auto found =
          listed_.find({object->first, compile::hostAndPort(compile::hostnameOf(backend, port), port.number)});
      if (found != listed_.end()) found->second.weight = port.weight;
    }
  }
}

std::string jsonOf(std::string_view object, std::string_view endpoint, const EndpointFacts& facts) {
  base::Timestamp time;
  base::JsonWriter json;
  json.beginObject().member("object", object).member("endpoint", endpoint);
  if (facts.reachable) json.key("reachable").json(*facts.reachable ? "true" : "false");
  if (facts.healthy) json.key("healthy").json(*facts.healthy ? "true" : "false");
  if (!facts.address.empty()) json.member("address", facts.address);
  if (!facts.zone.empty()) json.member("zone", facts.zone);
  if (facts.state) {
    json.member("weight", static_cast<std::int64_t>(facts.weight));
    json.member("state", kEndpointStateNames[static_cast<std::size_t>(*facts.state)]);
    if (facts.since != kNoTime) json.member("since", time.text(facts.since));
  }
  if (facts.state == EndpointState::kEjected) json.member("by", facts.by);
  if (facts.failures.count > 0) {
    json.member("failures", static_cast<std::int64_t>(facts.failures.count));
    json.member("lastError", base::errorTypeName(facts.failures.type)).member("lastFailure", facts.failures.text);
    json.member("lastFailedAt", time.text(facts.failures.last));
  }
  return json.endObject().take();
}

void EndpointLister::write(ListedEndpoints& to) const {
  base::JsonWriter json;
  json.beginList();
  to.rows.reserve(listed_.size());
  for (const auto& [key, facts] : listed_) {
    const auto& [object, endpoint] = key;
    to.rows.push_back({std::string(object), endpoint, facts.state, facts.reachable.value_or(true), facts.since,
                       facts.by, facts.failures, jsonOf(object, endpoint, facts)});
    json.json(to.rows.back().json);
  }
  to.endpoints = json.endList().take();
}

}  // namespace

ListedEndpoints listEndpoints(const CompiledConfiguration& configuration, const SeenEndpoints& seen,
                              const Moment& now) {
  if (configuration.compiled.snapshot == nullptr) return {};
  return EndpointLister(configuration, seen, now).list();
}

}  // namespace sluice::control
