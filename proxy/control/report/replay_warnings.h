// Warns of rules whose Backends have steps that may hold longer bodies than are kept for retries. Both are served as
// they are written.
#pragma once

#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::control {

/// Returns a warning for each such step, at the route of its rule.
config::Problems replayWarnings(const CompiledConfiguration& configuration);

}  // namespace sluice::control
