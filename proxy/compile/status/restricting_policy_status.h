// Writes the statuses of policies of one type that close their targets where they cannot be served.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/status/policy_ancestors.h"
#include "proxy/compile/status/refused_objects.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// `std::optional<Fault> faultOf(policy, object, section)` returns why a policy does not take effect for one of its
/// ancestors. `object` may be null.
template <typename Policy, typename FaultOf>
class RestrictingStatusWriter {
 public:
  RestrictingStatusWriter(const StatusSources& sources, FaultOf faultOf)
      : sources_(sources), reach_(sources), faultOf_(std::move(faultOf)) {}

  /// `invalid` is the fault of a policy that its schema refuses.
  std::vector<config::ParentStatus> ancestors(const Policy& policy, const std::optional<Fault>& invalid) const {
    const auto judge = [&](const config::ObjectMeta* object, std::string_view section,
                           const std::optional<Fault>& unfound) {
      const std::optional<Fault> why = invalid ? invalid : unfound ? unfound : faultOf_(policy, object, section);
      Conditions conditions(policy.meta);
      conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources_.model, policy.meta)));
      return conditions.take();
    };
    return ancestorsOf(sources_, reach_, policy.meta, policy, "no requests are refused", judge);
  }

  config::ObjectStatus refused(const config::Rejected& rejected) const {
    const auto* legible = rejected.legible<Policy>();
    if (legible == nullptr) {
      return rejectedStatus(rejected, "its targets cannot be read, so no requests are refused for it");
    }
    config::ObjectStatus status = statusOf(rejected);
    constexpr std::string_view kHarmless = "it restricts nothing, so no requests are refused for it";
    const std::string_view named = legible->restricts ? "its targets answer 500" : kHarmless;
    const Fault why = summary(config::reason::kInvalid, rejected.message + "; " + std::string(named));
    status.parents = ancestors(*legible, why);
    if (!status.parents.empty()) return status;
    return rejectedStatus(rejected,
                          legible->restricts ? "objects of its namespace that it could target answer 500" : kHarmless);
  }

 private:
  const StatusSources& sources_;
  const PolicyReach reach_;
  const FaultOf faultOf_;
};

template <typename Policy, typename FaultOf>
void restrictingPolicyStatuses(const StatusSources& sources, FaultOf faultOf, Statuses& statuses) {
  // Most configurations have no policies, and finding the reachable objects takes long.
  bool any = !sources.model.all<Policy>().empty();
  forEachRefused<Policy>(sources.model, [&](const config::Rejected&) { any = true; });
  if (!any) return;
  const RestrictingStatusWriter<Policy, FaultOf> writer(sources, std::move(faultOf));
  for (const Policy& each : sources.model.all<Policy>()) {
    std::vector<config::ParentStatus> ancestors = writer.ancestors(each, std::nullopt);
    if (!ancestors.empty()) statuses.emplace_back(statusOf(each.meta)).parents = std::move(ancestors);
  }
  forEachRefused<Policy>(sources.model,
                         [&](const config::Rejected& each) { statuses.push_back(writer.refused(each)); });
}

}  // namespace sluice::compile
