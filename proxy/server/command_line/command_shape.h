// The command line's own table as plain values: commands, their options, and the values of options.
//
// All descriptions of the command line are made of it: the scripts for shells, the manual page, and the hints for words
// that are no command or option. So they list all options, and none that does not exist.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace sluice::server {

/// An option, or an argument that has no flag.
struct ArgumentShape {
  std::vector<std::string> names;  // "-H", "--header"; of an argument without a flag its name, "HASH"
  std::string description;
  /// The name of its value in messages: "PATH" is a file or a folder, and "text|json|yaml" lists all that it may be.
  /// Empty if it takes none.
  std::string value;
  bool required;
  bool repeatable;

  bool takesPath() const;
  /// Returns the words that its value may be; none if it may be anything.
  std::vector<std::string> words() const;
};

struct CommandShape {
  std::string path;  // as it is typed: "sluice revisions clear"
  std::string name;  // its last word
  std::string description;
  std::string footer;
  std::vector<ArgumentShape> options;
  std::vector<ArgumentShape> arguments;  // those without a flag, in their order
  std::vector<CommandShape> commands;
};

CommandShape shapeOf(const CLI::App& app);

/// Returns the command and all commands below it, each after the one that it belongs to.
std::vector<const CommandShape*> allCommands(const CommandShape& root);

/// Returns a description up to its first semicolon, for places with room for one line.
std::string brief(const std::string& description);

}  // namespace sluice::server
