// Runs a command and returns its output.
#pragma once

#include <string>

namespace sluice::test {

/// Runs `command` with the shell in the root of the sources and returns what it writes to its standard output.
std::string outputOf(const std::string& command);

}  // namespace sluice::test
