#include "proxy/server/command_line/asked_help.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "proxy/server/command_line/command_shape.h"
#include "proxy/server/command_line/mistake.h"

namespace sluice::server {

base::Result<std::string> helpOf(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> known = command->get_subcommands({});
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto* each) { return each->get_name() == word; });
    if (found == known.end()) return base::Error::config(unknownCommand(shapeOf(*command), word));
    command = *found;
  }
  // CLI::App::help() would print the help of the command that was typed.
  return command->get_formatter()->make_help(command, shapeOf(*command).path, CLI::AppFormatMode::Normal);
}

}  // namespace sluice::server
