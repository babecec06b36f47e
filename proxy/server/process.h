// `sluice run`: reads the configuration, opens the ports, and runs the workers until a signal ends them.
#pragma once

#include "proxy/processing/factory.h"
#include "proxy/server/cli.h"

namespace sluice::server {

/// Returns the exit code: 0 after SIGTERM or SIGINT, 1 if the configuration or a port cannot be used. `processors` are
/// the types that are compiled in.
int runProcess(const Options& options, const processing::BuiltinTypes& processors);

}  // namespace sluice::server
