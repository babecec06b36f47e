#include "proxy/control/report/seen_endpoints.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice::control {

void SeenEndpoints::adopt(const routing::Snapshot& served, const Moment& now) {
  decltype(plans_) known;
  for (const auto& plan : served.backends) {
    const auto found = plans_.find(plan->identity);
    SeenPlan before = found != plans_.end() ? std::move(found->second) : SeenPlan();
    known.insert_or_assign(plan->identity, seen(plan, std::move(before), now));
  }
  plans_ = std::move(known);
}

// Both lists are sorted.
SeenEndpoints::SeenPlan SeenEndpoints::seen(const std::shared_ptr<const routing::BackendPlan>& plan, SeenPlan before,
                                            const Moment& now) {
  const bool isSame = before.plan != nullptr && before.plan->endpoints == plan->endpoints;
  if (isSame) return {plan, std::move(before.since)};
  if (!plan->endpoints) return {plan, {now}};
  SeenPlan made{plan, std::vector<Moment>(plan->endpoints->size(), now)};
  if (before.plan == nullptr || !before.plan->endpoints) return made;
  const routing::Endpoints& earlier = *before.plan->endpoints;
  auto known = earlier.begin();
  for (std::size_t i = 0; i < made.since.size(); ++i) {
    const routing::Endpoint& endpoint = (*plan->endpoints)[i];
    known = std::lower_bound(known, earlier.end(), endpoint);
    if (known == earlier.end()) break;
    if (*known == endpoint) made.since[i] = before.since[static_cast<std::size_t>(known - earlier.begin())];
  }
  return made;
}

std::optional<Moment> SeenEndpoints::since(const routing::BackendPlan& plan,
                                           const std::optional<routing::Endpoint>& endpoint) const {
  const auto found = plans_.find(plan.identity);
  if (found == plans_.end()) return std::nullopt;
  const auto& [known, since] = found->second;
  if (known->endpoints.has_value() != endpoint.has_value()) return std::nullopt;
  if (!endpoint) return since.front();
  const auto at = std::lower_bound(known->endpoints->begin(), known->endpoints->end(), *endpoint);
  if (at == known->endpoints->end() || *at != *endpoint) return std::nullopt;
  return since[static_cast<std::size_t>(at - known->endpoints->begin())];
}

}  // namespace sluice::control
