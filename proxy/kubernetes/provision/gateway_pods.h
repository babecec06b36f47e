// Makes the objects of a Gateway's Pods: the controller keeps them in the Gateway's namespace, and they are deleted
// with it.
//
// A Pod has only the rights and files that it needs: no privileges, a root that it cannot write, a folder in memory for
// the last good configuration, and its own address, at which it listens on the ports of the Gateway. A new Pod gets
// traffic, and replaces another Pod, only once it serves a usable configuration.
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
