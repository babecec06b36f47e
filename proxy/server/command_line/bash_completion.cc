#include "proxy/server/command_line/completion.h"
#include "proxy/server/command_line/shell_text.h"

namespace sluice::server {
namespace {

/// `words` are those of the line before the one that is completed. Bash takes "=" for a word of its own.
constexpr std::string_view kBashBegin = R"(# Completes the command line of sluice; printed by `sluice completion bash`.
_sluice() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=sluice word
  if [[ $current == '=' ]]; then
    current=
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
)";

constexpr std::string_view kBashValues = R"( command+=" $word" ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
)";

constexpr std::string_view kBashCommands = R"(  esac
  case "$command" in
)";

constexpr std::string_view kBashEnd = R"(  esac
}
complete -F _sluice sluice
)";

constexpr std::string_view kBashFiles =
    "      mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
    "      compopt -o filenames 2>/dev/null\n";

std::string bashWords(const std::vector<std::string>& words) {
  return "      mapfile -t COMPREPLY < <(compgen -W '" + joinedBy(" ", words) + "' -- \"$current\")\n";
}

/// Returns the lines that complete a value, and end the function.
std::string bashValue(const ArgumentShape& argument) {
  const std::vector<std::string> words = argument.words();
  const std::string files = argument.takesPath() ? std::string(kBashFiles) : "";
  return files + (words.empty() ? "" : bashWords(words)) + "      return\n";
}

std::string bashOptionValues(const CommandShape& command) {
  std::string text;
  for (const ArgumentShape& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(singleQuoted(command.path + " " + name));
    text += "    " + joinedBy("|", patterns) + ")\n" + bashValue(option) + "      ;;\n";
  }
  return text;
}

std::string bashCommand(const CommandShape& command) {
  std::vector<std::string> words;
  for (const CommandShape& each : command.commands) words.push_back(each.name);
  for (const ArgumentShape& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
  }
  std::string text = "    " + singleQuoted(command.path) + ")\n";
  if (!command.arguments.empty()) {
    text += "      if [[ $current != -* ]]; then\n" + bashValue(command.arguments.front()) + "      fi\n";
  }
  return text + bashWords(words) + "      ;;\n";
}

}  // namespace

std::string bashCompletion(const CommandShape& root) {
  const std::vector<const CommandShape*> commands = allCommands(root);
  std::vector<std::string> below;
  std::string values;
  std::string bodies;
  for (const CommandShape* command : commands) {
    if (command != &root) below.push_back(singleQuoted(command->path));
    values += bashOptionValues(*command);
    bodies += bashCommand(*command);
  }
  return std::string(kBashBegin) + "      " + joinedBy("|", below) + ")" + std::string(kBashValues) + values +
         std::string(kBashCommands) + bodies + std::string(kBashEnd);
}

}  // namespace sluice::server
