#include "proxy/server/command_line/completion.h"
#include "proxy/server/command_line/shell_text.h"

namespace sluice::server {
namespace {

/// The words of the commands are taken away, so that _arguments sees the last command with its own words.
constexpr std::string_view kZshBegin = R"(#compdef sluice
# Completes the command line of sluice; printed by `sluice completion zsh`.
_sluice() {
  local curcontext=$curcontext state line command=sluice
  local -i at last=1
  local -a commands
  typeset -A opt_args
  for ((at = 2; at < CURRENT; ++at)); do
    case "$command ${words[at]}" in
)";

constexpr std::string_view kZshCommands = R"( command+=" ${words[at]}" last=at ;;
    esac
  done
  words=("${(@)words[last,-1]}")
  ((CURRENT -= last - 1))
  case $command in
)";

constexpr std::string_view kZshEnd = R"(  esac
  [[ $state == commands ]] && _describe command commands
}
if [[ ${funcstack[1]} == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
)";

/// Returns the action of _arguments for the value: ":PATH:_files". `otherwise` is used for a value of unknown kind.
std::string zshAction(const ArgumentShape& argument, std::string_view otherwise) {
  const std::vector<std::string> words = argument.words();
  if (!words.empty()) return ":word:(" + joinedBy(" ", words) + ")";
  const std::string& title = argument.value.empty() ? argument.names.front() : argument.value;
  return ":" + marked(title, ":", '\\') + ":" + std::string(argument.takesPath() ? "_files" : otherwise);
}

std::string zshOption(const ArgumentShape& option) {
  std::string rest = "[" + marked(brief(option.description), "\\[]:", '\\') + "]";
  if (!option.value.empty()) rest += zshAction(option, "");
  std::string text;
  for (const std::string& name : option.names) {
    std::string spec = (option.repeatable ? "*" : "") + name;
    if (!option.value.empty() && name.starts_with("--")) spec += "=";  // both --name value and --name=value
    text.append(" \\\n        ").append(singleQuoted(spec + rest));
  }
  return text;
}

std::string zshCommand(const CommandShape& command) {
  std::string text = "    " + singleQuoted(command.path) + ")\n";
  if (!command.commands.empty()) {
    text += "      commands=(\n";
    for (const CommandShape& each : command.commands) {
      text += "        " + singleQuoted(each.name + ":" + brief(each.description)) + "\n";
    }
    text += "      )\n";
  }
  text += "      _arguments -C";
  for (const ArgumentShape& option : command.options) text += zshOption(option);
  if (!command.commands.empty()) text += " \\\n        '1: :->commands'";
  // Without the empty list the argument's name would be shown, and no option be offered beside it.
  for (const ArgumentShape& argument : command.arguments) {
    text += " \\\n        " + singleQuoted(zshAction(argument, "()"));
  }
  return text + "\n      ;;\n";
}

}  // namespace

std::string zshCompletion(const CommandShape& root) {
  std::vector<std::string> below;
  std::string bodies;
  for (const CommandShape* command : allCommands(root)) {
    if (command != &root) below.push_back(singleQuoted(command->path));
    bodies += zshCommand(*command);
  }
  return std::string(kZshBegin) + "      " + joinedBy("|", below) + ")" + std::string(kZshCommands) + bodies +
         std::string(kZshEnd);
}

}  // namespace sluice::server
