#include "proxy/control/compile/backends/backend_health.h"

#include <algorithm>
#include <set>
#include <utility>

#include "proxy/base/timestamp.h"
#include "proxy/control/compile/backends/backend_plan.h"

namespace sluice::control {
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

}  // namespace

std::string endpointOf(const routing::BackendPlan& backend) { return hostAndPort(backend.hostname, backend.port); }

BackendHealths healthOf(const routing::Snapshot& snapshot) {
  BackendHealths healths;
  std::set<const processing::ServerHealth*> known;
  for (const auto& backend : snapshot.backends) {
    // Plans of one Backend over several versions of HTTP share its reach.
    if (backend->reach == nullptr || !known.insert(backend->reach.get()).second) continue;
    const processing::ServerReport report = backend->reach->announced();
    BackendHealth& health = healths.emplace_back();
    health.object = backend->object;
    health.endpoint = endpointOf(*backend);
    health.reach = backend->reach;
    health.serves = report.reach != ServerReach::kDegraded;
    health.since = report.since;
  }
  for (const routing::CheckedBackend& each : snapshot.checked) {
    BackendHealth& health = healths.emplace_back();
    health.object = each.backend->object;
    health.endpoint = endpointOf(*each.backend);
    health.check = each.check;
    health.serves = !each.check->fails();
  }
  return healths;
}

bool hasMoved(const BackendHealths& noted, base::WallTime now) {
  bool moved = false;
  for (const BackendHealth& each : noted) {
    const bool serves =
        each.reach != nullptr ? each.reach->announce(now).reach != ServerReach::kDegraded : !each.check->fails();
    moved = moved || serves != each.serves;
  }
  return moved;
}

BackendFaults::BackendFaults(const BackendHealths& healths) {
  for (const BackendHealth& each : healths) {
    bool& serves = serves_[each.object].emplace(each.endpoint, true).first->second;
    serves = serves && each.serves;
    if (each.serves) continue;
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

bool BackendFaults::leaveSome(const std::string& object) const {
  const auto found = serves_.find(object);
  return found != serves_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [](const auto& each) { return each.second; });
}

}  // namespace sluice::control
