// Reads what a policy of Envoy Gateway's kinds names: `targetRefs`, the older `targetRef`, and `targetSelectors`. The
// rest of the spec of a policy whose kind is not supported belongs to a feature that is not there and is not looked at.
#include <algorithm>
#include <string>
#include <utility>

#include "config/model/stray_target.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

/// Kinds that the API allows and that are known, but not served here: nothing is attached to their objects.
constexpr std::string_view kOtherTargets[] = {"ListenerSet", "TLSRoute", "TCPRoute", "UDPRoute"};

bool isTargetKind(const PolicyTarget& target) {
  const auto& [group, kind] = std::pair(target.object.group, target.object.kind);
  if (group == kPrototypeGroup) return kind == Gateway::kEgressKind;
  if (group != kGatewayGroup) return false;
  return kind == Gateway::kKind || kind == HttpRoute::kKind || kind == GrpcRoute::kKind ||
         std::find(std::begin(kOtherTargets), std::end(kOtherTargets), kind) != std::end(kOtherTargets);
}

/// A selector that is not legible is left out, because it could mean every object of the namespace.
void readPolicySelector(FieldReader reader, PolicyTargets& named) {
  const std::size_t errors = reader.context().errors();
  PolicyTargetSelector selector;
  selector.group = reader.has("group") ? reader.text("group", rule::kGroup) : std::string(kGatewayGroup);
  selector.kind = reader.requiredText("kind", rule::kKind);
  const bool wider = reader.has("namespaces");
  const bool legible = reader.context().errors() == errors;
  selector.labels = readLabelSelector(reader);
  const bool stray = legible && isStray(selector);
  const std::string hint = nearestTargetKind(selector);
  if (reader.context().errors() == errors) named.selectors.push_back(std::move(selector));
  if (stray) reader.error("kind", "is no kind that policies can be for" + hint);
  if (wider) {
    reader.error("namespaces", "is not supported: only objects of the policy's own namespace are meant");
  }
}

}  // namespace

PolicyTargets readPolicyTargets(FieldReader& spec) {
  PolicyTargets named;
  for (const Item& item : spec.list("targetRefs", kMaxPolicyTargets)) readPolicyTarget(spec.map(item), named);
  if (spec.has("targetRef")) readPolicyTarget(spec.map("targetRef"), named);
  for (const Item& item : spec.list("targetSelectors", kMaxPolicyTargets)) readPolicySelector(spec.map(item), named);
  if (!spec.has("targetRefs") && !spec.has("targetRef") && !spec.has("targetSelectors")) spec.require("targetRefs");
  return named;
}

void checkEnvoyTargets(FieldReader& spec, const PolicyTargets& named) {
  for (const PolicyTarget& each : named.targets) {
    if (!each.legible() || isTargetKind(each)) continue;
    spec.context().error(each.object.position, each.object.path + ".kind",
                         "must be Gateway, HTTPRoute or GRPCRoute of " + std::string(kGatewayGroup) + ", but is " +
                             base::quote(each.object.kind + "." + each.object.group) + nearestTargetKind(each));
  }
}

std::optional<UnsupportedPolicy> readUnsupportedPolicy(FieldReader& root, ObjectMeta meta) {
  UnsupportedPolicy policy;
  policy.meta = std::move(meta);
  policy.note = "kind: " + std::string(kUnsupportedPolicyNote);
  root.context().warning(root.positionOf("kind"), "kind", std::string(kUnsupportedPolicyNote));
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) static_cast<PolicyTargets&>(policy) = readPolicyTargets(spec);
  spec.ignoreOthers();
  spec.finish();
  if (policy.empty()) return std::nullopt;
  return policy;
}

}  // namespace sluice::config
