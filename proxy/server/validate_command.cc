#include "proxy/server/validate_command.h"

#include <cstdio>

#include "proxy/control/compiled_configuration.h"

namespace sluice::server {

int validateConfiguration(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors) {
  const control::CompiledConfiguration configuration = control::readConfiguration(paths, processors);
  const std::string report = control::reportText(configuration);
  std::fwrite(report.data(), 1, report.size(), stdout);
  return configuration.flawless() ? 0 : 1;
}

}  // namespace sluice::server
