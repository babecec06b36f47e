#include "proxy/control/configuration/unknown_fields.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::control {
namespace {

constexpr std::size_t kMostFieldsNamed = 10;

/// Returns one message for each object that has such fields, by the object's name in problems.
std::map<std::string, std::vector<std::string>> unknownFieldsByObject(const config::Problems& problems) {
  std::map<std::string, std::vector<std::string>> fields;
  for (const config::Problem& each : problems) {
    const bool isUnknown = each.severity == config::Severity::kWarning && each.message.starts_with("unknown field");
    if (isUnknown && !each.object.empty()) fields[each.object].push_back(each.field);
  }
  return fields;
}

std::string ignoredText(const std::vector<std::string>& fields) {
  std::string text;
  for (std::size_t i = 0; i < fields.size() && i < kMostFieldsNamed; ++i) text += (i == 0 ? "" : ", ") + fields[i];
  if (fields.size() > kMostFieldsNamed) text += " and " + std::to_string(fields.size() - kMostFieldsNamed) + " more";
  return text + (fields.size() == 1 ? " is" : " are") + " not known to this version of sluice, and not read";
}

void addTo(std::vector<config::Condition>& conditions, const std::string& message) {
  config::Condition condition{std::string(kUnknownFields), config::ConditionStatus::kTrue, "UnknownFields", message,
                              std::nullopt};
  if (!conditions.empty()) condition.observedGeneration = conditions.front().observedGeneration;
  config::setCondition(conditions, std::move(condition));
}

}  // namespace

void addUnknownFields(config::StatusList& statuses, const config::Problems& problems) {
  const auto fields = unknownFieldsByObject(problems);
  if (fields.empty()) return;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const auto found = fields.find(config::objectName(statuses[i]));
    if (found == fields.end()) continue;
    auto status = std::make_shared<config::ObjectStatus>(statuses[i]);
    const std::string message = ignoredText(found->second);
    const bool isPlain =
        status->shape == config::StatusShape::kConditions || status->shape == config::StatusShape::kGateway;
    if (isPlain) addTo(status->conditions, message);
    for (config::ParentStatus& parent : status->parents) addTo(parent.conditions, message);
    for (config::ControllerStatus& controller : status->controllers) addTo(controller.conditions, message);
    statuses.replace(i, std::move(status));
  }
}

}  // namespace sluice::control
