#include "proxy/compile/routes/compile_outliers.h"

#include <memory>

namespace sluice::compile {
namespace {

bool mayHaveSeveralEndpoints(const routing::BackendPlan& plan) {
  return plan.endpoints || plan.connection.choosesAddress();
}

}  // namespace

routing::PassiveHealthBounds passiveBounds(const config::PassiveHealthSettings& passive) {
  return {.errors = passive.consecutive5XxErrors,
          .gatewayErrors = passive.consecutiveGatewayErrors,
          .baseEjection = passive.baseEjectionTime,
          .longestEjection = passive.maxEjectionTime,
          .failurePercent = passive.failurePercentage,
          .minimumRequests = passive.minimumRequests,
          .interval = passive.interval,
          .ejectedPercent = passive.maxEjectionPercent};
}

void setOutliers(const RuleTraffic& traffic, const std::string& place, processing::SharedStates& states,
                 routing::Rule& compiled) {
  for (std::size_t i = 0; i < compiled.backends.size(); ++i) {
    routing::WeightedBackend& weighted = compiled.backends[i];
    weighted.outliers = {};
    const config::PassiveHealthSettings* const passive = traffic.ofBackend(i).passiveHealth;
    if (passive == nullptr || weighted.backend == nullptr || !mayHaveSeveralEndpoints(*weighted.backend)) continue;
    weighted.outliers = routing::OutlierDetection{
        passiveBounds(*passive),
        states.get<routing::EndpointEjections>(place + ", ejections of " + weighted.backend->countedAs().text(),
                                               [] { return std::make_shared<const routing::EndpointEjections>(); }),
        place};
  }
}

}  // namespace sluice::compile
