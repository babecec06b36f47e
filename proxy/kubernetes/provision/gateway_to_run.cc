#include "proxy/kubernetes/provision/gateway_to_run.h"

#include <algorithm>
#include <utility>

#include "config/ground/patterns.h"
#include "proxy/pki/digest.h"

namespace sluice::kubernetes {
namespace {

constexpr std::size_t kMostBytes = 63;  // of a label's value, and of a Service's name
constexpr std::size_t kDigits = 8;

/// Cuts a text that is too long, or marks one that was changed, so that it differs from all others.
std::string marked(std::string text, std::string_view whole) {
  text.resize(std::min(text.size(), kMostBytes - kDigits - 1));
  return text + "-" + pki::toHex(pki::sha256(whole)).substr(0, kDigits);
}

}  // namespace

std::string gatewayNameLabel(const std::string& name) { return name.size() <= kMostBytes ? name : marked(name, name); }

std::string nameOfPods(const config::Gateway& gateway) {
  const bool isEgress = gateway.meta.kind == config::Gateway::kEgressKind;
  std::string name = gateway.meta.name + "-" + gateway.gatewayClassName + (isEgress ? "-egress" : "");
  const std::string whole = std::string(gateway.meta.kind) + "/" + gateway.meta.name + "/" + gateway.gatewayClassName;
  const bool fits = name.size() <= kMostBytes && name.find('.') == std::string::npos && !config::isDigit(name.front());
  if (fits && !isEgress) return name;
  std::replace(name.begin(), name.end(), '.', '-');
  if (config::isDigit(name.front())) name.insert(0, "gateway-");
  return marked(std::move(name), whole);
}

std::map<std::string, std::string> selectorOf(const config::Gateway& gateway) {
  return {{"app.kubernetes.io/name", "sluice"}, {std::string(kPodsLabel), nameOfPods(gateway)}};
}

namespace {

std::map<std::string, std::string> ownLabelsOf(const config::Gateway& gateway) {
  std::map<std::string, std::string> labels = selectorOf(gateway);
  labels.emplace(kManagedByLabel, kManagedBy);
  labels.emplace(kGatewayNameLabel, gatewayNameLabel(gateway.meta.name));
  labels.emplace(kGatewayNamespaceLabel, gateway.meta.nameSpace);
  labels.emplace("gateway.networking.k8s.io/gateway-class-name", gatewayNameLabel(gateway.gatewayClassName));
  return labels;
}

/// Clouds read from annotations of a ServiceAccount which of their identities its Pods get. Kubernetes leaves keys
/// without a domain in front to users, so no cloud reads those.
std::map<std::string, std::string> annotationsOf(const GatewayToRun& run, const ProvisionedKind& kind) {
  std::map<std::string, std::string> annotations = run.gateway.infrastructure.annotations;
  if (!run.serviceAccountAnnotations && kind.kind == provisioned::kServiceAccount.kind) {
    std::erase_if(annotations, [](const auto& each) { return each.first.find('/') != std::string::npos; });
  }
  return annotations;
}

}  // namespace

std::map<std::string, std::string> labelsOf(const config::Gateway& gateway) {
  std::map<std::string, std::string> labels = ownLabelsOf(gateway);
  labels.insert(gateway.infrastructure.labels.begin(), gateway.infrastructure.labels.end());
  return labels;
}

void writeTextMap(base::JsonWriter& json, const std::map<std::string, std::string>& texts) {
  json.beginObject();
  for (const auto& [key, value] : texts) json.member(key, value);
  json.endObject();
}

base::JsonWriter beginProvisioned(const GatewayToRun& run, const ProvisionedKind& kind, std::string_view nameSpace,
                                  std::string_view name) {
  const config::ObjectMeta& owner = run.gateway.meta;
  base::JsonWriter json;
  json.beginObject().member("apiVersion", kind.apiVersion()).member("kind", kind.kind);
  json.key("metadata").beginObject().member("name", name);
  if (kind.namespaced) json.member("namespace", nameSpace);
  const bool owned = nameSpace == owner.nameSpace;
  json.key("labels");
  writeTextMap(json, owned ? labelsOf(run.gateway) : ownLabelsOf(run.gateway));
  const auto annotations = owned ? annotationsOf(run, kind) : std::map<std::string, std::string>();
  if (!annotations.empty()) {
    json.key("annotations");
    writeTextMap(json, annotations);
  }
  if (owned) {
    json.key("ownerReferences").beginList().beginObject();
    json.member("apiVersion", run.apiVersion).member("kind", owner.kind).member("name", owner.name);
    json.member("uid", run.uid).key("controller").json("true").endObject().endList();
  } else if (!run.sharedRole.empty()) {
    json.key("ownerReferences").beginList().beginObject();
    json.member("apiVersion", provisioned::kClusterRole.apiVersion());
    json.member("kind", provisioned::kClusterRole.kind).member("name", kGatewayClusterRole);
    json.member("uid", run.sharedRole).endObject().endList();
  }
  json.endObject();
  return json;
}

ProvisionedObject provisionedFor(const GatewayToRun& run, const ProvisionedKind& kind, std::string_view nameSpace,
                                 std::string_view name, std::string body) {
  const config::ObjectMeta& owner = run.gateway.meta;
  return {.kind = &kind,
          .nameSpace = std::string(nameSpace),
          .name = std::string(name),
          .body = std::move(body),
          .gateway = owner.title(),
          .owner = nameSpace == owner.nameSpace ? run.uid : std::string()};
}

}  // namespace sluice::kubernetes
