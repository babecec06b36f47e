// Describes the fault of a command line, in a sentence that names the faulty word.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace sluice::server {

/// Returns the message for a command line that `app` refused with `error`, with a suggestion. It reports an unknown
/// word first, because other faults may follow from it.
std::string mistakeIn(const CLI::App& app, const CLI::ParseError& error);

/// Returns the last command of the line as it was typed: "sluice run".
std::string typedCommand(const CLI::App& app);

}  // namespace sluice::server
