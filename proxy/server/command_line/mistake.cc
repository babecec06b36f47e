#include "proxy/server/command_line/mistake.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "proxy/base/text.h"

namespace sluice::server {
namespace {

using Words = std::vector<std::string_view>;

std::string unknownOption(const CommandShape& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  Words known;
  for (const ArgumentShape& option : command.options) {
    known.insert(known.end(), option.names.begin(), option.names.end());
  }
  const std::string_view meant = base::closestWord(name, known);
  return "there is no option " + name + " of '" + command.path + "'" +
         (meant.empty() ? "" : "; did you mean " + std::string(meant) + "?");
}

/// Returns " of 'sluice revisions'" for a command that has a longer name than the program's.
std::string below(const CommandShape& command) {
  return command.path == command.name ? "" : " of '" + command.path + "'";
}

std::string missingCommand(const CommandShape& command) {
  Words known;
  for (const CommandShape& each : command.commands) known.push_back(each.name);
  const bool root = command.path == command.name;
  return (root ? "a command is missing: " : "'" + command.path + "' needs a command: ") + base::joinChoices(known);
}

/// Returns the commands of the line, from the program itself to the last one.
std::vector<const CLI::App*> typedCommands(const CLI::App& app) {
  std::vector<const CLI::App*> typed = {&app};
  while (!typed.back()->get_subcommands().empty()) typed.push_back(typed.back()->get_subcommands().front());
  return typed;
}

}  // namespace

std::string unknownCommand(const CommandShape& command, const std::string& word) {
  if (command.commands.empty()) return "'" + command.path + "' takes no argument '" + word + "'";
  Words known;
  for (const CommandShape& each : command.commands) known.push_back(each.name);
  const std::string_view meant = base::closestWord(word, known);
  return "there is no command '" + word + "'" + below(command) +
         (meant.empty() ? ", only " + base::joinChoices(known) : "; did you mean '" + std::string(meant) + "'?");
}

std::string mistakeIn(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<const CLI::App*> typed = typedCommands(app);
  for (const CLI::App* command : typed) {
    const std::vector<std::string> unknown = command->remaining();
    if (unknown.empty()) continue;
    const std::string& word = unknown.front();
    const bool option = word.size() > 1 && word.front() == '-';
    return option ? unknownOption(shapeOf(*command), word) : unknownCommand(shapeOf(*command), word);
  }
  const CLI::App& last = *typed.back();
  const bool missing = last.get_require_subcommand_min() > 0 && last.get_subcommands().empty();
  return missing ? missingCommand(shapeOf(last)) : error.what();
}

std::string typedCommand(const CLI::App& app) { return shapeOf(*typedCommands(app).back()).path; }

}  // namespace sluice::server
