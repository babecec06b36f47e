#include "proxy/compile/routes/compile_failover.h"

#include <algorithm>
#include <set>

#include "proxy/compile/ground/references.h"
#include "proxy/compile/routes/compile_outliers.h"

namespace sluice::compile {
namespace {

constexpr std::uint32_t kEndpointPriorities = 16;  // priorities that the endpoints of one Backend may have

const config::FailoverPriority* priorityOf(const config::BackendObjectReference& ref,
                                           const config::FailoverSettings& failover, std::string_view nameSpace) {
  const auto found = std::find_if(
      failover.priorities.begin(), failover.priorities.end(),
      [&](const config::FailoverPriority& each) { return meansBackendRef(each.backendRef, ref, nameSpace); });
  return found == failover.priorities.end() ? nullptr : &*found;
}

/// Gives weights to the members of each priority of Backends in which no member has a weight. `shares` has the weight
/// for each member that may stand by, and 0 for the others.
void setStandbys(std::vector<routing::FailoverMember>& members, const std::vector<std::uint32_t>& shares) {
  std::set<std::uint32_t> weighted;
  for (const routing::FailoverMember& each : members) {
    if (each.weight > 0) weighted.insert(each.priority / kEndpointPriorities);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (shares[i] > 0 && !weighted.contains(members[i].priority / kEndpointPriorities)) members[i].weight = shares[i];
  }
}

/// Renumbers the priorities from 0 on, without gaps.
void closeRanks(std::vector<routing::FailoverMember>& members) {
  std::set<std::uint32_t> occurring;
  for (const routing::FailoverMember& each : members) occurring.insert(each.priority);
  for (routing::FailoverMember& each : members) {
    each.priority = static_cast<std::uint32_t>(std::distance(occurring.begin(), occurring.find(each.priority)));
  }
}

/// Returns true if health checks or policies for one of the Backends decide when to avoid a Backend.
bool sayWhenToAvoid(const RuleTraffic& traffic, const routing::Rule& compiled) {
  bool wants = !compiled.healthChecks.empty();
  for (std::size_t i = 0; i < compiled.backends.size() && !wants; ++i) {
    wants = traffic.ofBackend(i).passiveHealth != nullptr;
  }
  return wants;
}

/// Returns the defaults if there are no settings, but then Backends are ejected only if there is a fail-over.
routing::PassiveHealthBounds boundsOf(const config::PassiveHealthSettings* passive, bool hasFailover) {
  routing::PassiveHealthBounds bounds;
  if (!hasFailover) bounds.errors = 0;
  if (passive == nullptr) return bounds;
  return passiveBounds(*passive);
}

}  // namespace

std::uint64_t usualWeight(const std::vector<routing::FailoverMember>& members, std::uint64_t broken) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].priority != 0) continue;
    if ((broken >> i & 1) != 0) return 0;
    sum += members[i].weight;
  }
  return sum;
}

bool meansBackendRef(const config::BackendObjectReference& meant, const config::BackendObjectReference& ref,
                     std::string_view nameSpace) {
  return meant.object.group == ref.object.group && meant.object.kind == ref.object.kind &&
         meant.object.name == ref.object.name &&
         targetNamespace(meant.object, nameSpace) == targetNamespace(ref.object, nameSpace) &&
         (meant.port == 0 || meant.port == ref.port);
}

std::shared_ptr<const routing::FailoverPolicy> compileFailover(const RuleTraffic& traffic,
                                                               const std::vector<RuleMember>& members,
                                                               std::string_view nameSpace,
                                                               const routing::Rule& compiled, const std::string& place,
                                                               processing::SharedStates& states) {
  const config::FailoverSettings defaults;
  const config::FailoverSettings* failover = traffic.ofRule().failover;
  if (failover == nullptr && haveOrder(members)) failover = &defaults;
  if (members.size() < 2 || (failover == nullptr && !sayWhenToAvoid(traffic, compiled))) return nullptr;
  auto policy = std::make_shared<routing::FailoverPolicy>();
  policy->rule = place;
  std::vector<std::uint32_t> shares;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto* priority = failover != nullptr ? priorityOf(*members[i].ref, *failover, nameSpace) : nullptr;
    shares.push_back(priority != nullptr ? members[i].share : 0);
    routing::FailoverMember& member = policy->members.emplace_back();
    member.weight = members[i].weight;
    const std::uint32_t ofBackend = priority != nullptr ? priority->priority : members[i].isFallback ? 1 : 0;
    member.priority = ofBackend * kEndpointPriorities + members[i].priority;
    member.passive = boundsOf(traffic.ofBackend(i).passiveHealth, failover != nullptr);
    const auto& backend = compiled.backends[i].backend;
    const std::string name = backend != nullptr ? backend->countedAs().text() : std::to_string(i);
    member.health = states.get<routing::AnswerHealth>(place + ", health of " + name,
                                                      [] { return std::make_shared<const routing::AnswerHealth>(); });
  }
  for (std::size_t i = 0; i < compiled.healthChecks.size(); ++i) policy->members[i].check = compiled.healthChecks[i];
  setStandbys(policy->members, shares);
  const auto isOut = [](const routing::FailoverMember& each) { return each.weight == 0; };
  if (std::all_of(policy->members.begin(), policy->members.end(), isOut)) return nullptr;
  closeRanks(policy->members);
  policy->usualWeight = usualWeight(policy->members, compiled.broken());
  policy->overprovisioning = failover != nullptr ? failover->overprovisioningFactor : defaults.overprovisioningFactor;
  policy->longestRest = failover != nullptr ? failover->maxRetryAfter : base::Duration::zero();
  return policy;
}

}  // namespace sluice::compile
