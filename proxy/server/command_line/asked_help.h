// The help of a command, as `sluice help COMMAND` prints it.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "proxy/base/result.h"

namespace sluice::server {

/// Returns the text that the --help of the command prints; that of the program if there are no words. An error names
/// the word that is no command, with a suggestion.
base::Result<std::string> helpOf(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace sluice::server
