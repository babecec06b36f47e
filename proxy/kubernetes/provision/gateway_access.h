// Makes the Roles and bindings that define which objects the Pods of a Gateway may read and write in the cluster.
//
// In its own namespace a Gateway has the Leases of its replicas. Secrets and ConfigMaps it may read by name alone: in
// each namespace a Role lists exactly those that its objects name and are permitted to use. Kinds without secrets are
// read by a ClusterRole for all Gateways, which is installed with the controller. Each Gateway has a binding of its own
// to it (kGatewayClusterRole), so that none gets rights by the objects of another one.
//
// Pure functions.
#pragma once

#include <vector>

#include "proxy/kubernetes/objects/named_objects.h"
#include "proxy/kubernetes/provision/gateway_to_run.h"

namespace sluice::kubernetes {

/// Returns a Role and a RoleBinding for each namespace, and the ClusterRoleBinding. A Role names at most 1 MiB of
/// objects, Secrets first; further ones cannot be read.
std::vector<ProvisionedObject> accessOf(const GatewayToRun& run, const NamesOfGateways& names);

}  // namespace sluice::kubernetes
