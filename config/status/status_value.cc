// Makes values of conditions, in the form of the API. It implements statusValue() and its kin of
// config/status/conditions.h.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/base/timestamp.h"
#include "proxy/content/output/make_value.h"
#include "proxy/content/output/output.h"

namespace sluice::config {
namespace {

using content::ifAny;
using content::makeList;
using content::makeMap;

std::optional<std::string> timeText(const std::optional<base::WallTime>& time) {
  if (!time) return std::nullopt;
  return std::string(base::Timestamp().text(*time));
}

Value valueOf(const std::vector<Condition>& conditions) {
  return makeList(conditions, [](const Condition& condition) {
    return makeMap({{"type", condition.type},
                    {"status", conditionStatusName(condition.status)},
                    {"reason", condition.reason},
                    {"message", condition.message},
                    {"observedGeneration", condition.observedGeneration},
                    {"lastTransitionTime", timeText(condition.lastTransitionTime)}});
  });
}

Value valueOf(const std::vector<ListenerStatus>& listeners) {
  const auto kindValue = [](const RouteKind& kind) { return makeMap({{"group", kind.group}, {"kind", kind.kind}}); };
  return makeList(listeners, [&](const ListenerStatus& listener) {
    return makeMap({{"name", listener.name},
                    {"attachedRoutes", listener.attachedRoutes},
                    {"supportedKinds", makeList(listener.supportedKinds, kindValue)},
                    {"conditions", valueOf(listener.conditions)}});
  });
}

Value valueOf(const std::vector<AddressStatus>& addresses) {
  return makeList(addresses, [](const AddressStatus& address) {
    return makeMap({{"type", address.type}, {"value", address.value}});
  });
}

Value valueOf(const ParentRef& ref) {
  return makeMap({{"group", ref.object.group},
                  {"kind", ref.object.kind},
                  {"namespace", ifAny(ref.object.nameSpace)},
                  {"name", ref.object.name},
                  {"sectionName", ifAny(ref.sectionName)},
                  {"port", ref.port != 0 ? std::optional(ref.port) : std::nullopt}});
}

/// Returns one entry for each parent. `ref` is the name of the entry's reference.
Value valueOf(const std::vector<ParentStatus>& parents, std::string_view ref) {
  return makeList(parents, [ref](const ParentStatus& parent) {
    return makeMap({{ref, valueOf(parent.parentRef)},
                    {"controllerName", parent.controllerName},
                    {"conditions", valueOf(parent.conditions)}});
  });
}

Value valueOf(const std::vector<ControllerStatus>& controllers) {
  return makeList(controllers, [](const ControllerStatus& controller) {
    return makeMap({{"name", controller.name}, {"conditions", valueOf(controller.conditions)}});
  });
}

Value valueOfConditions(const ObjectStatus& object) {
  Value status = makeMap({{"conditions", valueOf(object.conditions)}});
  if (object.supportedFeatures.empty()) return status;
  const auto named = [](const std::string& name) { return makeMap({{"name", name}}); };
  addMembers(status, {{"supportedFeatures", makeList(object.supportedFeatures, named)}});
  return status;
}

}  // namespace

Value statusValue(const ObjectStatus& object) {
  switch (object.shape) {
    case StatusShape::kConditions:
      return valueOfConditions(object);
    case StatusShape::kGateway:
      return makeMap({{"conditions", valueOf(object.conditions)},
                      {"listeners", valueOf(object.listeners)},
                      {"addresses", valueOf(object.addresses)}});
    case StatusShape::kParents:
      return makeMap({{"parents", valueOf(object.parents, "parentRef")}});
    case StatusShape::kAncestors:
      return makeMap({{"ancestors", valueOf(object.parents, "ancestorRef")}});
    case StatusShape::kControllers:
      return makeMap({{"controllers", valueOf(object.controllers)}});
  }
  return {};
}

Value objectStatusValue(const ObjectStatus& object) {
  return makeMap({{"group", object.group},
                  {"kind", object.kind},
                  {"namespace", object.nameSpace},
                  {"name", object.name},
                  {"status", statusValue(object)},
                  {"servedRevision", ifAny(object.servedRevision)},
                  {"servedSince", timeText(object.servedSince)}});
}

std::string statusJson(const ObjectStatus& object) { return content::outputJson(statusValue(object)); }
std::string objectStatusJson(const ObjectStatus& object) { return content::outputJson(objectStatusValue(object)); }

}  // namespace sluice::config
