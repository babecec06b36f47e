#include "proxy/control/compile/routes/inherited_traffic.h"

#include <string>

#include "proxy/control/compile/routes/compile_failover.h"
#include "proxy/control/compile/routes/compile_retry.h"

namespace sluice::control {

std::shared_ptr<const routing::Rule> governedRule(const RulePlan& plan, std::string_view nameSpace,
                                                  const ListenerTraffic& inherited, processing::SharedStates& states) {
  const TrafficSettings& others = inherited.settings;
  if (others.empty() || plan.rule->failure || plan.written == nullptr) return plan.rule;
  auto governed = std::make_shared<routing::Rule>(*plan.rule);
  if (others.fault) {
    governed->failure = routing::Rule::refusal(answer(*others.fault), governed->grpc);
    return governed;
  }
  TrafficSettings settings = plan.traffic;
  settings.inherit(others);
  // Another Gateway of the route may judge by other settings, and must not learn from these.
  const std::string place = plan.place + ", by " + inherited.place;
  if (!governed->retry) {
    addRetry(settings, *governed);
    addBudget(place, states, *governed);
  }
  const bool inheritsHealth =
      settings.passiveHealth != plan.traffic.passiveHealth || settings.activeHealth != plan.traffic.activeHealth;
  if (inheritsHealth) governed->healthChecks = compileHealthChecks(settings, *governed, states);
  if (settings.failover != plan.traffic.failover || inheritsHealth) {
    governed->failover = compileFailover(settings, *plan.written, nameSpace, *governed, place, states);
  }
  return governed;
}

}  // namespace sluice::control
