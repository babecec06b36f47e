#include "proxy/server/command_line/command_shape.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace sluice::server {
namespace {

ArgumentShape argumentOf(const CLI::Option& option) {
  ArgumentShape shape;
  for (const std::string& name : option.get_snames()) shape.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shape.names.push_back("--" + name);
  shape.description = option.get_description();
  if (option.get_items_expected_max() > 0) shape.value = option.get_type_name();
  shape.required = option.get_required();
  shape.repeatable =
      option.get_expected_max() > 1 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return shape;
}

std::string pathOf(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : pathOf(*app.get_parent()) + " " + app.get_name();
}

}  // namespace

bool ArgumentShape::takesPath() const { return value == "PATH"; }

std::vector<std::string> ArgumentShape::words() const {
  return value.find('|') == std::string::npos ? std::vector<std::string>() : CLI::detail::split(value, '|');
}

CommandShape shapeOf(const CLI::App& app) {
  CommandShape shape{pathOf(app), app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    ArgumentShape argument = argumentOf(*option);
    if (!argument.names.empty()) shape.options.push_back(argument);
    if (!option->get_positional()) continue;
    argument.names = {option->get_name(true, false)};
    shape.arguments.push_back(std::move(argument));
  }
  for (const CLI::App* command : app.get_subcommands({})) shape.commands.push_back(shapeOf(*command));
  return shape;
}

std::vector<const CommandShape*> allCommands(const CommandShape& root) {
  std::vector<const CommandShape*> all = {&root};
  for (const CommandShape& command : root.commands) {
    const std::vector<const CommandShape*> below = allCommands(command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::string brief(const std::string& description) { return description.substr(0, description.find(';')); }

}  // namespace sluice::server
