#include "proxy/compile/status/backend_health.h"

#include <algorithm>
#include <set>
#include <utility>

#include "proxy/base/timestamp.h"
#include "proxy/compile/ground/backend_plan.h"

namespace sluice::compile {
namespace {

using processing::ServerReach;

Fault faultOfHealth(const BackendHealth& health) {
  if (health.reach == nullptr) {
    return summary(config::reason::kUnhealthy, "the health checks of " + health.endpoint + " fail");
  }
  base::Timestamp since;
  return summary(config::reason::kUnreachable,
                 health.endpoint + " takes no connections since " + std::string(since.text(health.since)));
}

/// Returns whether the check of the Backend, or of that endpoint, passes, as far as is known.
bool passes(const BackendHealth& health) {
  if (!health.part) return !health.check->fails();
  const std::shared_ptr<const routing::Endpoints> failing = health.check->failing();
  return failing == nullptr || !std::binary_search(failing->begin(), failing->end(), *health.part);
}

}  // namespace

std::string addressOf(const routing::Endpoint& endpoint) { return hostAndPort(endpoint.ip, endpoint.port); }

std::string endpointOf(const routing::BackendPlan& backend) { return hostAndPort(backend.hostname, backend.port); }

BackendHealths healthOf(const routing::Snapshot& snapshot) {
  BackendHealths healths;
  std::set<const processing::ServerHealth*> known;
  for (const auto& backend : snapshot.backends) {
    // The plans of one Backend for several versions of HTTP share the same `reach`.
    if (backend->reach == nullptr || !known.insert(backend->reach.get()).second) continue;
    const processing::ServerReport report = backend->reach->announced();
    BackendHealth& health = healths.emplace_back();
    health.object = backend->object;
    health.endpoint = endpointOf(*backend);
    health.reach = backend->reach;
    health.ofAll = backend->endpoints.has_value();
    health.serves = report.reach != ServerReach::kDegraded;
    health.since = report.since;
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
  return healths;
}

bool hasMoved(const BackendHealths& noted, base::WallTime now) {
  bool moved = false;
  for (const BackendHealth& each : noted) {
    const bool serves =
        each.reach != nullptr ? each.reach->announce(now).reach != ServerReach::kDegraded : passes(each);
    moved = moved || serves != each.serves;
  }
  return moved;
}

BackendFaults::BackendFaults(const BackendHealths& healths) {
  for (const BackendHealth& each : healths) {
    // The connection state covers all endpoints together, so it does not show that a single endpoint serves.
    if (each.ofAll && each.serves) continue;
    bool& serves = serves_[each.object].emplace(each.endpoint, true).first->second;
    serves = serves && each.serves;
    if (each.serves) continue;
    std::vector<Fault>& known = faults_[each.object];
    Fault fault = faultOfHealth(each);
    // Several rules may check the same Backend differently and report the same fault.
    if (std::find(known.begin(), known.end(), fault) == known.end()) known.push_back(std::move(fault));
  }
}

std::optional<Fault> BackendFaults::of(const std::string& object) const {
  const auto found = faults_.find(object);
  if (found == faults_.end()) return std::nullopt;
  std::optional<Fault> all = joined(found->second);
  if (all) all->summary = true;
  return all;
}

bool BackendFaults::leaveSome(const std::string& object) const {
  const auto found = serves_.find(object);
  return found != serves_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [](const auto& each) { return each.second; });
}

}  // namespace sluice::compile
