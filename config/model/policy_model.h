// What policies of other APIs name, and the policies whose kinds are known and not served. What those would do to
// traffic is not read; what they name is, because it must not be served without them. Plain values; see model.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/finding.h"
#include "config/ground/object_meta.h"
#include "proxy/base/label_selector.h"

namespace sluice::config {

/// The group of Envoy Gateway's own kinds.
inline constexpr std::string_view kEnvoyGroup = "gateway.envoyproxy.io";

/// This is said of each policy whose kind is not served at all, at its field `kind`.
inline constexpr std::string_view kUnsupportedPolicyNote =
    "policies of this kind are not supported: its targets answer 500";

/// A section of an object, as policies name it: a listener or a rule by its name, and a port by its name or its number.
/// Names of ports are no numbers. Without both it is the whole object.
struct PolicySection {
  std::string_view name = {};
  std::uint16_t port = 0;

  bool isWhole() const { return name.empty() && port == 0; }
};

/// The kind of the objects that a target or a selector means, as far as it is legible.
struct PolicyTargetKind {
  std::string_view group;
  std::string_view kind;     // empty if it is not legible: then objects of all kinds are meant
  bool groupLegible = true;  // false: the kind of all groups is meant

  /// Returns true if objects with that metadata are of this kind. None is of a stray one.
  bool means(const ObjectMeta& other) const;
  bool legible() const { return groupLegible && !kind.empty(); }
  /// Returns "HTTPRoute.gateway.networking.k8s.io", and the kind alone for the core group.
  std::string text() const;
};

/// An object of the policy's namespace, or a section of it.
struct PolicyTarget {
  ObjectRef object;  // see targetKind() for the group and the kind
  bool groupLegible = true;
  /// Name of a listener, a rule or a port, or the number of a port; empty: the whole object.
  std::string sectionName;

  PolicyTargetKind targetKind() const { return {object.group, object.kind, groupLegible}; }
  /// Returns true if the target means an object with that metadata, as far as the target is legible. A stray target
  /// means none.
  bool means(const ObjectMeta& other) const { return object.name == other.name && targetKind().means(other); }
  /// Returns true if the target is exactly that section of its object.
  bool names(const PolicySection& section) const;
  bool legible() const { return targetKind().legible(); }
};

/// All objects of one kind of the policy's namespace that have certain labels.
struct PolicyTargetSelector {
  std::string group;  // see targetKind() for the group and the kind
  std::string kind;
  bool groupLegible = true;
  base::LabelSelector labels;  // selects every object if the labels are not legible
  std::string path;            // path of the field that holds it
  Position position;

  PolicyTargetKind targetKind() const { return {group, kind, groupLegible}; }
  /// Returns true if the selector means an object with that metadata, as far as the selector is legible. A stray
  /// selector means none.
  bool selects(const ObjectMeta& other) const { return targetKind().means(other) && labels.matches(other.labels); }
};

/// Everything that a policy names.
struct PolicyTargets {
  std::vector<PolicyTarget> targets;
  std::vector<PolicyTargetSelector> selectors;
  /// False if nothing that the policy asks for restricts anything: then what it names is served without the policy.
  bool restricts = true;

  bool empty() const { return targets.empty() && selectors.empty(); }
};

struct UnsupportedPolicy : PolicyTargets {
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  Finding note;  // for its conditions
};

}  // namespace sluice::config
