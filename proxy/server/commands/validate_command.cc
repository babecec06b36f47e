#include "proxy/server/commands/validate_command.h"

#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "config/load/source_files.h"
#include "proxy/content/output/make_value.h"
#include "proxy/control/report/configuration_report.h"
#include "proxy/control/report/replay_warnings.h"
#include "proxy/control/report/surroundings.h"
#include "proxy/server/commands/output_format.h"
#include "proxy/server/serving/listen_sockets.h"

namespace sluice::server {
namespace {

using Paths = std::vector<std::string>;

/// Returns the path without links; as it is if it cannot be read.
std::string canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(path, error);
  return error ? path : found.string();
}

/// Returns the paths of each configuration. Without recursion all paths are one configuration, except for folders whose
/// files are all in folders below them. With recursion, each folder is a configuration, and the named files together
/// are one.
std::vector<Paths> configurationsAt(const Paths& paths, bool recursive, config::Problems& problems) {
  Paths together;
  std::vector<Paths> all;
  std::set<std::string> known;  // a path that is given twice, or is below another one, is used once
  for (const std::string& path : paths) {
    std::error_code error;
    if (!known.insert(canonical(path)).second) continue;
    Paths folders;
    config::Problems unread;
    if (std::filesystem::is_directory(path, error)) folders = config::configurationFolders(path, unread);
    if (folders.empty() || (!recursive && folders.front() == path)) {
      together.push_back(path);
      continue;
    }
    for (std::string& folder : folders) {
      const std::string name = canonical(folder);
      if (name == canonical(path) || known.insert(name).second) all.push_back({std::move(folder)});
    }
    problems.insert(problems.end(), unread.begin(), unread.end());
  }
  if (!together.empty()) all.insert(all.begin(), std::move(together));
  return all;
}

/// Returns the configuration with the problems of the certificates and of this machine, too, and with warnings.
control::CompiledConfiguration withSurroundings(control::CompiledConfiguration configuration, bool live) {
  config::Problems warnings = control::replayWarnings(configuration);
  configuration.problems.insert(configuration.problems.end(), std::make_move_iterator(warnings.begin()),
                                std::make_move_iterator(warnings.end()));
  control::addSurroundings(configuration, base::SystemClock().wallNow(),
                           live ? control::LogPathCheck::kError : control::LogPathCheck::kWarning);
  return configuration;
}

control::CompiledConfiguration compiled(const Paths& paths, bool live, const processing::BuiltinTypes& processors) {
  control::CompiledConfiguration configuration = control::readConfiguration(paths, processors);
  if (!live || !configuration.usable()) return configuration;
  compile::UnusablePlaces unusable = ListenSockets().unusable(*configuration.compiled.snapshot);
  if (unusable.empty()) return configuration;
  return control::readConfiguration(paths, processors, nullptr, std::move(unusable));
}

/// Prints the results of one configuration after the other, so that only one of them is in memory.
class Validation {
 public:
  Validation(const ValidationOptions& options, bool several) : options_(options), several_(several) {}

  void add(const Paths& paths, const control::CompiledConfiguration& configuration) {
    flawless_ = flawless_ && configuration.flawless();
    switch (options_.format) {
      case ValidationFormat::kText:
        if (several_ && !options_.quiet) printHeading(paths);
        return print(control::reportText(configuration, options_.quiet));
      case ValidationFormat::kGithub:
        return print(control::reportGithub(configuration));
      case ValidationFormat::kJson:
      case ValidationFormat::kYaml:
        reports_.items.push_back(control::reportValue(paths, configuration, options_.quiet));
    }
  }

  /// Ends the output, and returns the exit code.
  int finish() {
    const bool asJson = options_.format == ValidationFormat::kJson;
    if (asJson || options_.format == ValidationFormat::kYaml) {
      const content::Output output{content::makeMap({{"valid", flawless_}, {"configurations", std::move(reports_)}}),
                                   {}};
      print(output, asJson ? OutputFormat::kJson : OutputFormat::kYaml);
    }
    return flawless_ ? 0 : 1;
  }

 private:
  static void printHeading(const Paths& paths) {
    std::string heading = "==>";
    for (const std::string& path : paths) heading += " " + path;
    print(heading + "\n");
  }

  const ValidationOptions& options_;
  const bool several_;
  bool flawless_ = true;
  content::Value reports_ = content::makeValue(std::vector<content::Value>());  // for programs: all in one value
};

}  // namespace

int validateConfiguration(const Paths& paths, const ValidationOptions& options,
                          const processing::BuiltinTypes& processors) {
  config::Problems unread;
  const std::vector<Paths> all = configurationsAt(paths, options.recursive, unread);
  Validation validation(options, all.size() + (unread.empty() ? 0 : 1) > 1);
  for (const Paths& each : all)
    validation.add(each, withSurroundings(compiled(each, options.live, processors), options.live));
  if (!unread.empty()) {
    // These folders belong to no configuration, so they are reported as a configuration that cannot be read.
    control::CompiledConfiguration missing;
    missing.problems = std::move(unread);
    validation.add(paths, missing);
  }
  return validation.finish();
}

}  // namespace sluice::server
