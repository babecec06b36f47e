// Visits the rules of the routes that are attached to Gateways, and gathers the Backends with health checks.
#pragma once

#include <vector>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Calls visit(listener, rule) with each rule of each attached route, once for each place where it is attached.
template <typename Visit>
void eachRule(const std::vector<GatewayPlan>& gateways, const Visit& visit) {
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      for (const AttachedRoute& route : listener.routes) {
        // The matches of one rule are adjacent.
        const routing::Rule* last = nullptr;
        for (const routing::Candidate& each : *route.candidates) {
          if (each.rule.get() != last) visit(listener, *each.rule);
          last = each.rule.get();
        }
      }
    }
  }
}

/// Returns the Backends with health checks in these rules, by name.
std::vector<routing::CheckedBackend> checkedBackends(const std::vector<GatewayPlan>& gateways,
                                                     const BackendCatalog& backends);

}  // namespace sluice::compile
