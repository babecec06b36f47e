#include "proxy/control/compile/backends/backend_health.h"

#include <algorithm>
#include <utility>

#include "proxy/base/timestamp.h"

namespace sluice::control {
namespace {

using processing::ServerReach;

bool isFineNow(const BackendHealth& health) {
  return health.reach != nullptr ? health.reached.reach != ServerReach::kDegraded
                                 : health.checked != routing::CheckedState::kUnhealthy;
}

Fault faultOfHealth(const BackendHealth& health) {
  if (health.reach == nullptr) {
    return summary(config::reason::kUnhealthy, "the health checks of " + health.endpoint + " fail");
  }
  base::Timestamp since;
  return summary(config::reason::kUnreachable,
                 health.endpoint + " takes no connections since " + std::string(since.text(health.reached.since)));
}

}  // namespace

std::string endpointOf(const routing::BackendPlan& backend) {
  return backend.hostname + ":" + std::to_string(backend.port);
}

BackendHealths healthOf(const routing::Snapshot& snapshot) {
  BackendHealths healths;
  for (const auto& backend : snapshot.backends) {
    // The same Backend over another version of HTTP shares its reach.
    if (backend->reach == nullptr || !backend->countsAs.empty()) continue;
    BackendHealth& health = healths.emplace_back();
    health.object = backend->object;
    health.endpoint = endpointOf(*backend);
    health.reach = backend->reach;
    health.reached = backend->reach->announced();
  }
  for (const routing::CheckedBackend& each : snapshot.checked) {
    BackendHealth& health = healths.emplace_back();
    health.object = each.backend->object;
    health.endpoint = endpointOf(*each.backend);
    health.check = each.check;
    health.checked = each.check->state();
  }
  return healths;
}

bool hasMoved(const BackendHealths& noted, base::WallTime now) {
  bool moved = false;
  for (const BackendHealth& each : noted) {
    const bool differs =
        each.reach != nullptr ? each.reach->announce(now) != each.reached : each.check->state() != each.checked;
    moved = moved || differs;
  }
  return moved;
}

BackendFaults::BackendFaults(const BackendHealths& healths) {
  for (const BackendHealth& each : healths) {
    if (isFineNow(each)) continue;
    std::vector<Fault>& known = faults_[each.object];
    Fault fault = faultOfHealth(each);
    // Rules may check one Backend in several ways.
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

}  // namespace sluice::control
