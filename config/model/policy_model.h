// Defines the targets of policies of other APIs, and the policies whose kinds are known and not supported. The settings
// of these policies are not read. Their targets are read, because they must not be served without the policy. These are
// plain values; see model.h.
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

/// The note for each policy whose kind is not supported, at its field `kind`.
inline constexpr std::string_view kUnsupportedPolicyNote =
    "policies of this kind are not supported: its targets answer 500";

/// A section of an object in the form in which policies name it: a listener or a rule by its name, and a port by its
/// name or its number. The name of a port is never a number. Without name and number, the section is the whole object.
struct PolicySection {
  std::string_view name = {};
  std::uint16_t port = 0;

  bool isWhole() const { return name.empty() && port == 0; }
};

/// The kind of the objects that a target or a selector refers to, as far as it can be read.
struct PolicyTargetKind {
  std::string_view group;
  std::string_view kind;     // empty if it cannot be read: then all kinds match
  bool groupLegible = true;  // false: the kind matches in all groups

  /// Returns true if objects with that metadata are of this kind. A stray kind has no objects.
  bool means(const ObjectMeta& other) const;
  bool legible() const { return groupLegible && !kind.empty(); }
  /// Returns "HTTPRoute.gateway.networking.k8s.io", or only the kind for the core group.
  std::string text() const;
};

/// An object in the policy's namespace, or a section of it.
struct PolicyTarget {
  ObjectRef object;  // targetKind() has the group and the kind
  bool groupLegible = true;
  /// The name of a listener, a rule or a port, or the number of a port; empty for the whole object.
  std::string sectionName;

  PolicyTargetKind targetKind() const { return {object.group, object.kind, groupLegible}; }
  /// Returns true if the target refers to an object with that metadata, as far as the target can be read. A stray
  /// target refers to none.
  bool means(const ObjectMeta& other) const { return object.name == other.name && targetKind().means(other); }
  /// Returns true if the target is exactly that section of its object.
  bool names(const PolicySection& section) const;
  bool legible() const { return targetKind().legible(); }
};

/// All objects of one kind in the policy's namespace that have certain labels.
struct PolicyTargetSelector {
  std::string group;  // targetKind() has the group and the kind
  std::string kind;
  bool groupLegible = true;
  base::LabelSelector labels;  // selects every object if the labels cannot be read
  std::string path;            // path of the field with the selector
  Position position;

  PolicyTargetKind targetKind() const { return {group, kind, groupLegible}; }
  /// Returns true if the selector matches an object with that metadata, as far as the selector can be read. A stray
  /// selector matches none.
  bool selects(const ObjectMeta& other) const { return targetKind().means(other) && labels.matches(other.labels); }
};

/// All targets and selectors of a policy.
struct PolicyTargets {
  std::vector<PolicyTarget> targets;
  std::vector<PolicyTargetSelector> selectors;
  /// False if the policy restricts nothing. Then its targets are served without the policy.
  bool restricts = true;

  bool empty() const { return targets.empty() && selectors.empty(); }
};

/// A type of policies of which all that target an object take effect, and none takes precedence, has a member
/// kApplyTogether.
template <typename Policy>
concept ApplyTogether = requires {
  Policy::kApplyTogether;
};

struct UnsupportedPolicy : PolicyTargets {
  ObjectMeta meta;
  Finding note;  // a note for its conditions
};

}  // namespace sluice::config
