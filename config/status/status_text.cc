// Writes conditions for people. It implements statusText() of config/status/conditions.h.
#include <algorithm>

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

/// Returns all lists of conditions with their places.
template <typename Status>
auto placesOf(Status& object) {
  std::vector<std::pair<std::string, decltype(&object.conditions)>> all;
  all.emplace_back("", &object.conditions);
  for (auto& each : object.listeners) all.emplace_back("listener " + each.name, &each.conditions);
  for (auto& each : object.parents) all.emplace_back(parentName(object, each.parentRef), &each.conditions);
  for (auto& each : object.controllers) all.emplace_back("", &each.conditions);
  return all;
}

}  // namespace

std::vector<std::pair<std::string, const std::vector<Condition>*>> conditionsOf(const ObjectStatus& object) {
  return placesOf(object);
}

std::vector<Condition>* conditionsAt(ObjectStatus& object, std::string_view place) {
  const auto places = placesOf(object);
  // A Backend has conditions in the entry of its controller alone.
  const auto found =
      std::find_if(places.rbegin(), places.rend(), [&](const auto& each) { return each.first == place; });
  return found == places.rend() ? nullptr : found->second;
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
