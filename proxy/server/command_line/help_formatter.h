// How --help looks: CLI11's form, with texts broken into lines that a terminal can show.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sluice::server {

class HelpFormatter final : public CLI::Formatter {
 private:
  std::string make_description(const CLI::App* app) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* app) const override;
};

}  // namespace sluice::server
