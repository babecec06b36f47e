#include "proxy/server/command_line/completion.h"
#include "proxy/server/command_line/shell_text.h"

namespace sluice::server {
namespace {

constexpr std::string_view kFishBegin = R"(# Completes the command line of sluice; printed by `sluice completion fish`.
function __sluice_command
    set -l command sluice
    for word in (commandline -opc)[2..]
        if contains -- "$command $word" )";

constexpr std::string_view kFishConditions = R"(
            set command "$command $word"
        end
    end
    test "$command" = "$argv"
end
complete -c sluice -f
)";

std::string fishQuoted(std::string_view text) { return "'" + marked(text, "\\'", '\\') + "'"; }

/// Returns the beginning of a line that applies to one command only.
std::string fishLine(const CommandShape& command) {
  return "complete -c sluice -n " + fishQuoted("__sluice_command " + command.path);
}

std::string fishValue(const ArgumentShape& argument) {
  if (argument.takesPath()) return " -r -F";
  const std::vector<std::string> words = argument.words();
  return words.empty() ? " -x" : " -x -a " + fishQuoted(joinedBy(" ", words));
}

std::string fishOption(const ArgumentShape& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) text += fishValue(option);
  return text + " -d " + fishQuoted(brief(option.description)) + "\n";
}

std::string fishCommand(const CommandShape& command) {
  std::string text;
  for (const CommandShape& each : command.commands) {
    text += fishLine(command) + " -a " + each.name + " -d " + fishQuoted(brief(each.description)) + "\n";
  }
  for (const ArgumentShape& option : command.options) text += fishLine(command) + fishOption(option);
  // Fish does not count arguments, and those of one command are of one kind.
  if (command.arguments.empty()) return text;
  const ArgumentShape& argument = command.arguments.front();
  if (argument.takesPath()) return text + fishLine(command) + " -F\n";
  const std::vector<std::string> words = argument.words();
  return words.empty() ? text : text + fishLine(command) + " -a " + fishQuoted(joinedBy(" ", words)) + "\n";
}

}  // namespace

std::string fishCompletion(const CommandShape& root) {
  std::vector<std::string> below;
  std::string lines;
  for (const CommandShape* command : allCommands(root)) {
    if (command != &root) below.push_back(fishQuoted(command->path));
    lines += fishCommand(*command);
  }
  return std::string(kFishBegin) + joinedBy(" ", below) + std::string(kFishConditions) + lines;
}

}  // namespace sluice::server
