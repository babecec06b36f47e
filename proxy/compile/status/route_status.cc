#include "proxy/compile/status/route_status.h"

#include <string>
#include <utility>

#include "config/model/model.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/status/refused_objects.h"
#include "proxy/compile/status/use_conditions.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

std::vector<Fault> allOf(std::vector<Fault> faults, const std::vector<Fault>& more) {
  faults.insert(faults.end(), more.begin(), more.end());
  return faults;
}

/// Writes the conditions of a route at one of its parents.
class RouteConditions {
 public:
  RouteConditions(const RoutePlan& plan, const ParentAttachment& parent) : plan_(plan), parent_(parent) {}

  void write(const std::optional<Fault>& kept, Conditions& result) const {
    std::optional<Fault> unaccepted = plan_.rejection ? plan_.rejection : parent_.refused;
    if (!unaccepted && plan_.wholeRouteFails) {
      unaccepted = joined(plan_.faults);
      unaccepted->message += "; its requests answer " + failureName();
    }
    const bool accepted = !unaccepted;
    result.check(condition_type::kAccepted, both(unaccepted, kept), parent_.notes);
    // Nothing looks up the references of a route that is turned away.
    if (!plan_.turnedAway) {
      result.check(condition_type::kResolvedRefs, joined(allOf(plan_.unresolved, parent_.unresolved)));
    }
    if (accepted) writeDropped(result);
  }

 private:
  std::string failureName() const { return plan_.kind == config::GrpcRoute::kKind ? "UNAVAILABLE" : "500"; }

  // Gateway API demands that the message begins with these words, and that only accepted routes have this condition
  // (RouteConditionPartiallyInvalid).
  void writeDropped(Conditions& result) const {
    std::optional<Fault> all = joined(allOf(plan_.faults, parent_.dropped));
    if (!all) return;
    if (all->parts.empty() && !all->summary) all->parts = {noteOf(*all)};
    all->reason = reason::kUnsupportedValue;
    all->message = "Dropped Rule: " + all->text() + "; the requests concerned answer " + failureName();
    all->field.clear();
    result.troubled(condition_type::kPartiallyInvalid, *all);
  }

  const RoutePlan& plan_;
  const ParentAttachment& parent_;
};

template <typename Route>
void statusesOfRefusedRoutes(const StatusSources& sources, Statuses& statuses) {
  forEachRefused<Route>(sources.model, [&](const config::Rejected& each) {
    const Route* legible = each.legible<Route>();
    if (legible == nullptr || legible->parentRefs.empty()) statuses.push_back(rejectedStatus(each));
  });
}

}  // namespace

config::ObjectStatus routeStatus(const RoutePlan& plan, const std::vector<ParentAttachment>& parents,
                                 const std::optional<Fault>& kept, const AskedServers& servers) {
  const config::ObjectMeta& meta = plan.route->meta;
  const std::vector<AskedServer> asked =
      servers.all().empty() ? std::vector<AskedServer>() : servers.in(objectName(plan.holder(), meta.name));
  std::vector<RefusedUse> refused = plan.refusedFilters;
  noteOnce(refused, awayUses(asked));
  config::ObjectStatus status = statusOf(meta);
  for (const ParentAttachment& parent : parents) {
    Conditions conditions(meta);
    RouteConditions(plan, parent).write(kept, conditions);
    addUseConditions(refused, conditions, kMostConditions);
    addServerConditions(asked, conditions, kMostConditions);
    config::ParentStatus entry;
    entry.parentRef = *parent.parent;
    entry.conditions = conditions.take();
    status.parents.push_back(std::move(entry));
  }
  return status;
}

void httpRouteStatuses(const StatusSources& sources, Statuses& statuses) {
  statusesOfRefusedRoutes<config::HttpRoute>(sources, statuses);
}

void grpcRouteStatuses(const StatusSources& sources, Statuses& statuses) {
  statusesOfRefusedRoutes<config::GrpcRoute>(sources, statuses);
}

}  // namespace sluice::compile
