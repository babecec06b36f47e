// Writes conditions for people. It implements statusText() of config/status/conditions.h.
#include "config/status/conditions.h"
#include "proxy/content/output/text_table.h"

namespace sluice::config {
namespace {

std::string parentName(const ObjectStatus& object, const ParentRef& ref) {
  std::string name = object.shape == StatusShape::kAncestors ? "target " + ref.object.kind + " " : "parent ";
  if (!ref.object.nameSpace.empty()) name += ref.object.nameSpace + "/";
  name += ref.object.name;
  if (!ref.sectionName.empty()) name += "/" + ref.sectionName;
  if (ref.port != 0) name += ":" + std::to_string(ref.port);
  return name;
}

/// Returns " (2 routes)" for the conditions of a listener, or else an empty text.
std::string routesOf(const ObjectStatus& object, const std::vector<Condition>& conditions) {
  for (const ListenerStatus& listener : object.listeners) {
    if (&listener.conditions != &conditions) continue;
    return listener.attachedRoutes == 1 ? " (1 route)" : " (" + std::to_string(listener.attachedRoutes) + " routes)";
  }
  return {};
}

}  // namespace

std::vector<std::pair<std::string, const std::vector<Condition>*>> conditionsOf(const ObjectStatus& object) {
  std::vector<std::pair<std::string, const std::vector<Condition>*>> all;
  all.emplace_back("", &object.conditions);
  for (const ListenerStatus& each : object.listeners) all.emplace_back("listener " + each.name, &each.conditions);
  for (const ParentStatus& each : object.parents) {
    all.emplace_back(parentName(object, each.parentRef), &each.conditions);
  }
  for (const ControllerStatus& each : object.controllers) all.emplace_back("", &each.conditions);
  return all;
}

std::string objectName(const ObjectStatus& object) {
  return std::string(object.kind) + " " +
         (object.nameSpace.empty() ? object.name : object.nameSpace + "/" + object.name);
}

std::string statusText(const ObjectStatus& object) {
  content::TextTable table({}, {.indent = 2, .gap = 2});
  for (const auto& [where, conditions] : conditionsOf(object)) {
    const std::string place = where + routesOf(object, *conditions);
    for (const Condition& each : *conditions) {
      table.add({place, each.type, std::string(conditionStatusName(each.status)), each.reason, each.message});
    }
  }
  std::string text = objectName(object);
  if (!object.group.empty()) text.append(" (").append(object.group).append(")");
  return text + "\n" + table.text();
}

}  // namespace sluice::config
