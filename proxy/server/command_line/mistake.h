// Says what is wrong with a command line, in a sentence that names the word at fault.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace sluice::server {

/// Returns the message for a command line that `app` refused with `error`, and says what was probably meant. A word
/// that no command or option has comes first, because whatever else is wrong may follow from it.
std::string mistakeIn(const CLI::App& app, const CLI::ParseError& error);

/// Returns the last command of the line as it was typed: "sluice run".
std::string typedCommand(const CLI::App& app);

}  // namespace sluice::server
