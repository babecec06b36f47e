#include "proxy/server/command_line/kept_pod_flags.h"

#include "config/ground/patterns.h"

namespace sluice::server {

void takeKeptPod(CLI::App& run, CLI::Option* kubernetes, std::string& controllerNamespace, std::string& classKeys) {
  run.add_option(
         "--controller-namespace", controllerNamespace,
         "the namespace of the controller that manages this Pod and grants its rights (default: no controller does)")
      ->type_name("NAMESPACE")
      ->needs(kubernetes)
      ->check([](const std::string& text) {
        return config::isDnsLabel(text) ? std::string() : "'" + text + "' is not the name of a namespace";
      });
  run.add_option(
         "--class-keys", classKeys,
         "a Secret in the namespace of the Gateway whose keys are used instead of those that the settings of the "
         "GatewayClass name (default: the keys of the class)")
      ->type_name("NAME")
      ->needs(kubernetes)
      ->needs("--gateway")
      ->check([](const std::string& text) {
        return config::isDnsSubdomain(text) ? std::string() : "'" + text + "' is not the name of a Secret";
      });
}

}  // namespace sluice::server
