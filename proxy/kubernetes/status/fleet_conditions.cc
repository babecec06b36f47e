#include "proxy/kubernetes/status/fleet_conditions.h"

#include <algorithm>
#include <utility>

#include "config/read/object_kinds.h"

namespace sluice::kubernetes {
namespace {

using config::Condition;
using config::ConditionStatus;

bool isRouteStatus(const config::ObjectStatus& object) {
  return config::isKindOf<config::HttpRoute>(object.group, object.kind) ||
         config::isKindOf<config::GrpcRoute>(object.group, object.kind);
}

bool isGatewayStatus(const config::ObjectStatus& object) {
  return config::isKindOf<config::Gateway>(object.group, object.kind);
}

bool sameCondition(const Condition& a, const Condition& b) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason && a.message == b.message &&
         a.observedGeneration == b.observedGeneration;
}

std::string gatewayOf(const config::ObjectStatus& route, const config::ParentStatus& parent) {
  const std::string& nameSpace = parent.parentRef.object.nameSpace;
  return (nameSpace.empty() ? route.nameSpace : nameSpace) + "/" + parent.parentRef.object.name;
}

/// A route that is not known has been seen by no replica.
std::uint64_t versionToSee(std::uint64_t changedAt) { return std::max<std::uint64_t>(changedAt, 1); }

/// Returns the condition of a route at one parent, from the reports of the replicas of its Gateway.
Condition programmed(const config::ObjectStatus& route, const config::ParentStatus& parent,
                     const ReplicaReports& reports, std::uint64_t changedAt, base::MonotonicTime now) {
  FleetQuestion question;
  question.gateway = gatewayOf(route, parent);
  question.version = versionToSee(changedAt);
  question.object.kind = route.kind;
  question.object.nameSpace = route.nameSpace;
  question.object.name = route.name;
  const FleetVerdict verdict = reports.verdict(question, now);
  Condition condition;
  condition.type = kFleetProgrammed;
  if (!parent.conditions.empty()) condition.observedGeneration = parent.conditions.front().observedGeneration;
  if (verdict.replicas == 0 || !verdict.failing.empty()) {
    condition.status = verdict.replicas == 0 ? ConditionStatus::kUnknown : ConditionStatus::kFalse;
    condition.reason = verdict.reason;
    condition.message = verdict.message;
  } else if (verdict.serving < verdict.replicas) {
    condition.status = ConditionStatus::kUnknown;
    condition.reason = config::reason::kPending;
    condition.message = "some replicas do not serve this generation yet";
  } else {
    condition.status = ConditionStatus::kTrue;
    condition.reason = config::reason::kProgrammed;
  }
  return condition;
}

/// Returns the revision that a replica of the Gateway serves; empty if none does.
std::string servedByReplicas(const std::string& gateway, const FleetRound& round) {
  for (const SeenReport* each : round.facts.reports().of(gateway)) {
    if (!each->isGone(round.now) && each->report.serves(gateway) && !each->report.served.empty())
      return each->report.served;
  }
  return {};
}

/// Returns the condition of a Gateway from the reports of its replicas, and from the controller's own verdict, which
/// counts if replicas differ; none if nothing fails.
std::optional<Condition> degraded(const config::ObjectStatus& gateway, const FleetRound& round) {
  FleetQuestion question;
  question.gateway = gateway.nameSpace + "/" + gateway.name;
  const FleetVerdict verdict = round.facts.reports().verdict(question, round.now);
  if (round.refused != nullptr) {
    RefusedRevision refused = *round.refused;
    // A controller that has just started has no good configuration, but replicas may have one.
    if (refused.served.empty()) refused.served = servedByReplicas(question.gateway, round);
    Condition condition = degradedBy(refused, gateway.nameSpace);
    if (verdict.failing.empty()) return condition;
    condition.reason = verdict.reason;
    condition.message += ". " + verdict.message;
    return condition;
  }
  if (verdict.failing.empty()) return std::nullopt;
  Condition condition;
  condition.type = config::condition_type::kDegraded;
  condition.status = ConditionStatus::kTrue;
  condition.reason = verdict.reason;
  condition.message = verdict.message;
  return condition;
}

std::vector<Condition> conditionsToAdd(const config::ObjectStatus& object, const FleetRound& round,
                                       std::uint64_t version) {
  std::vector<Condition> added;
  if (isGatewayStatus(object)) {
    added = round.facts.conditionsOf(object);
    if (auto condition = degraded(object, round)) added.push_back(*std::move(condition));
    for (Condition& each : added) {
      if (!object.conditions.empty()) each.observedGeneration = object.conditions.front().observedGeneration;
    }
  } else if (isRouteStatus(object)) {
    for (const config::ParentStatus& parent : object.parents) {
      added.push_back(programmed(object, parent, round.facts.reports(), version, round.now));
    }
  }
  return added;
}

bool isPending(const Condition& condition) { return condition.reason == config::reason::kPending; }

/// Returns the addresses that the status has.
std::vector<config::AddressStatus> addressesFor(const config::ObjectStatus& object, const FleetFacts& facts) {
  if (!isGatewayStatus(object)) return object.addresses;
  std::vector<config::AddressStatus> others = facts.addressesOf(object);
  return others.empty() ? object.addresses : others;
}

/// `added` has one condition for each parent of a route, or the conditions of a Gateway.
config::StatusList::Shared withConditions(const config::ObjectStatus& object, const std::vector<Condition>& added,
                                          std::vector<config::AddressStatus> addresses) {
  auto result = std::make_shared<config::ObjectStatus>(object);
  result->addresses = std::move(addresses);
  if (isGatewayStatus(object)) {
    for (const Condition& each : added) addCondition(result->conditions, each);
  } else {
    for (std::size_t i = 0; i < added.size(); ++i) addCondition(result->parents[i].conditions, added[i]);
  }
  return result;
}

bool hasCondition(const std::vector<Condition>& conditions, const Condition& condition) {
  const Condition* found = config::findCondition(conditions, condition.type);
  return found != nullptr && sameCondition(*found, condition);
}

/// Returns true if withConditions() would make `result`, which has the same number of added conditions.
bool hasConditions(const config::ObjectStatus& result, const std::vector<Condition>& added) {
  if (isGatewayStatus(result)) {
    return std::all_of(added.begin(), added.end(),
                       [&](const Condition& each) { return hasCondition(result.conditions, each); });
  }
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (!hasCondition(result.parents[i].conditions, added[i])) return false;
  }
  return true;
}

}  // namespace

FleetStatus withFleetConditions(const config::StatusList::Shared& compiled, const FleetStatus& last,
                                const FleetRound& round) {
  const std::uint64_t version = isRouteStatus(*compiled) ? round.facts.changedAt(*compiled) : 0;
  const bool reported = round.reported.concern(*compiled);
  const config::StatusList::Shared merged = reported ? round.reported.merged(compiled) : compiled;
  const std::vector<Condition> added = conditionsToAdd(*merged, round, version);
  std::vector<config::AddressStatus> addresses = addressesFor(*merged, round.facts);
  FleetStatus fleet{.compiled = compiled, .status = merged, .added = added.size(), .version = version};
  fleet.reported = reported;
  // A report may be older than the last change of the object.
  fleet.awaited = merged != compiled || std::any_of(added.begin(), added.end(), isPending);
  fleet.served = isRouteStatus(*compiled) && std::all_of(added.begin(), added.end(), [](const Condition& each) {
                   return each.status == ConditionStatus::kTrue;
                 });
  if (!reported) {
    if (added.empty() && addresses == compiled->addresses) return fleet;
    const bool same = last.compiled == compiled && last.added == added.size() && !last.reported &&
                      hasConditions(*last.status, added) && last.status->addresses == addresses;
    fleet.status = same ? last.status : withConditions(*compiled, added, std::move(addresses));
    return fleet;
  }
  if (!added.empty() || addresses != merged->addresses)
    fleet.status = withConditions(*merged, added, std::move(addresses));
  if (last.compiled == compiled && config::statusJson(*last.status) == config::statusJson(*fleet.status))
    fleet.status = last.status;
  return fleet;
}

bool ServedRoutes::stillHold(const FleetStatus& fleet) {
  if (fleet.reported) return false;
  if (fleet.added == 0) return true;
  if (!fleet.served) return false;
  const std::uint64_t version = versionToSee(fleet.version);
  const config::ObjectStatus& route = *fleet.compiled;
  return std::all_of(route.parents.begin(), route.parents.end(), [&](const config::ParentStatus& parent) {
    const SeenOfAll& seen = of(gatewayOf(route, parent));
    const auto found = seen.versions.find(route.kind);
    return seen.faultless && found != seen.versions.end() && found->second >= version;
  });
}

const ServedRoutes::SeenOfAll& ServedRoutes::of(const std::string& gateway) {
  const auto [entry, isNew] = gateways_.try_emplace(gateway);
  SeenOfAll& all = entry->second;
  if (!isNew) return all;
  std::vector<const SeenReport*> asked;
  for (const SeenReport* each : reports_.of(gateway)) {
    if (!each->isGone(now_) && each->report.serves(gateway)) asked.push_back(each);
  }
  all.faultless = !asked.empty() && std::all_of(asked.begin(), asked.end(),
                                                [](const SeenReport* each) { return each->report.failedInAll == 0; });
  if (!all.faultless) return all;
  all.versions.insert(asked.front()->report.seen.begin(), asked.front()->report.seen.end());
  for (auto& [kind, version] : all.versions) {
    for (const SeenReport* each : asked) {
      const auto seen = each->report.seen.find(kind);
      version = seen == each->report.seen.end() ? 0 : std::min(version, seen->second);
    }
  }
  return all;
}

}  // namespace sluice::kubernetes
