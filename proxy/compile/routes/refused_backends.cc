#include "proxy/compile/routes/refused_backends.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "proxy/compile/routes/compile_failover.h"

namespace sluice::compile {

void refuseBackends(routing::Rule& rule, const BackendFaultOf& faultOf) {
  bool any = false;
  for (std::size_t i = 0; i < rule.backends.size(); ++i) {
    routing::WeightedBackend& weighted = rule.backends[i];
    if (!weighted.backend) continue;
    const std::optional<Fault> fault = faultOf(weighted);
    if (!fault) continue;
    any = true;
    weighted.failure = routing::Rule::refusal(answer(*fault), rule.grpc);
    weighted.backend = nullptr;
    weighted.chain = nullptr;
    if (!rule.healthChecks.empty()) rule.healthChecks[i] = nullptr;
  }
  if (!any || !rule.failover) return;
  auto failover = std::make_shared<routing::FailoverPolicy>(*rule.failover);
  failover->usualWeight = usualWeight(failover->members, rule.broken());
  rule.failover = std::move(failover);
}

}  // namespace sluice::compile
