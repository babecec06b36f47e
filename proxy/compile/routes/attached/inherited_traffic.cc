#include "proxy/compile/routes/attached/inherited_traffic.h"

#include <string>
#include <utility>

#include "proxy/compile/routes/compile_connections.h"
#include "proxy/compile/routes/compile_failover.h"
#include "proxy/compile/routes/compile_retry.h"

namespace sluice::compile {
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

/// Takes back what the rule has from policies.
void restore(const WrittenSettings& written, routing::Rule& rule) {
  if (!written.retries) rule.retry.reset();
  rule.requestTimeout = written.requestTimeout;
  rule.backendRequestTimeout = written.backendRequestTimeout;
  rule.attemptIdleTimeout = base::Duration::zero();
}

}  // namespace

GovernedRule governedRule(const RulePlan& plan, std::shared_ptr<const routing::Rule> rule, std::string_view nameSpace,
                          const ListenerTraffic& inherited, const GovernTools& tools) {
  const TrafficSettings& others = inherited.settings;
  if (others.empty() || rule->failure || !plan.isWritten) return {std::move(rule)};
  RuleTraffic traffic = plan.traffic;
  traffic.inherited = others;
  traffic.own = tools.policies.merged(std::move(traffic.own), others);
  auto governed = std::make_shared<routing::Rule>(*rule);
  if (const auto& refused = others.fault ? others.fault : traffic.own.fault) {
    governed->failure = routing::Rule::refusal(answer(*refused), governed->grpc);
    return {governed, traffic.own.fault};
  }
  if (traffic.own.merges()) restore(plan.written, *governed);
  // Another Gateway of the route may judge by other settings, and must not learn from these.
  const std::string place = plan.place + ", by " + inherited.place;
  if (!governed->retry) {
    addRetry(traffic.ofRule(), plan.timed, *governed);
    addBudget(place, tools.states, *governed);
  }
  boundParallelRetries(traffic.ofRule(), *governed);
  addTimeouts(traffic.ofRule(), *governed);
  const bool governsConnections = others.governsConnections() || traffic.own.merges();
  if (governsConnections) governConnections(traffic, tools.backends, *governed);
  // A check belongs to the Backend as the rule reaches it.
  const bool inheritsHealth = governsConnections || inheritsForSome(traffic, plan);
  if (inheritsHealth) governed->healthChecks = compileHealthChecks(traffic, *governed, tools.states);
  if (inheritsHealth || traffic.ofRule().failover != plan.traffic.own.failover) {
    governed->failover = compileFailover(traffic, plan.members, nameSpace, *governed, place, tools.states);
  }
  return {governed};
}

}  // namespace sluice::compile
