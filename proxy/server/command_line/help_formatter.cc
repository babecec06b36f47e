#include "proxy/server/command_line/help_formatter.h"

#include <sstream>

#include "proxy/server/command_line/help_text.h"

namespace sluice::server {
namespace {

/// Returns the text in lines of the room beside the column of names.
std::string besideNames(const std::string& text, std::size_t column) {
  std::string lines = wrapped(text, 0, kHelpWidth - column);
  lines.pop_back();
  return lines;
}

}  // namespace

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(CLI::Formatter::make_description(app), 0);
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return besideNames(option->get_description(), column_width_);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::stringstream out;
  CLI::detail::format_help(out, command->get_display_name(true), besideNames(command->get_description(), column_width_),
                           column_width_);
  return out.str();
}

std::string HelpFormatter::make_footer(const CLI::App* app) const { return wrapped(app->get_footer(), 0); }

}  // namespace sluice::server
