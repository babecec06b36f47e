#include "proxy/server/command_line/kept_pod_flags.h"

#include "config/ground/patterns.h"

namespace sluice::server {

void takeKeptPod(CLI::App& run, CLI::Option* kubernetes, std::string& controllerNamespace, std::string& classKeys) {
  run.add_option(
         "--controller-namespace", controllerNamespace,
         "the namespace of the controller that keeps this Pod, which says what it may read (default: none does)")
      ->type_name("NAMESPACE")
      ->needs(kubernetes)
      ->check([](const std::string& text) {
        return config::isDnsLabel(text) ? std::string() : "'" + text + "' is not the name of a namespace";
      });
  run.add_option(
         "--class-keys", classKeys,
         "the Secret in the namespace of the Gateway whose keys take the place of those that the settings of the "
         "GatewayClass name (default: those of the class)")
      ->type_name("NAME")
      ->needs(kubernetes)
      ->needs("--gateway")
      ->check([](const std::string& text) {
        return config::isDnsSubdomain(text) ? std::string() : "'" + text + "' is not the name of a Secret";
      });
}

}  // namespace sluice::server
