#include "proxy/server/commands/diff_command.h"

#include <cstdio>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/report/configuration_diff.h"
#include "proxy/control/report/surroundings.h"

namespace sluice::server {
namespace {

/// Prints why nothing of a configuration can be served. Returns false if it can be served.
bool isUseless(const control::CompiledConfiguration& configuration, const std::string& path) {
  if (configuration.usable()) return false;
  std::fprintf(stderr, "%s cannot be served:\n", path.c_str());
  for (const config::Problem& problem : configuration.problems) {
    std::fprintf(stderr, "%s\n", config::render(problem).c_str());
  }
  return true;
}

}  // namespace

int printDifferences(const std::string& before, const std::string& after, OutputFormat format,
                     const processing::BuiltinTypes& processors) {
  const control::CompiledConfiguration served = control::readConfiguration({before}, processors);
  const control::CompiledConfiguration wanted = control::readConfiguration({after}, processors, &served);
  const bool useless = isUseless(served, before) || isUseless(wanted, after);
  if (useless) return 1;
  auto changes = control::changesOf(served, wanted);
  const base::WallTime now = base::SystemClock().wallNow();
  control::addProblemChanges(control::surroundingsOf(served, now, control::LogPathCheck::kWarning),
                             control::surroundingsOf(wanted, now, control::LogPathCheck::kWarning), changes);
  print(control::changesOutput(changes), format);
  return changes.empty() ? 0 : 1;
}

}  // namespace sluice::server
