// Reads the targets of policies of Envoy Gateway's kinds: `targetRefs`, the older `targetRef`, and `targetSelectors`.
// If the kind of a policy is not supported, the rest of its spec is not read.
#include <algorithm>
#include <string>

#include "config/read/object_readers.h"
#include "config/read/stray_target.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

/// Kinds that the API allows and that are not supported here. Nothing is attached to their objects.
constexpr std::string_view kOtherTargets[] = {"ListenerSet", "TLSRoute", "TCPRoute", "UDPRoute"};

bool isTargetKind(const PolicyTargetKind& target) {
  const auto& [group, kind, groupLegible] = target;
  if (group == kPrototypeGroup) return kind == Gateway::kEgressKind;
  if (group != kGatewayGroup) return false;
  return kind == Gateway::kKind || kind == HttpRoute::kKind || kind == GrpcRoute::kKind ||
         std::find(std::begin(kOtherTargets), std::end(kOtherTargets), kind) != std::end(kOtherTargets);
}

/// A selector is kept as far as it can be read. It then selects too many objects rather than too few, as a target does.
void readPolicySelector(FieldReader& reader, PolicyTargetSelector& selector) {
  const Value* group = reader.find("group");
  const bool core = group != nullptr && group->isString() && group->text.empty();
  if (!core) selector.group = group == nullptr ? std::string(kGatewayGroup) : reader.text("group", rule::kGroup);
  selector.groupLegible = core || !selector.group.empty();
  reader.read(required("kind"), selector.kind, rule::kKind);
  const bool wider = reader.has("namespaces");
  readLabelSelector(reader, selector.labels);
  reader.finish();
  if (isStray(selector.targetKind())) {
    reader.error("kind", "is no kind that policies can be for" + nearestTargetKind(selector.targetKind()));
  }
  if (wider) {
    reader.error("namespaces", "is not supported: only objects of the policy's own namespace are meant");
  }
}

void checkEnvoyTarget(FieldReader& spec, const PolicyTargetKind& kind, const std::string& path,
                      const Position& position) {
  if (!kind.legible() || isTargetKind(kind)) return;
  spec.context().error(position, path + ".kind",
                       "must be Gateway, HTTPRoute or GRPCRoute of " + std::string(kGatewayGroup) + ", but is " +
                           base::quote(kind.text()) + nearestTargetKind(kind));
}

}  // namespace

void readPolicyTargets(FieldReader& spec, PolicyTargets& named) {
  for (const Item& item : spec.list("targetRefs", kMaxPolicyTargets)) readPolicyTarget(spec.map(item), named);
  if (spec.has("targetRef")) readPolicyTarget(spec.map("targetRef"), named);
  spec.read("targetSelectors", named.selectors, kMaxPolicyTargets, readPolicySelector);
  if (!spec.has("targetRefs") && !spec.has("targetRef") && !spec.has("targetSelectors")) spec.require("targetRefs");
}

void checkEnvoyTargets(FieldReader& spec, const PolicyTargets& named) {
  for (const PolicyTarget& each : named.targets) {
    checkEnvoyTarget(spec, each.targetKind(), each.object.path, each.object.position);
  }
  for (const PolicyTargetSelector& each : named.selectors) {
    // A stray kind was reported when the selector was read.
    if (!isStray(each.targetKind())) checkEnvoyTarget(spec, each.targetKind(), each.path, each.position);
  }
}

void readUnsupportedPolicy(FieldReader& root, UnsupportedPolicy& policy) {
  policy.note = {"kind", std::string(kUnsupportedPolicyNote)};
  root.context().warning(root.positionOf("kind"), "kind", std::string(kUnsupportedPolicyNote));
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (spec.given()) readPolicyTargets(spec, policy);
}

}  // namespace sluice::config
