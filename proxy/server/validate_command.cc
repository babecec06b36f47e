#include "proxy/server/validate_command.h"

#include <cstdio>
#include <utility>

#include "proxy/control/compiled_configuration.h"
#include "proxy/control/generation.h"
#include "proxy/server/listen_sockets.h"

namespace sluice::server {

namespace {

/// Returns the places where this machine, as it is now, lets nobody listen.
control::UnusablePlaces tryToListen(const control::CompiledConfiguration& configuration) {
  const auto generation = control::GenerationMaker().make(configuration.compiled.snapshot, configuration.revision, {});
  if (!generation.ok()) return {};  // a certificate, which its listener's conditions name
  return ListenSockets().open(*generation.value());
}

}  // namespace

int validateConfiguration(const std::vector<std::string>& paths, bool live,
                          const processing::BuiltinTypes& processors) {
  control::CompiledConfiguration configuration = control::readConfiguration(paths, processors);
  if (live && configuration.usable()) {
    control::UnusablePlaces unusable = tryToListen(configuration);
    if (!unusable.empty()) {
      configuration = control::readConfiguration(paths, processors, nullptr, std::move(unusable));
    }
  }
  const std::string report = control::reportText(configuration);
  std::fwrite(report.data(), 1, report.size(), stdout);
  return configuration.flawless() ? 0 : 1;
}

}  // namespace sluice::server
