#include "proxy/control/compile/policies/closing_policies.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <type_traits>

#include "config/model/object_kinds.h"
#include "config/model/stray_target.h"
#include "proxy/control/compile/policies/backend_tls_policies.h"

namespace sluice::control {
namespace {

/// Returns true for a Service, in whatever group if that is not legible.
bool mayBeService(const config::PolicyTarget& target) { return target.object.kind == config::Service::kKind; }

bool mayBeDestination(const config::PolicyTarget& target) {
  return mayBeService(target) || config::isKindOf<config::Backend>(target.object.group, target.object.kind) ||
         (!target.groupLegible && target.object.kind == config::Backend::kKind);
}

using Cause = ClosingCause;
using Target = config::PolicyTarget;

std::optional<Cause> causeOf(const config::UnsupportedPolicy& /*policy*/, const Target& /*target*/) {
  return Cause::kKind;
}
std::optional<Cause> causeOf(const config::BackendTlsPolicy& /*policy*/, const Target& target) {
  return isTlsTarget(target) ? std::nullopt : std::optional(Cause::kOnlyDestinations);
}
/// These are for everything that carries requests.
std::optional<Cause> causeOf(const config::TrafficPolicy& /*policy*/, const Target& /*target*/) { return std::nullopt; }
std::optional<Cause> causeOf(const config::ExtensionPolicy& /*policy*/, const Target& target) {
  if (target.object.kind.empty()) return Cause::kUnknown;
  return mayBeDestination(target) ? std::optional(Cause::kNoDestinations) : std::nullopt;
}
std::optional<Cause> causeOf(const config::PayloadProcessor& /*processor*/, const Target& target) {
  if (target.object.kind.empty()) return Cause::kUnknown;
  return mayBeService(target) ? std::optional(Cause::kNoServices) : std::nullopt;
}

std::string_view consequenceOf(Cause cause, std::size_t policies) {
  switch (cause) {
    case Cause::kKind:
      return policies == 1 ? ": policies of this kind are not supported"
                           : ": policies of these kinds are not supported";
    case Cause::kOnlyDestinations:
      return ": policies of this kind are supported for Services and Backends only";
    case Cause::kNoDestinations:
      return ": policies of this kind are supported for Gateways and routes only";
    case Cause::kNoServices:
      return ": payload processors are supported for Gateways, routes and Backends only";
    case Cause::kUnknown:
      return ": the kind of a target with this name, or these labels, is not known, so all kinds are meant";
  }
  return {};
}

bool selects(const config::UnsupportedPolicy& policy, const config::ObjectMeta& object) {
  return policy.meta.nameSpace == object.nameSpace &&
         std::any_of(policy.selectors.begin(), policy.selectors.end(),
                     [&](const config::PolicyTargetSelector& each) { return each.selects(object); });
}

}  // namespace

ClosingPolicies::ClosingPolicies(const config::Model& model) {
  addAll<config::UnsupportedPolicy>(model);
  addAll<config::BackendTlsPolicy>(model);
  addAll<config::TrafficPolicy>(model);
  addAll<config::ExtensionPolicy>(model);
  addAll<config::PayloadProcessor>(model);
}

template <typename Policy>
void ClosingPolicies::addAll(const config::Model& model) {
  for (const Policy& each : model.all<Policy>()) add(each);
  for (const config::Rejected& each : model.rejected) {
    if (const auto* legible = each.legible<Policy>()) add(*legible);
  }
}

template <typename Policy>
void ClosingPolicies::add(const Policy& policy) {
  if constexpr (std::is_same_v<Policy, config::UnsupportedPolicy>) {
    if (!policy.closes) return;
    if (!policy.selectors.empty()) selecting_.push_back(&policy);
  }
  for (const config::PolicyTargetSelector& each : policy.selectors) {
    if (config::isStray(each)) stray_.push_back({&policy.meta, &each});
  }
  for (const config::PolicyTarget& each : policy.targets) {
    const std::optional<Cause> cause = config::isStray(each) ? Cause::kUnknown : causeOf(policy, each);
    if (cause) byTarget_[{policy.meta.nameSpace, each.object.name}].push_back({&policy.meta, &each, *cause});
  }
}

std::optional<Fault> ClosingPolicies::faultOf(const config::ObjectMeta& object,
                                              const config::PolicySection& section) const {
  if (empty()) return std::nullopt;
  // The order of the objects must not matter.
  std::map<Cause, std::set<std::string>> titles;
  if (const auto found = byTarget_.find({object.nameSpace, object.name}); found != byTarget_.end()) {
    for (const auto& [policy, target, cause] : found->second) {
      if (cause != Cause::kUnknown && !target->means(object)) continue;
      if (target->sectionName.empty() || target->names(section)) titles[cause].insert(policy->title());
    }
  }
  for (const config::UnsupportedPolicy* each : selecting_) {
    if (selects(*each, object)) titles[Cause::kKind].insert(each->meta.title());
  }
  for (const auto& [policy, selector] : stray_) {
    if (policy->nameSpace != object.nameSpace || !selector->labels.matches(object.labels)) continue;
    titles[Cause::kUnknown].insert(policy->title());
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

}  // namespace sluice::control
