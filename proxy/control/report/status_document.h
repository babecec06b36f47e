// The documents that say which configuration is served, for the admin port.
#pragma once

#include <string>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/state/revisions.h"

namespace sluice::control {

/// Returns {"desired", "published", "served", "state", "since", "problems", "objects"}: the admin document /status.
/// `configuration` is the served one, or else the one that was read last. A long list of problems is cut, and says so.
std::string statusDocument(const CompiledConfiguration& configuration, const Revisions& revisions);
/// Returns {"valid", "state", "desired", "served", "problems", "objects"}: what would be said if `configuration` were
/// given to the process. `refusal` says why it would not be served, although it could be; else it is empty.
std::string verdictDocument(const CompiledConfiguration& configuration, const std::string& refusal);

}  // namespace sluice::control
