#include "proxy/compile/status/traffic_policy_status.h"

#include <algorithm>

#include "config/read/object_kinds.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/routes/compile_failover.h"
#include "proxy/compile/status/attached_policy_status.h"

namespace sluice::compile {
namespace {

template <typename Route>
bool refersTo(const Route& route, const config::BackendObjectReference& meant) {
  return std::any_of(route.rules.begin(), route.rules.end(), [&](const auto& rule) {
    return std::any_of(rule.backendRefs.begin(), rule.backendRefs.end(),
                       [&](const auto& ref) { return meansBackendRef(meant, ref, route.meta.nameSpace); });
  });
}

/// Returns the fault of priorities for backendRefs that no rule of the route has.
std::optional<Fault> strayPriority(const config::TrafficPolicy& policy, const config::ObjectMeta& object,
                                   const config::Model& model) {
  if (!policy.failover) return std::nullopt;
  const auto* http = model.find<config::HttpRoute>(object.nameSpace, object.name);
  const auto* grpc = model.find<config::GrpcRoute>(object.nameSpace, object.name);
  std::vector<Fault> faults;
  for (const config::FailoverPriority& each : policy.failover->priorities) {
    const bool isThere = object.kind == config::HttpRoute::kKind ? http != nullptr && refersTo(*http, each.backendRef)
                                                                 : grpc != nullptr && refersTo(*grpc, each.backendRef);
    if (isThere) continue;
    faults.push_back(
        fault(config::reason::kBackendNotFound, each.path + ".backendRef: no rule of " + std::string(object.kind) +
                                                    " " + object.qualifiedName() + " refers to " +
                                                    describe(each.backendRef.object, policy.meta.nameSpace)));
  }
  return joined(faults);
}

}  // namespace

void trafficPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  attachedPolicyStatuses<config::TrafficPolicy>(
      sources, {"nothing is changed", "it cannot be read what it targets, so nothing is refused for it"},
      [&sources](const config::TrafficPolicy& policy, const config::ObjectMeta* object,
                 const std::optional<Fault>& why) {
        Conditions conditions(policy.meta);
        conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources.model, policy.meta)),
                         ignoredNotes(policy.unsupported));
        if (object != nullptr) {
          conditions.check(config::condition_type::kResolvedRefs, strayPriority(policy, *object, sources.model));
        }
        return conditions.take();
      },
      statuses);
}

}  // namespace sluice::compile
