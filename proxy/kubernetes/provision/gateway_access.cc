#include "proxy/kubernetes/provision/gateway_access.h"

#include <cstddef>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sluice::kubernetes {
namespace {

struct ReadableNames {
  std::set<std::string> secrets = {};
  std::set<std::string> configMaps = {};
};
/// An API server takes objects of up to 1.5 MB, and the authors of routes and policies decide how many names there are.
constexpr std::size_t kMostBytesOfNames = std::size_t{1} << 20;
constexpr std::size_t kBytesAroundName = 3;  // quotes and a comma

/// Removes the last names, so that the others take at most `room` bytes in a Role, and subtracts their size from
/// `room`.
void boundNames(std::set<std::string>& names, std::size_t& room) {
  auto each = names.begin();
  for (; each != names.end() && each->size() + kBytesAroundName <= room; ++each)
    room -= each->size() + kBytesAroundName;
  names.erase(each, names.end());
}

using NamesByNamespace = std::map<std::string, ReadableNames>;

void addNames(const NamedObjects& names, NamesByNamespace& result) {
  for (const auto& [nameSpace, name] : names.secrets) result[nameSpace].secrets.insert(name);
  for (const auto& [nameSpace, name] : names.configMaps) result[nameSpace].configMaps.insert(name);
}

template <typename Texts>
void writeTextList(base::JsonWriter& json, std::string_view key, const Texts& texts) {
  json.key(key).beginList();
  for (const auto& each : texts) json.text(each);
  json.endList();
}

/// Writes a rule of a Role. Without names it applies to all objects of the resource.
void writeRoleRule(base::JsonWriter& json, std::string_view group, std::string_view resource,
                   const std::set<std::string>& names, std::initializer_list<std::string_view> verbs) {
  json.beginObject();
  writeTextList(json, "apiGroups", std::initializer_list<std::string_view>{group});
  writeTextList(json, "resources", std::initializer_list<std::string_view>{resource});
  if (!names.empty()) writeTextList(json, "resourceNames", names);
  writeTextList(json, "verbs", verbs);
  json.endObject();
}

void writeSubject(base::JsonWriter& json, const config::Gateway& gateway) {
  json.beginObject().member("kind", provisioned::kServiceAccount.kind).member("name", nameOfPods(gateway));
  json.member("namespace", gateway.meta.nameSpace).endObject();
}

void writeRoleRef(base::JsonWriter& json, std::string_view kind, std::string_view name) {
  json.key("roleRef").beginObject().member("apiGroup", provisioned::kRole.group).member("kind", kind);
  json.member("name", name).endObject();
}

ProvisionedObject roleOf(const GatewayToRun& run, const std::string& nameSpace, const std::string& name,
                         const ReadableNames& names) {
  base::JsonWriter json = beginProvisioned(run, provisioned::kRole, nameSpace, name);
  json.key("rules").beginList();
  if (nameSpace == run.gateway.meta.nameSpace) {
    writeRoleRule(json, "coordination.k8s.io", "leases", {}, {"create", "patch", "delete"});
    writeRoleRule(json, config::kOwnGroup, "egressrevisions", {}, {"create", "list", "watch"});
  }
  if (!names.secrets.empty()) writeRoleRule(json, "", "secrets", names.secrets, {"list", "watch"});
  if (!names.configMaps.empty()) writeRoleRule(json, "", "configmaps", names.configMaps, {"list", "watch"});
  return provisionedFor(run, provisioned::kRole, nameSpace, name, json.endList().endObject().take());
}

/// Returns a binding of the Gateway's ServiceAccount to a role; without a namespace, to a ClusterRole.
ProvisionedObject bindingOf(const GatewayToRun& run, const std::string& nameSpace, const std::string& name,
                            std::string_view roleKind, std::string_view role) {
  const ProvisionedKind& kind = nameSpace.empty() ? provisioned::kClusterRoleBinding : provisioned::kRoleBinding;
  base::JsonWriter json = beginProvisioned(run, kind, nameSpace, name);
  writeRoleRef(json, roleKind, role);
  json.key("subjects").beginList();
  writeSubject(json, run.gateway);
  return provisionedFor(run, kind, nameSpace, name, json.endList().endObject().take());
}

}  // namespace

std::vector<ProvisionedObject> accessOf(const GatewayToRun& run, const NamesOfGateways& names) {
  const config::ObjectMeta& gateway = run.gateway.meta;
  NamesByNamespace readable;
  ReadableNames& ofGateway = readable[gateway.nameSpace];
  if (!run.classKeys.empty()) ofGateway.secrets.insert(run.classKeys);
  addNames(names.common, readable);
  const auto own = names.own.find({std::string(gateway.kind), gateway.nameSpace, gateway.name});
  if (own != names.own.end()) addNames(own->second, readable);
  // Gateways of several namespaces may have the same name. A namespace has no dots.
  const std::string name = gateway.nameSpace + "." + nameOfPods(run.gateway);
  std::vector<ProvisionedObject> objects;
  for (auto& [nameSpace, each] : readable) {
    std::size_t room = kMostBytesOfNames;
    boundNames(each.secrets, room);
    boundNames(each.configMaps, room);
    objects.push_back(roleOf(run, nameSpace, name, each));
    objects.push_back(bindingOf(run, nameSpace, name, provisioned::kRole.kind, name));
  }
  const std::string shared(kGatewayClusterRole);
  objects.push_back(bindingOf(run, {}, shared + "." + name, "ClusterRole", shared));
  return objects;
}

}  // namespace sluice::kubernetes
