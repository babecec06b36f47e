// The flags of `sluice check egress` that no other command has.
#pragma once

#include <CLI/App.hpp>

#include "proxy/server/check/check_egress_command.h"

namespace sluice::server {

/// Adds them to the command, which then fills `check`. It outlives the command.
void takeEgressCheck(CLI::App& command, EgressCheckOptions& check);

}  // namespace sluice::server
