// Finds the Secrets that the Pods of each Gateway need. They are the Secrets of its listeners' certificates, those of
// its processors, and those of the chains of the routes that it has admitted. A chain leads from a route to its
// Backends and processors, and from there to their Secrets, as far as each step is permitted. Pods may still serve an
// earlier version of a Gateway after its schema refused the newest one. So the chains of the routes that such a Gateway
// would admit are included.
//
// These are pure functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {

/// The Secrets by kind, namespace and name of the Gateway.
using SecretsOfGateways = std::map<std::tuple<std::string, std::string, std::string>, base::ObjectNames>;

/// Returns the Secrets without those that the Pods may not read (secret_trust.h). Empty if no controller keeps the Pods
/// of Gateways.
SecretsOfGateways secretsOfPods(const config::Model& model, const std::vector<GatewayPlan>& gateways);

/// The routes whose chains are included, by kind, namespace and name. The key is the kind, namespace and name of the
/// Gateway.
using RoutesOfGateways =
    std::map<SecretsOfGateways::key_type, std::set<std::tuple<std::string, std::string, std::string>>>;

/// Returns those routes. Empty if no controller keeps the Pods of Gateways.
RoutesOfGateways routesOfPods(const config::Model& model, const std::vector<GatewayPlan>& gateways);

}  // namespace sluice::compile
