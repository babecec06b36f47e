#include "test/integration/support/kubernetes/written_statuses.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proxy/content/json.h"

namespace sluice::test {
namespace {

using content::Member;
using content::Value;

/// Fails by an exception, which GoogleTest reports, if the text is no JSON.
Value parsed(const std::string& text) { return content::parseJson(text, {.bytes = text.size()}).value(); }

/// Returns an empty value if there is no such member.
const Value& memberAt(const Value& map, std::string_view key) {
  static const Value kNone;
  const Value* found = map.find(key);
  return found != nullptr ? *found : kNone;
}
const std::string& textOf(const Value& map, std::string_view key) { return memberAt(map, key).text; }

/// Removes the parts that may differ, and sorts the others.
Value comparable(const Value& value) {
  Value made;
  made.kind = value.kind;
  made.text = value.text;
  for (const Value& each : value.items) {
    // The conditions that come from reports of replicas: files have none.
    if (!textOf(each, "type").starts_with("sluice.dev/")) made.items.push_back(comparable(each));
  }
  const auto isCondition = [](const Value& each) { return each.find("type") && each.find("reason"); };
  if (std::all_of(made.items.begin(), made.items.end(), isCondition)) {
    std::stable_sort(made.items.begin(), made.items.end(),
                     [](const Value& a, const Value& b) { return textOf(a, "type") < textOf(b, "type"); });
  }
  for (const Member& member : value.members) {
    if (member.key == "observedGeneration" || member.key == "lastTransitionTime") continue;
    if (member.value.isList() && member.value.items.empty()) continue;
    made.members.push_back({member.key, {}, comparable(member.value)});
  }
  std::sort(made.members.begin(), made.members.end(), [](const Member& a, const Member& b) { return a.key < b.key; });
  return made;
}

std::string objectNamed(const std::string& kind, const std::string& group, const std::string& nameSpace,
                        const std::string& name) {
  return kind + "." + group + " " + nameSpace + "/" + name;
}

Value listAt(const Kubectl& kubectl) {
  return parsed(kubectl.expect({"get", kindsWithStatus(), "--all-namespaces", "-o", "json"}));
}

std::string nameIn(const Value& object) {
  const std::string& apiVersion = textOf(object, "apiVersion");
  const Value& metadata = memberAt(object, "metadata");
  return objectNamed(textOf(object, "kind"), apiVersion.substr(0, apiVersion.find('/')), textOf(metadata, "namespace"),
                     textOf(metadata, "name"));
}

}  // namespace

std::string kindsWithStatus() {
  return "gatewayclasses,gateways,httproutes,grpcroutes,backendtlspolicies,xbackends,xbackendtrafficpolicies,"
         "backends.sluice.dev,payloadprocessors.sluice.dev,payloadprocessingpipelines.sluice.dev";
}

StatusByObject statusesIn(const std::string& document) {
  StatusByObject statuses;
  const Value whole = parsed(document);
  const Value* configurations = whole.find("configurations");
  const Value& configuration = configurations != nullptr ? configurations->items.at(0) : whole;
  for (const Value& each : memberAt(configuration, "objects").items) {
    statuses[objectNamed(textOf(each, "kind"), textOf(each, "group"), textOf(each, "namespace"),
                         textOf(each, "name"))] = content::writeJson(comparable(memberAt(each, "status")));
  }
  return statuses;
}

StatusByObject statusesAt(const Kubectl& kubectl) {
  StatusByObject statuses;
  const Value list = listAt(kubectl);
  for (const Value& each : memberAt(list, "items").items) {
    const Value* status = each.find("status");
    statuses[nameIn(each)] = status != nullptr ? content::writeJson(comparable(*status)) : "{}";
  }
  return statuses;
}

std::map<std::string, std::string> versionsAt(const Kubectl& kubectl) {
  std::map<std::string, std::string> versions;
  const Value list = listAt(kubectl);
  for (const Value& each : memberAt(list, "items").items) {
    versions[nameIn(each)] = textOf(memberAt(each, "metadata"), "resourceVersion");
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
