#include "proxy/compile/status/backend_health.h"

#include <algorithm>
#include <set>
#include <utility>

#include "proxy/base/timestamp.h"
#include "proxy/compile/ground/backend_plan.h"

namespace sluice::compile {
namespace {

using processing::ServerReach;

/// Returns ": " and what the first check that fails has found; empty if that is not known.
std::string whyOf(const routing::HealthCheck& health) {
  for (const auto& each : health.checks()) {
    const std::string why = each->state() == routing::CheckedState::kUnhealthy ? each->why() : "";
    if (!why.empty()) return ": " + why;
  }
  return "";
}

Fault faultOfHealth(const BackendHealth& health) {
  if (health.ejections) {
    const char* const ejected = health.ejections->whole != nullptr && health.ejections->whole->isOut()
                                    ? " has ejected "
                                    : " has ejected endpoints of ";
    return summary(config::reason::kUnhealthy, health.ejections->rule + ejected + health.endpoint);
  }
  if (health.reach == nullptr) {
    return summary(config::reason::kUnhealthy,
                   "the health checks of " + health.endpoint + " fail" + whyOf(*health.check));
  }
  base::Timestamp since;
  return summary(config::reason::kUnreachable, health.endpoint + " takes no connections since " +
                                                   std::string(since.text(health.since)) + ": " + health.why);
}

/// Returns whether the check of the Backend, or of that endpoint, passes, as far as is known.
bool passes(const BackendHealth& health) {
  if (!health.part) return !health.check->fails();
  const std::shared_ptr<const routing::Endpoints> failing = health.check->failing();
  return failing == nullptr || !std::binary_search(failing->begin(), failing->end(), *health.part);
}

/// Returns false if the rule has ejected the Backend or endpoints of it, as far as is known.
bool spares(const routing::BackendEjections& ejections) {
  return (ejections.whole == nullptr || !ejections.whole->isOut()) &&
         (ejections.endpoints == nullptr || !ejections.endpoints->ejectSome());
}

/// Returns whether another state than the recorded one is known now.
bool isOther(const BackendHealth& noted, base::WallTime now, base::MonotonicTime clock) {
  if (noted.reach != nullptr) {
    const routing::ReachReport state = noted.reach->announce(now);
    return (state.reach != ServerReach::kDegraded) != noted.serves || state.why != noted.why;
  }
  if (!noted.ejections) return passes(noted) != noted.serves;
  if (noted.ejections->endpoints != nullptr) noted.ejections->endpoints->report(clock);  // notes those that have ended
  return spares(*noted.ejections) != noted.serves;
}

std::optional<Fault> summaryOf(const std::map<std::string, std::vector<Fault>, std::less<>>& faults,
                               const std::string& object) {
  const auto found = faults.find(object);
  if (found == faults.end()) return std::nullopt;
  std::optional<Fault> all = joined(found->second);
  if (all) all->summary = true;
  return all;
}

}  // namespace

std::string addressOf(const routing::Endpoint& endpoint) { return hostAndPort(endpoint.ip, endpoint.port); }

std::string endpointOf(const routing::BackendPlan& backend) { return hostAndPort(backend.hostname, backend.port); }

BackendHealths healthOf(const routing::Snapshot& snapshot) {
  BackendHealths healths;
  std::set<const routing::BackendReach*> known;
  for (const auto& backend : snapshot.backends) {
    // The plans of one Backend for several versions of HTTP share the same `reach`.
    if (backend->reach == nullptr || !known.insert(backend->reach.get()).second) continue;
    routing::ReachReport report = backend->reach->announced();
    BackendHealth& health = healths.emplace_back();
    health.object = backend->object;
    health.endpoint = endpointOf(*backend);
    health.reach = backend->reach;
    health.ofAll = backend->endpoints.has_value();
    health.serves = report.reach != ServerReach::kDegraded;
    health.since = report.since;
    health.why = std::move(report.why);
  }
  const auto note = [&healths](const routing::CheckedBackend& backend, std::string endpoint,
                               std::optional<routing::Endpoint> part) {
    BackendHealth& health = healths.emplace_back();
    health.object = backend.backend->object;
    health.endpoint = std::move(endpoint);
    health.check = backend.check;
    health.part = std::move(part);
    health.serves = passes(health);
  };
  for (const routing::CheckedBackend& each : snapshot.checked) {
    if (!each.backend->endpoints) {
      note(each, endpointOf(*each.backend), std::nullopt);
      continue;
    }
    for (const routing::Endpoint& endpoint : *each.backend->endpoints) note(each, addressOf(endpoint), endpoint);
  }
  for (const routing::BackendEjections& each : snapshot.ejections) {
    BackendHealth& health = healths.emplace_back();
    health.object = each.backend->object;
    health.endpoint = endpointOf(*each.backend);
    health.ejections = each;
    health.serves = spares(each);
  }
  return healths;
}

bool hasMoved(const BackendHealths& noted, base::WallTime now, base::MonotonicTime clock) {
  bool moved = false;
  for (const BackendHealth& each : noted) moved = isOther(each, now, clock) || moved;
  return moved;
}

BackendFaults::BackendFaults(const BackendHealths& healths) {
  for (const BackendHealth& each : healths) {
    // The connection state covers all endpoints together, so it does not show that a single endpoint serves.
    if (each.ofAll && each.serves) continue;
    if (!each.ejections) {
      bool& serves = serves_[each.object].emplace(each.endpoint, true).first->second;
      serves = serves && each.serves;
    }
    if (each.serves) continue;
    std::vector<Fault>& known = (each.ejections ? ejections_ : faults_)[each.object];
    Fault fault = faultOfHealth(each);
    // Several rules may check the same Backend differently and report the same fault.
    if (std::find(known.begin(), known.end(), fault) == known.end()) known.push_back(std::move(fault));
  }
}

std::optional<Fault> BackendFaults::of(const std::string& object) const { return summaryOf(faults_, object); }

std::optional<Fault> BackendFaults::ejectionsOf(const std::string& object) const {
  return summaryOf(ejections_, object);
}

bool BackendFaults::leaveSome(const std::string& object) const {
  const auto found = serves_.find(object);
  return found != serves_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [](const auto& each) { return each.second; });
}

}  // namespace sluice::compile
