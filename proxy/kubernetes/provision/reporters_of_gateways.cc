#include "proxy/kubernetes/provision/reporters_of_gateways.h"

#include <set>

#include "config/read/object_kinds.h"
#include "proxy/kubernetes/provision/gateway_to_run.h"

namespace sluice::kubernetes {

Reporters reportersOf(const config::Model& model, const std::string& home, bool keepsPods) {
  Reporters reporters{.home = home};
  const auto add = [&](const config::Gateway& gateway) {
    if (gateway.gatewayClassName != model.gatewayClassName) return;
    std::set<std::string>& deployments = reporters.gateways[gateway.meta.qualifiedName()];
    if (keepsPods) deployments.insert(nameOfPods(gateway));
  };
  for (const config::Gateway& each : model.all<config::Gateway>()) add(each);
  // Its Pods run on while a Gateway cannot be read.
  for (const config::Rejected& each : model.rejected) {
    if (!config::isKindOf<config::Gateway>(each.group, each.kind)) continue;
    const auto* legible = each.legible<config::Gateway>();
    if (legible != nullptr && !legible->gatewayClassName.empty()) {
      add(*legible);
    } else {
      static_cast<void>(reporters.gateways[each.nameSpace + "/" + each.name]);
    }
  }
  return reporters;
}

}  // namespace sluice::kubernetes
