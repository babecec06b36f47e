// Says which Secrets the Pods of each Gateway need: those of its listeners' certificates, its processors, and the
// chains of the routes that it has admitted, from the route to its Backends and processors and on to their Secrets, as
// far as each step is permitted. Pods may still serve what a Gateway was before its schema refused it, so the chains of
// the routes that such a Gateway would admit count too.
//
// Pure functions.
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

/// By kind, namespace and name of the Gateway.
using SecretsOfGateways = std::map<std::tuple<std::string, std::string, std::string>, base::ObjectNames>;

/// Leaves out what the Pods may not read (secret_trust.h). Empty if no controller keeps the Pods of Gateways.
SecretsOfGateways secretsOfPods(const config::Model& model, const std::vector<GatewayPlan>& gateways);

/// The routes whose chains count, by kind, namespace and name; by those of the Gateway.
using RoutesOfGateways =
    std::map<SecretsOfGateways::key_type, std::set<std::tuple<std::string, std::string, std::string>>>;

/// Empty if no controller keeps the Pods of Gateways.
RoutesOfGateways routesOfPods(const config::Model& model, const std::vector<GatewayPlan>& gateways);

}  // namespace sluice::compile
