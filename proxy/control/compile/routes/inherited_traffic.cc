#include "proxy/control/compile/routes/inherited_traffic.h"

#include <string>

#include "proxy/control/compile/routes/compile_connections.h"
#include "proxy/control/compile/routes/compile_failover.h"
#include "proxy/control/compile/routes/compile_retry.h"

namespace sluice::control {
namespace {

/// Returns true if one of the rule's Backends has its health settings from the listener.
bool inheritsForSome(const RuleTraffic& traffic, const RulePlan& plan) {
  for (std::size_t i = 0; i < plan.rule->backends.size(); ++i) {
    const TrafficSettings with = traffic.ofBackend(i);
    const TrafficSettings without = plan.traffic.ofBackend(i);
    if (with.passiveHealth != without.passiveHealth || with.activeHealth != without.activeHealth) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const routing::Rule> governedRule(const RulePlan& plan, std::string_view nameSpace,
                                                  const ListenerTraffic& inherited, const BackendCatalog& backends,
                                                  processing::SharedStates& states) {
  const TrafficSettings& others = inherited.settings;
  if (others.empty() || plan.rule->failure || !plan.isWritten) return plan.rule;
  auto governed = std::make_shared<routing::Rule>(*plan.rule);
  if (others.fault) {
    governed->failure = routing::Rule::refusal(answer(*others.fault), governed->grpc);
    return governed;
  }
  RuleTraffic traffic = plan.traffic;
  traffic.inherited = others;
  // Another Gateway of the route may judge by other settings, and must not learn from these.
  const std::string place = plan.place + ", by " + inherited.place;
  if (!governed->retry) {
    addRetry(traffic.ofRule(), plan.timed, *governed);
    addBudget(place, states, *governed);
  }
  addTimeouts(traffic.ofRule(), *governed);
  if (others.governsConnections()) governConnections(traffic, backends, *governed);
  // A check belongs to the Backend as the rule reaches it.
  const bool inheritsHealth = others.governsConnections() || inheritsForSome(traffic, plan);
  if (inheritsHealth) governed->healthChecks = compileHealthChecks(traffic, *governed, states);
  if (inheritsHealth || traffic.ofRule().failover != plan.traffic.own.failover) {
    governed->failover = compileFailover(traffic, plan.members, nameSpace, *governed, place, states);
  }
  return governed;
}

}  // namespace sluice::control
