// The flags by which `sluice run` forwards requests without files.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace sluice::server {

/// Holds the flags that `sluice run` takes in place of files.
struct ForwardingFlags {
  std::vector<std::string> listen;
  std::vector<std::string> to;
  bool print = false;
};

/// Adds them. They exclude `config`, and `stateDir` in part.
void takeForwarding(CLI::App& run, CLI::Option* config, CLI::Option* stateDir, ForwardingFlags& flags);

}  // namespace sluice::server
