#include "proxy/control/report/surroundings.h"

#include <iterator>
#include <string>
#include <utility>

#include "config/load/class_settings.h"
#include "proxy/control/report/certificate_problems.h"
#include "proxy/observe/access_log.h"

namespace sluice::control {
namespace {

/// Adds the problem of accessLog.path if a gateway that starts now would have no access log.
void addLogPath(const CompiledConfiguration& configuration, LogPathCheck check, config::Problems& problems) {
  if (check == LogPathCheck::kNone || !configuration.usable()) return;
  const base::Status possible = observe::checkAccessLogFile(configuration.model.settings.accessLogPath);
  if (possible.ok()) return;
  const auto severity = check == LogPathCheck::kError ? config::Severity::kError : config::Severity::kWarning;
  std::string message = possible.error().detail;
  message += check == LogPathCheck::kError ? "; a gateway that starts now serves without its access log"
                                           : "; a gateway that starts on this machine serves without its access log";
  problems.push_back(config::settingsProblem(configuration.model, severity, "accessLog.path", std::move(message)));
}

}  // namespace

config::Problems surroundingsOf(const CompiledConfiguration& configuration, base::WallTime now, LogPathCheck check) {
  config::Problems problems = certificateProblems(configuration.certificates, now);
  addLogPath(configuration, check, problems);
  return problems;
}

void addSurroundings(CompiledConfiguration& configuration, base::WallTime now, LogPathCheck check) {
  config::Problems found = surroundingsOf(configuration, now, check);
  configuration.problems.insert(configuration.problems.end(), std::make_move_iterator(found.begin()),
                                std::make_move_iterator(found.end()));
}

}  // namespace sluice::control
