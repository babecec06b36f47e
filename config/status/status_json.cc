// Writes conditions as JSON of the API. It implements statusJson() and objectStatusJson() of
// config/status/conditions.h.
#include "config/status/conditions.h"
#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"

namespace sluice::config {
namespace {

void writeConditions(base::JsonWriter& json, const std::vector<Condition>& conditions) {
  json.key("conditions").beginList();
  for (const Condition& condition : conditions) {
    json.beginObject();
    json.member("type", condition.type);
    json.member("status", conditionStatusName(condition.status));
    json.member("reason", condition.reason);
    json.member("message", condition.message);
    if (condition.observedGeneration) json.member("observedGeneration", *condition.observedGeneration);
    if (condition.lastTransitionTime) {
      json.member("lastTransitionTime", base::Timestamp().text(*condition.lastTransitionTime));
    }
    json.endObject();
  }
  json.endList();
}

void writeFeatures(base::JsonWriter& json, const std::vector<std::string>& names) {
  if (names.empty()) return;
  json.key("supportedFeatures").beginList();
  for (const std::string& name : names) json.beginObject().member("name", name).endObject();
  json.endList();
}

void writeListeners(base::JsonWriter& json, const std::vector<ListenerStatus>& listeners) {
  json.key("listeners").beginList();
  for (const ListenerStatus& listener : listeners) {
    json.beginObject().member("name", listener.name).member("attachedRoutes", std::int64_t{listener.attachedRoutes});
    json.key("supportedKinds").beginList();
    for (const RouteKind& kind : listener.supportedKinds) {
      json.beginObject().member("group", kind.group).member("kind", kind.kind).endObject();
    }
    json.endList();
    writeConditions(json, listener.conditions);
    json.endObject();
  }
  json.endList();
}

void writeAddresses(base::JsonWriter& json, const std::vector<AddressStatus>& addresses) {
  json.key("addresses").beginList();
  for (const AddressStatus& address : addresses) {
    json.beginObject().member("type", address.type).member("value", address.value).endObject();
  }
  json.endList();
}

void writeRef(base::JsonWriter& json, std::string_view key, const ParentRef& ref) {
  json.key(key).beginObject();
  json.member("group", ref.object.group).member("kind", ref.object.kind);
  if (!ref.object.nameSpace.empty()) json.member("namespace", ref.object.nameSpace);
  json.member("name", ref.object.name);
  if (!ref.sectionName.empty()) json.member("sectionName", ref.sectionName);
  if (ref.port != 0) json.member("port", std::int64_t{ref.port});
  json.endObject();
}

/// Writes `list`, which has one entry for each parent. `ref` is the name of the entry's reference.
void writeParents(base::JsonWriter& json, std::string_view list, std::string_view ref,
                  const std::vector<ParentStatus>& parents) {
  json.key(list).beginList();
  for (const ParentStatus& parent : parents) {
    json.beginObject();
    writeRef(json, ref, parent.parentRef);
    json.member("controllerName", parent.controllerName);
    writeConditions(json, parent.conditions);
    json.endObject();
  }
  json.endList();
}

void writeControllers(base::JsonWriter& json, const std::vector<ControllerStatus>& controllers) {
  json.key("controllers").beginList();
  for (const ControllerStatus& controller : controllers) {
    json.beginObject().member("name", controller.name);
    writeConditions(json, controller.conditions);
    json.endObject();
  }
  json.endList();
}

}  // namespace

std::string statusJson(const ObjectStatus& object) {
  base::JsonWriter json;
  json.beginObject();
  switch (object.shape) {
    case StatusShape::kConditions:
      writeConditions(json, object.conditions);
      writeFeatures(json, object.supportedFeatures);
      break;
    case StatusShape::kGateway:
      writeConditions(json, object.conditions);
      writeListeners(json, object.listeners);
      writeAddresses(json, object.addresses);
      break;
    case StatusShape::kParents:
      writeParents(json, "parents", "parentRef", object.parents);
      break;
    case StatusShape::kAncestors:
      writeParents(json, "ancestors", "ancestorRef", object.parents);
      break;
    case StatusShape::kControllers:
      writeControllers(json, object.controllers);
      break;
  }
  return json.endObject().take();
}

std::string objectStatusJson(const ObjectStatus& object) {
  base::JsonWriter json;
  json.beginObject().member("group", object.group).member("kind", object.kind);
  json.member("namespace", object.nameSpace).member("name", object.name);
  json.key("status").json(statusJson(object));
  if (!object.servedRevision.empty()) json.member("servedRevision", object.servedRevision);
  if (object.servedSince) json.member("servedSince", base::Timestamp().text(*object.servedSince));
  return json.endObject().take();
}

}  // namespace sluice::config
