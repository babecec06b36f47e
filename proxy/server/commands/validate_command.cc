#include "proxy/server/commands/validate_command.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "config/yaml/source_files.h"
#include "proxy/control/configuration_report.h"
#include "proxy/server/commands/output_format.h"
#include "proxy/server/listen_sockets.h"

namespace sluice::server {
namespace {

using Paths = std::vector<std::string>;

/// Returns the paths of each configuration. Without recursion all paths are one, but for folders that only have files
/// in the folders below them. With it, each folder is one, and the files that were named are one together.
std::vector<Paths> configurationsAt(const Paths& paths, bool recursive, config::Problems& problems) {
  Paths together;
  std::vector<Paths> all;
  for (const std::string& path : paths) {
    std::error_code error;
    Paths folders;
    config::Problems unread;
    if (std::filesystem::is_directory(path, error)) folders = config::configurationFolders(path, unread);
    if (folders.empty() || (!recursive && folders.front() == path)) {
      together.push_back(path);
      continue;
    }
    for (std::string& folder : folders) all.push_back({std::move(folder)});
    problems.insert(problems.end(), unread.begin(), unread.end());
  }
  if (!together.empty()) all.insert(all.begin(), std::move(together));
  return all;
}

control::CompiledConfiguration compiled(const Paths& paths, bool live, const processing::BuiltinTypes& processors) {
  control::CompiledConfiguration configuration = control::readConfiguration(paths, processors);
  if (!live || !configuration.usable()) return configuration;
  control::UnusablePlaces unusable = ListenSockets().unusable(*configuration.compiled.snapshot);
  if (unusable.empty()) return configuration;
  return control::readConfiguration(paths, processors, nullptr, std::move(unusable));
}

void printText(const std::vector<control::Validated>& all, bool quiet) {
  for (const control::Validated& each : all) {
    if (all.size() > 1 && !quiet) {
      std::string heading = "==>";
      for (const std::string& path : each.paths) heading += " " + path;
      print(heading + "\n");
    }
    print(control::reportText(each.configuration, quiet));
  }
}

}  // namespace

int validateConfiguration(const Paths& paths, const ValidationOptions& options,
                          const processing::BuiltinTypes& processors) {
  config::Problems unread;
  std::vector<control::Validated> all;
  for (Paths& each : configurationsAt(paths, options.recursive, unread)) {
    control::CompiledConfiguration configuration = compiled(each, options.live, processors);
    all.push_back({std::move(each), std::move(configuration)});
  }
  // They belong to no configuration, so they are reported as one that cannot be read.
  if (!unread.empty()) {
    control::CompiledConfiguration missing;
    missing.problems = std::move(unread);
    all.push_back({paths, std::move(missing)});
  }
  switch (options.format) {
    case ValidationFormat::kText:
      printText(all, options.quiet);
      break;
    case ValidationFormat::kGithub:
      for (const control::Validated& each : all) print(control::reportGithub(each.configuration));
      break;
    case ValidationFormat::kJson:
      print(inFormat(control::reportJson(all, options.quiet), OutputFormat::kJson));
      break;
    case ValidationFormat::kYaml:
      print(inFormat(control::reportJson(all, options.quiet), OutputFormat::kYaml));
      break;
  }
  const auto flawless = [](const control::Validated& each) { return each.configuration.flawless(); };
  return std::all_of(all.begin(), all.end(), flawless) ? 0 : 1;
}

}  // namespace sluice::server
