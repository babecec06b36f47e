#include "test/integration/support/kubernetes/written_statuses.h"

#include <algorithm>
#include <jsoncons/json.hpp>
#include <utility>
#include <vector>

namespace sluice::test {
namespace {

using jsoncons::json;

std::string textOf(const json& map, const char* key) {
  return map.contains(key) ? map.at(key).as<std::string>() : std::string();
}

/// Removes what may differ.
json comparable(const json& value) {
  if (value.is_array()) {
    std::vector<json> items;
    for (const json& each : value.array_range()) {
      // What replicas report: files have none.
      if (each.is_object() && textOf(each, "type").starts_with("sluice.dev/")) continue;
      items.push_back(comparable(each));
    }
    const bool conditions = !items.empty() && items.front().is_object() && items.front().contains("type") &&
                            items.front().contains("reason");
    if (conditions) {
      std::stable_sort(items.begin(), items.end(),
                       [](const json& a, const json& b) { return textOf(a, "type") < textOf(b, "type"); });
    }
    return json(jsoncons::json_array_arg, items.begin(), items.end());
  }
  if (!value.is_object()) return value;
  json made(jsoncons::json_object_arg);
  for (const auto& member : value.object_range()) {
    if (member.key() == "observedGeneration" || member.key() == "lastTransitionTime") continue;
    if (member.value().is_array() && member.value().empty()) continue;
    made.insert_or_assign(member.key(), comparable(member.value()));
  }
  return made;
}

std::string objectNamed(const std::string& kind, const std::string& group, const std::string& nameSpace,
                        const std::string& name) {
  return kind + "." + group + " " + nameSpace + "/" + name;
}

json listAt(const Kubectl& kubectl) {
  return json::parse(kubectl.expect({"get", kindsWithStatus(), "--all-namespaces", "-o", "json"}));
}

std::string nameIn(const json& object) {
  const std::string apiVersion = object.at("apiVersion").as<std::string>();
  const json& metadata = object.at("metadata");
  return objectNamed(object.at("kind").as<std::string>(), apiVersion.substr(0, apiVersion.find('/')),
                     textOf(metadata, "namespace"), textOf(metadata, "name"));
}

}  // namespace

std::string kindsWithStatus() {
  return "gatewayclasses,gateways,httproutes,grpcroutes,backendtlspolicies,xbackends,xbackendtrafficpolicies,"
         "backends.sluice.dev,payloadprocessors.sluice.dev,payloadprocessingpipelines.sluice.dev";
}

StatusByObject statusesIn(const std::string& document) {
  StatusByObject statuses;
  const json parsed = json::parse(document);
  const json& configuration = parsed.contains("configurations") ? parsed.at("configurations").at(0) : parsed;
  for (const json& each : configuration.at("objects").array_range()) {
    statuses[objectNamed(textOf(each, "kind"), textOf(each, "group"), textOf(each, "namespace"),
                         textOf(each, "name"))] = comparable(each.at("status")).as<std::string>();
  }
  return statuses;
}

StatusByObject statusesAt(const Kubectl& kubectl) {
  StatusByObject statuses;
  const json list = listAt(kubectl);
  for (const json& each : list.at("items").array_range()) {
    statuses[nameIn(each)] = each.contains("status") ? comparable(each.at("status")).as<std::string>() : "{}";
  }
  return statuses;
}

std::map<std::string, std::string> versionsAt(const Kubectl& kubectl) {
  std::map<std::string, std::string> versions;
  const json list = listAt(kubectl);
  for (const json& each : list.at("items").array_range()) {
    versions[nameIn(each)] = textOf(each.at("metadata"), "resourceVersion");
  }
  return versions;
}

std::string differences(const StatusByObject& expected, const StatusByObject& found) {
  std::string text;
  for (const auto& [name, status] : expected) {
    const auto other = found.find(name);
    if (other == found.end()) {
      text += name + " is missing\n";
    } else if (other->second != status) {
      text += name + "\n  expected: " + status + "\n  found:    " + other->second + "\n";
    }
  }
  for (const auto& [name, status] : found) {
    if (!expected.contains(name)) text += name + " is not expected\n";
  }
  return text;
}

}  // namespace sluice::test
