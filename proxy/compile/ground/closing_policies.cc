#include "proxy/compile/ground/closing_policies.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "config/read/object_kinds.h"
#include "config/read/stray_target.h"

namespace sluice::compile {
namespace {

using Cause = ClosingCause;
using TargetKind = config::PolicyTargetKind;

/// Returns true for a Service. If the group of the target cannot be read, any group matches.
bool mayBeService(const TargetKind& target) { return target.kind == config::Service::kKind; }

bool mayBeDestination(const TargetKind& target) {
  return mayBeService(target) || config::isKindOf<config::Backend>(target.group, target.kind) ||
         (!target.groupLegible && target.kind == config::Backend::kKind);
}

std::string_view consequenceOf(Cause cause, std::size_t policies) {
  switch (cause) {
    case Cause::kKind:
      return policies == 1 ? ": policies of this kind are not supported"
                           : ": policies of these kinds are not supported";
    case Cause::kOnlyDestinations:
      return ": policies of this kind are supported for Services and Backends only";
    case Cause::kOnlyGateways:
      return ": policies of this kind are supported for Gateways and their listeners only";
    case Cause::kNoDestinations:
      return ": policies of this kind are supported for Gateways and routes only";
    case Cause::kNoServices:
      return ": payload processors are supported for Gateways, routes and Backends only";
    case Cause::kUnknown:
      return ": the kind of a target with this name, or these labels, is not known, so all kinds are meant";
  }
  return {};
}

}  // namespace

bool isTlsTarget(const config::PolicyTargetKind& target) {
  return target.legible() && (config::isKindOf<config::Service>(target.group, target.kind) ||
                              config::isKindOf<config::Backend>(target.group, target.kind));
}

namespace closing {

std::optional<Cause> always(const TargetKind& /*target*/) { return Cause::kKind; }

std::optional<Cause> never(const TargetKind& /*target*/) { return std::nullopt; }

std::optional<Cause> exceptDestinations(const TargetKind& target) {
  return isTlsTarget(target) ? std::nullopt : std::optional(Cause::kOnlyDestinations);
}

std::optional<Cause> exceptGateways(const TargetKind& target) {
  if (target.kind.empty()) return Cause::kUnknown;
  const bool isGateway = target.groupLegible ? config::isKindOf<config::Gateway>(target.group, target.kind)
                                             : target.kind == config::Gateway::kKind;
  return isGateway ? std::nullopt : std::optional(Cause::kOnlyGateways);
}

std::optional<Cause> forDestinations(const TargetKind& target) {
  if (target.kind.empty()) return Cause::kUnknown;
  return mayBeDestination(target) ? std::optional(Cause::kNoDestinations) : std::nullopt;
}

std::optional<Cause> forServices(const TargetKind& target) {
  if (target.kind.empty()) return Cause::kUnknown;
  return mayBeService(target) ? std::optional(Cause::kNoServices) : std::nullopt;
}

}  // namespace closing

void ClosingPolicies::add(const config::ObjectMeta& policy, const config::PolicyTargets& named, CauseOf causeOf) {
  if (!named.restricts) return;
  const auto cause = [&](const TargetKind& target) {
    return config::isStray(target) ? std::optional(Cause::kUnknown) : causeOf(target);
  };
  for (const config::PolicyTarget& each : named.targets) {
    if (const auto why = cause(each.targetKind())) {
      byTarget_[{policy.nameSpace, each.object.name}].push_back({&policy, &each, *why});
    }
  }
  for (const config::PolicyTargetSelector& each : named.selectors) {
    if (const auto why = cause(each.targetKind())) selecting_[policy.nameSpace].push_back({&policy, &each, *why});
  }
}

std::optional<Fault> ClosingPolicies::faultOf(const config::ObjectMeta& object,
                                              const config::PolicySection& section) const {
  if (empty()) return std::nullopt;
  // The result must not depend on the order of the objects, so the titles are sorted.
  std::map<Cause, std::set<std::string>> titles;
  const auto means = [&](const auto& named, Cause cause) {
    return cause == Cause::kUnknown || named.targetKind().means(object);
  };
  if (const auto found = byTarget_.find({object.nameSpace, object.name}); found != byTarget_.end()) {
    for (const auto& [policy, target, cause] : found->second) {
      if (!means(*target, cause)) continue;
      if (target->sectionName.empty() || target->names(section)) titles[cause].insert(policy->title());
    }
  }
  if (const auto found = selecting_.find(object.nameSpace); found != selecting_.end()) {
    for (const auto& [policy, selector, cause] : found->second) {
      if (means(*selector, cause) && selector->labels.matches(object.labels)) titles[cause].insert(policy->title());
    }
  }
  std::string text;
  for (const auto& [cause, policies] : titles) {
    std::string names;
    for (const std::string& name : policies) names += (names.empty() ? "" : ", ") + name;
    text.append(text.empty() ? "" : "; ").append(names).append(consequenceOf(cause, policies.size()));
  }
  if (text.empty()) return std::nullopt;
  return summary(config::reason::kUnsupportedValue, text);
}

}  // namespace sluice::compile
