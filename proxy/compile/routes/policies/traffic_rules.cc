#include "proxy/compile/routes/policies/traffic_rules.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/routes/compile_connections.h"
#include "proxy/compile/routes/compile_failover.h"
#include "proxy/compile/routes/compile_retry.h"
#include "proxy/compile/routes/compile_route.h"
#include "proxy/compile/routes/compile_session.h"

namespace sluice::compile {
namespace {

/// Returns the settings of policies for Backends and Services for each member of a rule of `holder`; empty if no member
/// has any.
std::vector<TrafficSettings> trafficOf(const std::vector<RuleMember>& members, const TrafficPolicies& policies,
                                       const Holder& holder) {
  std::vector<TrafficSettings> all;
  if (!policies.areOfBackends()) return all;
  for (const RuleMember& each : members) all.push_back(policies.of(*each.use, holder));
  if (std::all_of(all.begin(), all.end(), [](const TrafficSettings& each) { return each.empty(); })) all.clear();
  return all;
}

const RuleTraffic& trafficIn(const PolicySettings* own) {
  static const RuleTraffic kNone;
  return own == nullptr ? kNone : settingsAs<RuleTraffic>(*own);
}

/// Returns the fault of a policy for a Backend or Service in the form that a route of that namespace may disclose.
Fault toldToRoute(const std::string& nameSpace, const config::BackendObjectReference& ref, const Fault& fault) {
  if (targetNamespace(ref.object, nameSpace) == nameSpace) return fault;
  return summary(fault.reason, ref.object.path,
                 describe(ref.object, nameSpace) + ": " + toldTo(nameSpace, {}, fault).text());
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
  traffic.ofBackends = trafficOf(rule.members, policies_, route.holder());
  if (traffic.own.policies.empty() && traffic.ofBackends.empty()) return nullptr;
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
    rule.route.unresolved.push_back(toldToRoute(nameSpace, members[i].use->target, *said.fault));
    weighted.failure = routing::Rule::refusal(answer(*said.fault), rule.rule.grpc);
    weighted.backend = nullptr;
  }
}

void TrafficRules::applyToRule(const PolicySettings* own, const RuleInMaking& rule) const {
  const RuleTraffic& traffic = trafficIn(own);
  routing::Rule& compiled = rule.rule;
  addRetry(traffic.own, rule.plan.timed, compiled);
  boundParallelRetries(traffic.own, compiled);
  addTimeouts(traffic.own, compiled);
  if (own != nullptr || haveOrder(rule.plan.members)) {
    governConnections(traffic, backends_, compiled);
    compiled.healthChecks = compileHealthChecks(traffic, compiled, states_);
    compiled.failover = compileFailover(traffic, rule.plan.members, rule.route.route->meta.nameSpace, compiled,
                                        rule.plan.place, states_);
  }
  addBudget(rule.plan.place, states_, compiled);
}

HandedDown TrafficRules::ofListener(const config::Gateway& gateway, const std::string& listener) const {
  HandedDown result;
  if (!policies_.concern(gateway.meta)) return result;
  ListenerTraffic traffic = policies_.ofListener(gateway.meta, listener);
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
  const bool governsConnections = others.governsConnections() || traffic.own.merges();
  if (governsConnections) governConnections(traffic, backends_, *governed);
  // A health check belongs to a Backend with the connection settings of the rule.
  const bool inheritsHealth = governsConnections || inheritsForSome(traffic, own, *plan.rule);
  if (inheritsHealth) governed->healthChecks = compileHealthChecks(traffic, *governed, states_);
  if (inheritsHealth || traffic.ofRule().failover != own.own.failover) {
    governed->failover =
        compileFailover(traffic, plan.members, at.route.route->meta.nameSpace, *governed, place, states_);
  }
  return governed;
}

}  // namespace sluice::compile
