// StatusSources refer to everything that the writers of statuses read after the compilation.
//
// They live as long as the writing. The objects that they refer to must outlive them.
#pragma once

#include <memory>
#include <vector>

#include "config/model/model.h"
#include "config/model/supported_features.h"
#include "config/status/conditions.h"

namespace sluice::routing {
struct BackendPlan;
}

namespace sluice::compile {

class AskedServers;
class BackendCatalog;
class BackendFaults;
class BackendTlsPolicies;
class RefusedUses;
class TrafficPolicies;
struct ExtensionHooks;
struct GatewayPlan;

using Statuses = std::vector<config::ObjectStatus>;

struct StatusSources {
  const config::Model& model;
  const std::vector<GatewayPlan>& gateways;
  const BackendCatalog& backends;
  const ExtensionHooks& hooks;
  const RefusedUses& refusedUses;
  const AskedServers& servers;
  const BackendTlsPolicies& tlsPolicies;
  const TrafficPolicies& traffic;
  const BackendFaults& backendFaults;
  const std::vector<std::shared_ptr<const routing::BackendPlan>>& backendsInUse;  // those of the snapshot
  config::GatewayPlacement placement = config::GatewayPlacement::kMachine;
};

}  // namespace sluice::compile
