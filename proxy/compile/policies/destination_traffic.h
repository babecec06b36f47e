// The settings of policies for connections to a Backend or Service, for all that sends requests there: rules, mirrors
// and payload processors.
#pragma once

#include <string_view>

#include "config/model/model.h"
#include "proxy/compile/ground/backend_use.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/grants.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/routing/policy/connection_settings.h"

namespace sluice::compile {

/// Returns the part of the settings that is about connections.
routing::ConnectionSettings connectionSettings(const TrafficSettings& settings);

/// Returns the fault of a policy for a Backend or Service in the form that may be disclosed to the holders of the
/// reference in that namespace.
Fault toldToHolder(std::string_view nameSpace, const config::BackendObjectReference& ref, const Fault& fault);

/// Returns the destination `found`, to which a reference of `holder` leads, as the policies for its Backend or Service
/// and the fields of the Backend govern it. It is for requests that belong to no rule, such as those of payload
/// processors. A policy that cannot be served becomes a fault.
BackendResult governedDestination(BackendResult found, const BackendUse& use, const Holder& holder,
                                  const TrafficPolicies& policies);

}  // namespace sluice::compile
