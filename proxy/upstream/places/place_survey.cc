#include "proxy/upstream/places/place_survey.h"

#include <algorithm>

namespace sluice::upstream {

void PlaceSurvey::add(http::Token holder, const PlaceClaim& claim) {
  std::vector<StalledRequest>& stalled = shares_[claim.client].stalled;
  if (claim.owesSince == base::MonotonicTime::max()) return;
  stalled.push_back({claim.owesSince, holder});
  std::push_heap(stalled.begin(), stalled.end(), isLater);
}

bool PlaceSurvey::favours(net::ClientNetwork client, std::uint64_t held, std::uint64_t taken,
                          base::MonotonicTime now) const {
  std::uint64_t elsewhere = taken - std::min(taken, held);
  bool isOwnStuck = false;
  for (const auto& [each, share] : shares_) {
    if (each == client) {
      isOwnStuck = share.hasStalled(kStuck, now);
      continue;
    }
    if (share.held >= held + kLead) return true;
    elsewhere -= std::min(elsewhere, share.held);
  }
  return isOwnStuck || elsewhere >= held + kLead;
}

std::optional<http::Token> PlaceSurvey::choose(net::ClientNetwork client, std::uint64_t held, base::MonotonicTime now) {
  Share* chosen = nullptr;
  Share* own = nullptr;
  for (auto& [each, share] : shares_) {
    if (each == client) {
      own = &share;
    } else if (share.held >= held + kLead && share.hasStalled(kStalled, now)) {
      if (chosen == nullptr || share.held > chosen->held) chosen = &share;
    }
  }
  if (chosen == nullptr && own != nullptr && own->hasStalled(kStuck, now)) chosen = own;
  if (chosen == nullptr) return std::nullopt;
  std::pop_heap(chosen->stalled.begin(), chosen->stalled.end(), isLater);
  const http::Token holder = chosen->stalled.back().holder;
  chosen->stalled.pop_back();
  if (chosen->held > 0) --chosen->held;
  return holder;
}

}  // namespace sluice::upstream
