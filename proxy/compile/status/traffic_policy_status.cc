#include "proxy/compile/status/traffic_policy_status.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/read/object_kinds.h"
#include "proxy/compile/ground/hints.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/routes/compile_failover.h"
#include "proxy/compile/status/attached_policy_status.h"
#include "proxy/compile/status/traffic_policy_notes.h"

namespace sluice::compile {
namespace {

template <typename Route>
bool refersTo(const Route& route, const config::BackendObjectReference& meant) {
  return std::any_of(route.rules.begin(), route.rules.end(), [&](const auto& rule) {
    return std::any_of(rule.backendRefs.begin(), rule.backendRefs.end(),
                       [&](const auto& ref) { return meansBackendRef(meant, ref, route.meta.nameSpace); });
  });
}

/// Returns a hint that names the backendRef of the route for which a priority was probably meant.
template <typename Route>
std::string nearestBackendRef(const Route& route, const config::ObjectRef& meant) {
  const std::string& own = route.meta.nameSpace;
  std::vector<std::string_view> names;
  for (const auto& rule : route.rules) {
    for (const auto& ref : rule.backendRefs) {
      const config::ObjectRef& object = ref.object;
      if (object.name == meant.name || targetNamespace(object, own) != targetNamespace(meant, own)) continue;
      if (std::find(names.begin(), names.end(), object.name) == names.end()) names.push_back(object.name);
    }
  }
  return nearestName(meant.name, names);
}

/// Returns the fault of a priority whose backendRef occurs in no rule of the route. `route` is null if there is no
/// route with that name.
template <typename Route>
std::optional<Fault> strayIn(const Route* route, const config::FailoverPriority& priority,
                             const config::ObjectMeta& object) {
  if (route != nullptr && refersTo(*route, priority.backendRef)) return std::nullopt;
  const config::ObjectRef& meant = priority.backendRef.object;
  std::string message = object.title() + " has no backendRef " + describe(meant, object.nameSpace);
  if (priority.backendRef.port != 0) message += " with port " + std::to_string(priority.backendRef.port);
  if (route != nullptr) message += nearestBackendRef(*route, meant);
  return fault(config::reason::kBackendNotFound, priority.path + ".backendRef", message);
}

std::optional<Fault> strayPriorities(const config::TrafficPolicy& policy, const config::ObjectMeta& object,
                                     const config::Model& model) {
  if (!policy.failover) return std::nullopt;
  const auto* http = model.find<config::HttpRoute>(object.nameSpace, object.name);
  const auto* grpc = model.find<config::GrpcRoute>(object.nameSpace, object.name);
  std::vector<Fault> faults;
  for (const config::FailoverPriority& each : policy.failover->priorities) {
    auto stray = object.kind == config::HttpRoute::kKind ? strayIn(http, each, object) : strayIn(grpc, each, object);
    if (stray) faults.push_back(*std::move(stray));
  }
  return joined(faults);
}

}  // namespace

void trafficPolicyStatuses(const StatusSources& sources, Statuses& statuses) {
  attachedPolicyStatuses<config::TrafficPolicy>(
      sources, {"nothing is changed", "its targets cannot be read, so no requests are refused for it"},
      [&sources](const config::TrafficPolicy& policy, const config::ObjectMeta* object, std::string_view section,
                 const std::optional<Fault>& why) {
        Conditions conditions(policy.meta);
        std::vector<config::Finding> notes = ignoredNotes(policy.unsupported);
        for (config::Finding& each : notesOnTarget(policy, object, section, sources)) notes.push_back(std::move(each));
        conditions.check(config::condition_type::kAccepted, both(why, keptFault(sources.model, policy.meta)), notes);
        if (object != nullptr) {
          conditions.check(config::condition_type::kResolvedRefs, strayPriorities(policy, *object, sources.model));
        }
        return conditions.take();
      },
      statuses);
}

}  // namespace sluice::compile
