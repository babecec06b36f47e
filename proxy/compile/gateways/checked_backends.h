// Visits the rules of the routes that are attached to Gateways, and gathers the Backends that they have checked.
#pragma once

#include <vector>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Calls `visit` with each rule of each route that is attached somewhere, once for each place.
template <typename Visit>
void eachRule(const std::vector<GatewayPlan>& gateways, const Visit& visit) {
  for (const GatewayPlan& gateway : gateways) {
    for (const ListenerPlan& listener : gateway.listeners) {
      for (const AttachedRoute& route : listener.routes) {
        // The matches of a rule follow one another.
        const routing::Rule* last = nullptr;
        for (const routing::Candidate& each : *route.candidates) {
          if (each.rule.get() != last) visit(*each.rule);
          last = each.rule.get();
        }
      }
    }
  }
}

/// Returns the Backends that the rules have checked, by name.
std::vector<routing::CheckedBackend> checkedBackends(const std::vector<GatewayPlan>& gateways,
                                                     const BackendCatalog& backends);

}  // namespace sluice::compile
