#include "proxy/upstream/places/place_survey.h"

#include <algorithm>

namespace sluice::upstream {

void PlaceSurvey::add(http::Token holder, const PlaceClaim& claim) {
  Share& share = shares_[claim.client];
  ++share.held;
  if (claim.owesSince == base::MonotonicTime::max()) return;
  share.stalled.push_back({holder, claim.owesSince});
  std::push_heap(share.stalled.begin(), share.stalled.end(), isLater);
}

ClientTotals PlaceSurvey::totals() const {
  ClientTotals totals;
  for (const auto& [client, share] : shares_) totals.emplace(client, share.held);
  return totals;
}

void PlaceSurvey::weigh(const ClientTotals& totals, bool complete) {
  for (const auto& [client, held] : totals) shares_[client].held = held;
  complete_ = complete;
}

std::uint64_t PlaceSurvey::heldBy(net::ClientNetwork client) const {
  const auto found = shares_.find(client);
  return found != shares_.end() ? found->second.held : 0;
}

bool PlaceSurvey::favours(net::ClientNetwork client, std::uint64_t held, base::MonotonicTime now) const {
  if (!complete_) return true;
  const auto own = shares_.find(client);
  if (own != shares_.end() && own->second.hasStalled(kStuck, now)) return true;
  return std::any_of(shares_.begin(), shares_.end(), [client, held](const auto& each) {
    return each.first != client && each.second.held >= held + kLead;
  });
}

std::optional<StalledRequest> PlaceSurvey::choose(net::ClientNetwork client, std::uint64_t held,
                                                  base::MonotonicTime now) {
  Share* chosen = nullptr;
  for (auto& [each, share] : shares_) {
    const bool mayGiveWay = each != client && share.held >= held + kLead && share.hasStalled(kStalled, now);
    if (mayGiveWay && (chosen == nullptr || share.held > chosen->held)) chosen = &share;
  }
  if (chosen == nullptr) {
    const auto own = shares_.find(client);
    if (own == shares_.end() || !own->second.hasStalled(kStuck, now)) return std::nullopt;
    chosen = &own->second;
  }
  std::pop_heap(chosen->stalled.begin(), chosen->stalled.end(), isLater);
  const StalledRequest stalled = chosen->stalled.back();
  chosen->stalled.pop_back();
  --chosen->held;
  return stalled;
}

}  // namespace sluice::upstream
