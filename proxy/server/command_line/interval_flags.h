// The flag that says how often a command shows something.
#pragma once

#include <CLI/CLI.hpp>

#include "proxy/base/clock.h"

namespace sluice::server {

/// Adds --interval to a command: 100ms to 1h.
void takeInterval(CLI::App& command, base::Duration& interval);

}  // namespace sluice::server
