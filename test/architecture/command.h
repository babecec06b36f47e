// What a command prints.
#pragma once

#include <string>

namespace sluice::test {

/// Runs `command` in the root of the sources by the shell.
std::string outputOf(const std::string& command);

}  // namespace sluice::test
