// Writes conditions for people: statusText() of config/status/conditions.h.
#include <algorithm>
#include <array>
#include <cstddef>

#include "config/status/conditions.h"

namespace sluice::config {
namespace {

/// A line of the table: the condition's place, type, status and reason. The message follows unaligned.
struct Row {
  std::array<std::string, 4> cells;
  std::string_view message;
};

void addRows(std::vector<Row>& rows, const std::string& where, const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions) {
    rows.push_back(Row{{where, condition.type, std::string(conditionStatusName(condition.status)), condition.reason},
                       condition.message});
  }
}

std::string parentName(const ObjectStatus& object, const ParentRef& ref) {
  std::string name = object.shape == StatusShape::kAncestors ? "target " + ref.object.kind + " " : "parent ";
  if (!ref.object.nameSpace.empty()) name += ref.object.nameSpace + "/";
  name += ref.object.name;
  if (!ref.sectionName.empty()) name += "/" + ref.sectionName;
  if (ref.port != 0) name += ":" + std::to_string(ref.port);
  return name;
}

/// Returns " (2 routes)" for the conditions of a listener, else nothing.
std::string routesOf(const ObjectStatus& object, const std::vector<Condition>& conditions) {
  for (const ListenerStatus& listener : object.listeners) {
    if (&listener.conditions != &conditions) continue;
    return listener.attachedRoutes == 1 ? " (1 route)" : " (" + std::to_string(listener.attachedRoutes) + " routes)";
  }
  return {};
}

std::vector<Row> rowsOf(const ObjectStatus& object) {
  std::vector<Row> rows;
  for (const auto& [where, conditions] : conditionsOf(object)) {
    addRows(rows, where + routesOf(object, *conditions), *conditions);
  }
  return rows;
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
  const std::vector<Row> rows = rowsOf(object);
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  std::string text = objectName(object);
  if (!object.group.empty()) text.append(" (").append(object.group).append(")");
  text += "\n";
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      line.append("  ").append(row.cells[i]).append(widths[i] - row.cells[i].size(), ' ');
    }
    if (!row.message.empty()) line.append("  ").append(row.message);
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace sluice::config
