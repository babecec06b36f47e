#include "proxy/upstream/places/backend_places.h"

namespace sluice::upstream {

// While requests seek places, a place that becomes free is for them, and not for new requests.
Place BackendPlaces::enterBesideOthers(http::Token request, net::ClientNetwork client, bool seeks) {
  if (free() > 0 && breaker_.requests.tryAdd()) return Place::kHeld;
  return seeks && places_.seek(joined_, request, client, limit_) ? Place::kSought : Place::kNone;
}

Place BackendPlaces::releasePlace() {
  if (breaker_.released.fetch_add(1, std::memory_order_relaxed) >= kMostReleased * breaker_.requests.bound()) {
    breaker_.released.fetch_sub(1, std::memory_order_relaxed);
    return Place::kHeld;
  }
  giveBack();
  return Place::kReleased;
}

void BackendPlaces::retakePlace() {
  breaker_.released.fetch_sub(1, std::memory_order_relaxed);
  breaker_.requests.add();
}

void BackendPlaces::forget(http::Token request, Place place) {
  if (place == Place::kSought) return places_.forget(request);
  breaker_.released.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace sluice::upstream
