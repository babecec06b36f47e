// Logs a line when the server of a payload processor has another state than in the configuration before.
//
// A pure function but for the log; the loading thread calls it.
#pragma once

#include <vector>

#include "proxy/compile/processors/asked_servers.h"
#include "proxy/observe/log.h"

namespace sluice::control {

/// A new server is taken to have been Pending before, and Pending is not logged.
void logServers(const std::vector<compile::AskedServer>& before, const std::vector<compile::AskedServer>& now,
                const observe::Log& log);

}  // namespace sluice::control
