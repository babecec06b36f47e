// Describes the fault of a command line, in a sentence that names the faulty word.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "proxy/server/command_line/command_shape.h"

namespace sluice::server {

/// Returns the message for a command line that `app` refused with `error`, with a suggestion. It reports an unknown
/// word first, because other faults may follow from it.
std::string mistakeIn(const CLI::App& app, const CLI::ParseError& error);

/// Returns the message for a word that is no command below this one, with a suggestion.
std::string unknownCommand(const CommandShape& command, const std::string& word);

/// Returns the last command of the line as it was typed: "sluice run".
std::string typedCommand(const CLI::App& app);

}  // namespace sluice::server
