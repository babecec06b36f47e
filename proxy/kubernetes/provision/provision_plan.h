// Plans what the controller keeps in the cluster for the Gateways of a configuration: their Pods and what these may
// read.
#pragma once

#include <string>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/objects/named_objects.h"
#include "proxy/kubernetes/provision/provisioner.h"

namespace sluice::kubernetes {

/// Returns the plan for all Gateways of our GatewayClass, whose Pods run `image` unless their parameters name another
/// one, and may read what `names` has for them; nullopt if there is no such class, because then it is not known which
/// Gateways there should be. The Pods of a Gateway which its schema refuses, whose parameters cannot be used, or which
/// has chosen what its class forbids, stay as they are, with what they may read now; if nothing of it is legible, with
/// what they may read in its own namespace. All are left alone while the settings of the class are wrong.
std::optional<ProvisionPlan> planProvision(const control::CompiledConfiguration& compiled,
                                           const ClusterObjects& objects, const std::string& image,
                                           const NamesOfGateways& names);
/// Says that each Gateway is reached by the Service that the plan has for it.
config::StatusList withServiceAddresses(const config::StatusList& statuses, const config::Model& model);

}  // namespace sluice::kubernetes
