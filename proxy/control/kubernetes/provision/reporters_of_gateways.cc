#include "proxy/control/kubernetes/provision/reporters_of_gateways.h"

#include <set>

#include "config/model/object_kinds.h"
#include "proxy/control/kubernetes/provision/gateway_to_run.h"

namespace sluice::control {

Reporters reportersOf(const config::Model& model, const std::string& home, bool keepsPods) {
  Reporters reporters{.home = home};
  for (const config::Gateway& each : model.all<config::Gateway>()) {
    std::set<std::string>& deployments = reporters.gateways[each.meta.qualifiedName()];
    if (keepsPods && each.gatewayClassName == model.gatewayClassName) deployments.insert(nameOfPods(each));
  }
  // Its Pods run on while a Gateway cannot be read.
  for (const config::Rejected& each : model.rejected) {
    if (config::isKindOf<config::Gateway>(each.group, each.kind)) {
      static_cast<void>(reporters.gateways[each.nameSpace + "/" + each.name]);
    }
  }
  return reporters;
}

}  // namespace sluice::control
