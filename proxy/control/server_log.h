// Tells people when the server of a payload processor has another state than in the configuration before: a line for
// each change.
//
// A pure function but for the log; the loading thread calls it.
#pragma once

#include <vector>

#include "proxy/compile/processors/asked_servers.h"
#include "proxy/observe/log.h"

namespace sluice::control {

/// A server that is new counts as Pending before, of which nobody is told.
void logServers(const std::vector<compile::AskedServer>& before, const std::vector<compile::AskedServer>& now,
                const observe::Log& log);

}  // namespace sluice::control
