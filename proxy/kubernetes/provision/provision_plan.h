// Plans the objects that the controller keeps in the cluster for the Gateways of a configuration: those of their Pods,
// and those that grant rights to these.
#pragma once

#include <string>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/objects/named_objects.h"
#include "proxy/kubernetes/provision/provisioner.h"
#include "proxy/kubernetes/provision/wanted_objects.h"

namespace sluice::kubernetes {

/// Returns the plan for all Gateways of our GatewayClass; nullopt if there is no such class, because then it is not
/// known which Gateways there should be. The Pods run `image` unless their parameters name another one, and may read
/// the objects that `names` has for them. `sharedRole` is the uid of kGatewayClusterRole, or empty.
/// The Pods of a Gateway stay as they are, with their present rights, if its schema refuses it, if its parameters
/// cannot be used, or if it has chosen something that its class forbids. If the Gateway is not legible at all, they
/// keep their rights in its own namespace. All are left alone while the settings of the class are invalid.
std::optional<ProvisionPlan> planProvision(const control::CompiledConfiguration& compiled,
                                           const ClusterObjects& objects, const std::string& image,
                                           const NamesOfGateways& names, const std::string& sharedRole);
/// Returns the name and owner of the Service and the Deployment that the Gateways of our GatewayClass have, or should
/// have, also of those whose Pods stay as they are.
GatewayObjects podObjectsOf(const config::Model& model, const ClusterObjects& objects);
/// Sets that each Gateway is reached by the Service that the plan has for it.
config::StatusList withServiceAddresses(const config::StatusList& statuses, const config::Model& model);

}  // namespace sluice::kubernetes
