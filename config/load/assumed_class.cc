#include "config/load/assumed_class.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "config/read/object_kinds.h"

namespace sluice::config {
namespace {

template <typename Object>
const Object& objectOf(const ObjectReading& reading) {
  return *static_cast<const Object*>(reading.object.get());
}

/// Returns the Gateway whose class is to be assumed; nullptr if there is none.
const ObjectReading* gatewayWithoutClass(const ObjectSet& set) {
  std::set<std::string_view> classes;
  std::vector<const ObjectReading*> gateways;
  for (const auto& readings : set.readings) {
    for (const ObjectReading& each : *readings) {
      if (each.kind == nullptr) continue;
      if (each.kind->isOf<Gateway>() && each.object != nullptr) gateways.push_back(&each);
      if (!each.kind->isOf<GatewayClass>()) continue;
      // A class that its schema refuses has problems of its own.
      if (each.object == nullptr || objectOf<GatewayClass>(each).controllerName == kControllerName) return nullptr;
      classes.insert(each.identity.name);
    }
  }
  const auto found = std::find_if(gateways.begin(), gateways.end(), [&](const ObjectReading* each) {
    return classes.count(objectOf<Gateway>(*each).gatewayClassName) == 0;
  });
  return found == gateways.end() ? nullptr : *found;
}

}  // namespace

void assumeClass(ObjectSet& set) {
  const ObjectReading* const reading = gatewayWithoutClass(set);
  if (reading == nullptr) return;
  const auto& gateway = objectOf<Gateway>(*reading);
  GatewayClass assumed;
  assumed.meta.group = kGatewayGroup;
  assumed.meta.kind = GatewayClass::kKind;
  assumed.meta.name = gateway.gatewayClassName;
  assumed.meta.position = reading->position;
  assumed.controllerName = kControllerName;
  ObjectReading added;
  added.identity = {std::string(kGatewayGroup), "v1", std::string(GatewayClass::kKind), {}, gateway.gatewayClassName};
  added.position = reading->position;
  added.kind = findObjectKind(added.identity.group, added.identity.kind);
  added.problems.push_back({Severity::kWarning, reading->position, gateway.meta.title(), "spec.gatewayClassName",
                            "GatewayClass " + assumed.meta.name +
                                " is not in these files: it is taken for one with "
                                "controllerName " +
                                assumed.controllerName + " and without settings"});
  added.object = std::make_shared<const GatewayClass>(std::move(assumed));
  set.readings.push_back(std::make_shared<const std::vector<ObjectReading>>(1, std::move(added)));
  set.texts.push_back(std::make_shared<const KeptText>("", base::Secret()));
}

}  // namespace sluice::config
