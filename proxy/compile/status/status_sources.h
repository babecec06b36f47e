// StatusSources refer to everything that the writers of statuses read after the compilation.
//
// They live as long as the writing. The objects that they refer to must outlive them.
#pragma once

#include <vector>

#include "config/model/model.h"
#include "config/model/supported_features.h"
#include "config/status/conditions.h"

namespace sluice::compile {

class AskedServers;
class BackendCatalog;
class BackendFaults;
class BackendTlsPolicies;
class RefusedUses;
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
  const BackendFaults& backendFaults;
  config::GatewayPlacement placement = config::GatewayPlacement::kMachine;
};

}  // namespace sluice::compile
