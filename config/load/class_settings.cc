#include "config/load/class_settings.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/read/data_document.h"
#include "config/read/gateways/settings_reader.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

const GatewayClass* ourGatewayClass(const Model& model) {
  const GatewayClass* ours = nullptr;
  const auto age = [](const GatewayClass& c) { return std::tie(c.meta.creationTimestamp, c.meta.name); };
  for (const GatewayClass& candidate : model.all<GatewayClass>()) {
    if (candidate.controllerName != kControllerName) continue;
    if (ours == nullptr || age(candidate) < age(*ours)) ours = &candidate;
  }
  return ours;
}

std::string nearestConfigMap(const Model& model, const ObjectRef& ref) {
  std::vector<std::string_view> names;
  for (const ConfigMap& each : model.all<ConfigMap>()) {
    if (each.meta.nameSpace == ref.nameSpace) names.push_back(each.meta.name);
  }
  std::sort(names.begin(), names.end());
  const std::string_view close = base::closestWord(ref.name, names);
  return close.empty() ? "" : "; did you mean " + std::string(close) + "?";
}

/// Returns the text of the settings. If there is none, returns nullptr and stores the reason in `fault`.
const ConfigMap::DataEntry* findSettingsText(const Model& model, const ObjectRef& ref, std::string& fault) {
  const std::string name = "ConfigMap " + (ref.nameSpace.empty() ? ref.name : ref.nameSpace + "/" + ref.name);
  if (!ref.group.empty() || ref.kind != "ConfigMap") {
    fault = "must refer to a ConfigMap of the core group";
  } else if (ref.nameSpace.empty()) {
    fault = "must name the namespace of the ConfigMap";
  } else if (const ConfigMap* configMap = model.find<ConfigMap>(ref.nameSpace, ref.name); configMap == nullptr) {
    fault = name + " does not exist" + nearestConfigMap(model, ref);
  } else if (const auto entry = configMap->data.find(std::string(kSettingsKey)); entry == configMap->data.end()) {
    fault = name + " has no key " + std::string(kSettingsKey);
  } else {
    return &entry->second;
  }
  return nullptr;
}

std::string configMapTitle(const ObjectRef& ref) { return "ConfigMap " + ref.nameSpace + "/" + ref.name; }

/// Reports the problem where the key is written, or at the innermost map around it.
void reportAt(FieldReader& reader, Severity severity, std::string_view key, std::string message) {
  Position position = reader.position();
  const Value* value = reader.value();
  for (std::string_view rest = key; value != nullptr && !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    value = value->find(rest.substr(0, dot));
    if (value != nullptr) position = value->position;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  ObjectContext& context = reader.context();
  severity == Severity::kError ? context.error(position, std::string(key), std::move(message))
                               : context.warning(position, std::string(key), std::move(message));
}

}  // namespace

std::string settingsOwner(const Model& model) {
  const GatewayClass* const ours = ourGatewayClass(model);
  if (ours == nullptr) return "";
  return ours->parametersRef ? configMapTitle(*ours->parametersRef) : ours->meta.title();
}

Problem settingsProblem(const Model& model, Severity severity, std::string_view key, std::string message) {
  const GatewayClass* const ours = ourGatewayClass(model);
  std::string fault;
  const ConfigMap::DataEntry* const entry =
      ours == nullptr || !ours->parametersRef ? nullptr : findSettingsText(model, *ours->parametersRef, fault);
  Problems found;
  if (entry != nullptr) {
    readDataDocument(*entry, configMapTitle(*ours->parametersRef), kSettingsKey, found,
                     [&](FieldReader reader) { reportAt(reader, severity, key, message); });
  }
  if (!found.empty()) return std::move(found.front());
  return {severity, {}, settingsOwner(model), std::string(key), std::move(message)};
}

void resolveSettings(Model& model, Problems& problems) {
  const GatewayClass* gatewayClass = ourGatewayClass(model);
  if (gatewayClass == nullptr) return;
  model.gatewayClassName = gatewayClass->meta.name;
  if (!gatewayClass->parametersRef) return;
  const ObjectRef& ref = *gatewayClass->parametersRef;
  const ConfigMap::DataEntry* entry = findSettingsText(model, ref, model.settingsFault);
  if (entry == nullptr) {
    problems.push_back(
        {Severity::kError, ref.position, "GatewayClass " + gatewayClass->meta.name, ref.path, model.settingsFault});
    return;
  }
  const std::string object = configMapTitle(ref);
  if (const Rejected* kept = model.findKept(ref.group, ref.kind, ref.nameSpace, ref.name)) {
    model.settingsKept = object + ": " + kept->message;
  }
  Problems found;
  std::optional<base::Settings> settings = readSettings(*entry, object, found);
  if (settings) {
    model.settings = std::move(*settings);
  } else {
    model.settingsFault = found.front().field + ": " + found.front().message;
  }
  problems.insert(problems.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

}  // namespace sluice::config
