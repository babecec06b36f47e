// Runs the clients and origins in test/integration/clients with Node.js.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"

namespace sluice::test {

inline constexpr const char* kClients = SLUICE_SOURCE_DIR "/test/integration/clients/";

/// Runs a script to its end.
inline ProgramOutcome runNode(const std::string& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"node", kClients + script};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run(argv);
}

}  // namespace sluice::test
