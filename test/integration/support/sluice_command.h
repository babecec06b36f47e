// Runs one command of the program to its end.
#pragma once

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {

/// Runs `sluice` with these arguments.
inline ProgramOutcome sluice(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), programPath("sluice"));
  return run(arguments);
}

}  // namespace sluice::test
