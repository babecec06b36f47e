// The flags that a controller gives to the Pods that it keeps.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sluice::server {

/// Adds them to `sluice run`, beside `kubernetes` and --gateway, which they need.
void takeKeptPod(CLI::App& run, CLI::Option* kubernetes, std::string& controllerNamespace, std::string& classKeys);

}  // namespace sluice::server
