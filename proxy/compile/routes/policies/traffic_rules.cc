#include "proxy/compile/routes/policies/traffic_rules.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "proxy/compile/policies/destination_traffic.h"
#include "proxy/compile/routes/compile_connections.h"
#include "proxy/compile/routes/compile_failover.h"
#include "proxy/compile/routes/compile_health_checks.h"
#include "proxy/compile/routes/compile_outliers.h"
#include "proxy/compile/routes/compile_retry.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/routes/compile_session.h"
#include "proxy/compile/routes/policies/linkerd_headers.h"

namespace sluice::compile {
namespace {

/// Returns the resolutions of the mirrors of a rule, then of those of its weighted backends.
UseList mirrorsOf(const RulePlan& rule) {
  UseList all = rule.mirrors;
  for (const RuleMember& each : rule.members) all.insert(all.end(), each.mirrors.begin(), each.mirrors.end());
  return all;
}

/// Returns the resolutions of the Backends of a rule.
UseList backendsOf(const RulePlan& rule) {
  UseList all;
  for (const RuleMember& each : rule.members) all.push_back(each.use);
  return all;
}

/// Returns the settings of policies for Backends and Services for each of these references of `holder`; empty if none
/// has any.
std::vector<TrafficSettings> trafficOf(const UseList& uses, const TrafficPolicies& policies, const Holder& holder) {
  std::vector<TrafficSettings> all;
  for (const auto& each : uses) all.push_back(policies.of(*each, holder));
  if (std::all_of(all.begin(), all.end(), [](const TrafficSettings& each) { return each.empty(); })) all.clear();
  return all;
}

const RuleTraffic& trafficIn(const PolicySettings* own) {
  static const RuleTraffic kNone;
  return own == nullptr ? kNone : settingsAs<RuleTraffic>(*own);
}

/// Returns true if one of the rule's Backends has its health settings from the listener.
bool inheritsForSome(const RuleTraffic& traffic, const RuleTraffic& own, const routing::Rule& rule) {
  for (std::size_t i = 0; i < rule.backends.size(); ++i) {
    const TrafficSettings with = traffic.ofBackend(i);
    const TrafficSettings without = own.ofBackend(i);
    if (with.passiveHealth != without.passiveHealth || with.activeHealth != without.activeHealth) return true;
  }
  return false;
}

/// Restores the rule's own settings, without those of policies.
void restore(const WrittenSettings& written, routing::Rule& rule) {
  if (!written.retries) rule.retry.reset();
  rule.requestTimeout = written.requestTimeout;
  rule.backendRequestTimeout = written.backendRequestTimeout;
  rule.attemptIdleTimeout = base::Duration::zero();
}

}  // namespace

SharedSettings TrafficRules::ofRule(const RoutePlan& route, const RulePlan& rule) const {
  if (policies_.empty()) return nullptr;
  RuleTraffic traffic;
  traffic.own = policies_.of(route.route->meta, {rule.name});
  if (policies_.areOfBackends()) {
    traffic.ofBackends = trafficOf(backendsOf(rule), policies_, route.holder());
    traffic.ofMirrors = trafficOf(mirrorsOf(rule), policies_, route.holder());
  }
  if (traffic.own.policies.empty() && traffic.ofBackends.empty() && traffic.ofMirrors.empty()) return nullptr;
  return sharedSettings(std::move(traffic));
}

bool TrafficRules::isCurrent(const RoutePlan& plan) const {
  return policies_.empty() || std::all_of(plan.rules.begin(), plan.rules.end(),
                                          [&](const RulePlan& rule) { return backends_.keepGoverned(*rule.rule); });
}

void TrafficRules::applyToBackends(const PolicySettings& own, const RuleInMaking& rule) const {
  const RuleTraffic& traffic = trafficIn(&own);
  if (!rule.fault) rule.fault = traffic.own.fault;
  const std::string& nameSpace = rule.route.route->meta.nameSpace;
  const std::vector<RuleMember>& members = rule.plan.members;
  for (std::size_t i = 0; i < traffic.ofBackends.size(); ++i) {
    const TrafficSettings& said = traffic.ofBackends[i];
    routing::WeightedBackend& weighted = rule.rule.backends[i];
    if (said.sessions != nullptr && !rule.rule.session) {
      auto session = compileSession(*said.sessions, members, nameSpace);
      if (session) {
        rule.rule.session = *std::move(session.value);
      } else if (!rule.fault) {
        rule.fault = std::move(session.fault);
      }
    }
    if (said.retryConstraint != nullptr && weighted.backend) addConstraint(*said.retryConstraint, states_, weighted);
    if (!said.fault || weighted.failure) continue;
    rule.route.unresolved.push_back(toldToHolder(nameSpace, members[i].use->target, *said.fault));
    weighted.failure = routing::Rule::refusal(answer(*said.fault), rule.rule.grpc);
    weighted.backend = nullptr;
  }
  if (!traffic.ofMirrors.empty()) applyToMirrors(traffic, rule);
}

void TrafficRules::applyToMirrors(const RuleTraffic& traffic, const RuleInMaking& rule) const {
  std::vector<Fault>& unresolved = rule.route.unresolved;
  auto next = traffic.ofMirrors.begin();
  const auto apply = [&](std::vector<routing::RequestMirror>& mirrors, const UseList& uses) {
    std::vector<routing::RequestMirror> served;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const TrafficSettings& said = *next++;
      if (!said.fault) {
        const routing::RequestMirror& each = mirrors[i];
        const auto plan = backends_.governed(each.backend, connectionSettings(said));
        served.push_back({plan, each.numerator, each.denominator});
        continue;
      }
      const Fault told = toldToHolder(rule.route.route->meta.nameSpace, uses[i]->target, *said.fault);
      if (std::find(unresolved.begin(), unresolved.end(), told) == unresolved.end()) unresolved.push_back(told);
    }
    mirrors = std::move(served);
  };
  apply(rule.rule.mirrors, rule.plan.mirrors);
  for (std::size_t i = 0; i < rule.plan.members.size(); ++i) {
    apply(rule.rule.backends[i].mirrors, rule.plan.members[i].mirrors);
  }
}

void TrafficRules::applyToRule(const PolicySettings* own, const RuleInMaking& rule) const {
  const RuleTraffic& traffic = trafficIn(own);
  routing::Rule& compiled = rule.rule;
  addRetry(traffic.own, rule.plan.timed, compiled);
  boundParallelRetries(traffic.own, compiled);
  addTimeouts(traffic.own, compiled);
  if (own != nullptr) addLinkerdHeaders(traffic, compiled);
  if (own != nullptr || haveOrder(rule.plan.members)) {
    governConnections(traffic, backends_, compiled);
    compiled.healthChecks = compileHealthChecks(traffic, compiled, states_);
    setOutliers(traffic, rule.plan.place, states_, compiled);
    compiled.failover = compileFailover(traffic, rule.plan.members, rule.route.route->meta.nameSpace, compiled,
                                        rule.plan.place, states_);
  }
  addBudget(rule.plan.place, states_, compiled);
}

HandedDown TrafficRules::ofListener(const config::Gateway& gateway, const std::string& listener) const {
  HandedDown result;
  if (!policies_.concern(gateway.meta)) return result;
  ListenerTraffic traffic = policies_.ofListener(gateway.meta, listener);
  if (traffic.settings.matching != nullptr) result.matching = *traffic.settings.matching;
  if (traffic.settings.empty()) return result;
  if (traffic.settings.fault) {
    result.closing = {*traffic.settings.fault};
    result.told = result.closing;
  }
  result.settings = sharedSettings(std::move(traffic));
  return result;
}

std::shared_ptr<const routing::Rule> TrafficRules::inherit(std::shared_ptr<const routing::Rule> rule,
                                                           const PolicySettings& inherited,
                                                           const RuleAtListener& at) const {
  const RulePlan& plan = at.route.rules[at.index];
  if (rule->failure || !plan.isWritten) return rule;
  const auto& ofListener = settingsAs<ListenerTraffic>(inherited);
  const TrafficSettings& others = ofListener.settings;
  const RuleTraffic& own = trafficIn(at.own);
  RuleTraffic traffic = own;
  traffic.inherited = others;
  traffic.own = policies_.merged(std::move(traffic.own), others);
  auto governed = std::make_shared<routing::Rule>(*rule);
  if (const auto& refused = others.fault ? others.fault : traffic.own.fault) {
    governed->failure = routing::Rule::refusal(answer(*refused), governed->grpc);
    if (traffic.own.fault) at.found.dropped.push_back(faultOfRule(at.index, *traffic.own.fault));
    return governed;
  }
  if (traffic.own.merges()) restore(plan.written, *governed);
  // Another Gateway of the route may judge health by other settings, so the two must not share health state.
  const std::string place = plan.place + ", by " + ofListener.place;
  if (!governed->retry) {
    addRetry(traffic.ofRule(), plan.timed, *governed);
    addBudget(place, states_, *governed);
  }
  boundParallelRetries(traffic.ofRule(), *governed);
  addTimeouts(traffic.ofRule(), *governed);
  if (others.integrations != nullptr) addLinkerdHeaders(traffic, *governed);
  const bool governsConnections = others.governsConnections() || traffic.own.merges();
  if (governsConnections) governConnections(traffic, backends_, *governed);
  // A health check belongs to a Backend with the connection settings of the rule.
  const bool inheritsHealth = governsConnections || inheritsForSome(traffic, own, *plan.rule);
  if (inheritsHealth) {
    governed->healthChecks = compileHealthChecks(traffic, *governed, states_);
    setOutliers(traffic, place, states_, *governed);
  }
  if (inheritsHealth || traffic.ofRule().failover != own.own.failover) {
    governed->failover =
        compileFailover(traffic, plan.members, at.route.route->meta.nameSpace, *governed, place, states_);
  }
  return governed;
}

std::optional<Fault> TrafficRules::inheritUnrouted(const PolicySettings& inherited, const std::string& place,
                                                   routing::Rule& rule) const {
  const auto& ofListener = settingsAs<ListenerTraffic>(inherited);
  if (ofListener.settings.fault) return std::nullopt;  // the whole listener answers 500 because of it
  RuleTraffic traffic;
  traffic.inherited = ofListener.settings;
  addRetry(ofListener.settings, false, rule);
  boundParallelRetries(ofListener.settings, rule);
  addTimeouts(ofListener.settings, rule);
  governConnections(traffic, backends_, rule);
  addBudget(place, states_, rule);
  return std::nullopt;
}

}  // namespace sluice::compile
