// Lists the routes that would be considered for a request if their parent took them, with the reason why it does not.
#pragma once

#include "config/model/model.h"
#include "config/status/status_list.h"
#include "proxy/control/explain/explanation.h"

namespace sluice::control {

/// Adds the routes whose hostnames are for the host of the request, and which the Gateway of its listener has refused;
/// any Gateway if no listener gets the request. `statuses` are those of `model`.
void addRefusedRoutes(const config::Model& model, const config::StatusList& statuses, Explanation& explanation);

}  // namespace sluice::control
