// The flags of `sluice explain` that describe the request.
#pragma once

#include <CLI/App.hpp>

#include "proxy/control/explain/explained_request.h"

namespace sluice::server {

/// Adds them to the command, which then fills `request`. It outlives the command.
void takeRequestInQuestion(CLI::App& explain, control::RequestInQuestion& request);

}  // namespace sluice::server
