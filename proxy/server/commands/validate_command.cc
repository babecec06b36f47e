#include "proxy/server/commands/validate_command.h"

#include <cstdio>
#include <utility>

#include "proxy/control/compiled_configuration.h"
#include "proxy/server/listen_sockets.h"

namespace sluice::server {

int validateConfiguration(const std::vector<std::string>& paths, bool live,
                          const processing::BuiltinTypes& processors) {
  control::CompiledConfiguration configuration = control::readConfiguration(paths, processors);
  if (live && configuration.usable()) {
    control::UnusablePlaces unusable = ListenSockets().unusable(*configuration.compiled.snapshot);
    if (!unusable.empty()) {
      configuration = control::readConfiguration(paths, processors, nullptr, std::move(unusable));
    }
  }
  const std::string report = control::reportText(configuration);
  std::fwrite(report.data(), 1, report.size(), stdout);
  return configuration.flawless() ? 0 : 1;
}

}  // namespace sluice::server
