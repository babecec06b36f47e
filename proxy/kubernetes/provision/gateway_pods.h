// Says what the Pods of a Gateway are made of: the objects in its namespace that the controller keeps for it, and that
// go with it.
//
// A Pod has no more than it needs: no privileges, a root that it cannot write, a folder in memory for the last good
// configuration, and its own address, at which it listens on the ports of the Gateway. A new Pod gets traffic once it
// serves a usable configuration, and replaces none before.
//
// Pure functions.
#pragma once

#include <vector>

#include "proxy/kubernetes/provision/gateway_to_run.h"

namespace sluice::kubernetes {

/// Returns ServiceAccount, NetworkPolicy, Service, PodDisruptionBudget, Deployment and, if its parameters ask for one,
/// HorizontalPodAutoscaler.
std::vector<ProvisionedObject> podsOf(const GatewayToRun& run);

}  // namespace sluice::kubernetes
