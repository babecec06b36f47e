// Compiles the clientAuthentication of EgressPolicies.
//
// These are pure functions, but for the random key of a password file.
#pragma once

#include <memory>
#include <optional>

#include "config/model/egress_policy.h"
#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/client_authentication.h"

namespace sluice::compile {

/// Returns what the policy's clientAuthentication, which it must have, asks clients for. As long as the text of its
/// Secret is the same, so is the password file, with what it knows of right passwords. The reason of faults is Invalid.
Resolved<std::shared_ptr<const routing::ClientAuthentication>> authenticationOf(const config::EgressPolicy& policy,
                                                                                const config::Model& model,
                                                                                processing::SharedStates& states);

/// Returns the Secret that the clientAuthentication names; nullopt if no object can have the name, or no grant permits
/// the reference.
std::optional<base::ObjectNames::value_type> passwordsOf(const config::EgressPolicy& policy,
                                                         const config::Model& model);

}  // namespace sluice::compile
