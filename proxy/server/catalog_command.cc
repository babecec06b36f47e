#include "proxy/server/catalog_command.h"

#include <cstdio>
#include <string>

#include "config/catalog/supported_kinds.h"
#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::server {

int printCatalog(const Options& options, const processing::BuiltinTypes& types) {
  const control::CompiledConfiguration read = control::readConfiguration(options.config, types);
  for (const config::Problem& problem : read.problems) std::fprintf(stderr, "%s\n", config::render(problem).c_str());
  if (read.catalog == nullptr) return 1;
  const std::string& gatewayClass = read.model.gatewayClassName;
  if (!options.publishIn.empty() && gatewayClass.empty()) {
    std::fprintf(stderr, "there is no GatewayClass of %s to publish it\n",
                 std::string(config::kControllerName).c_str());
    return 1;
  }
  const std::string text = options.publishIn.empty()
                               ? config::supportedKindsJson(*read.catalog, config::kindsConfigMap(read.model))
                               : config::publishedKindsJson(*read.catalog, gatewayClass, options.publishIn);
  std::printf("%s\n", text.c_str());
  return config::hasErrors(read.problems) ? 1 : 0;
}

}  // namespace sluice::server
