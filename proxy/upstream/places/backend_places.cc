#include "proxy/upstream/places/backend_places.h"

namespace sluice::upstream {

// Places that come back while requests seek some are not for others.
std::optional<Place> BackendPlaces::enter(const PlaceUse& use) {
  const std::uint64_t seeking = breaker_.seeking.load(std::memory_order_relaxed);
  const bool isFree = seeking == 0 || breaker_.requests.room() > seeking;
  Place place = Place::kHeld;
  if (!isFree || !breaker_.requests.tryAdd()) {
    if (!places_.seek(joined_, use.request, use.client, limit_)) return std::nullopt;
    place = Place::kSought;
  }
  counts_.add(use.client, 1);
  return place;
}

Place BackendPlaces::rest(net::ClientNetwork client) {
  if (breaker_.resting.fetch_add(1, std::memory_order_relaxed) >= kMostResting * breaker_.requests.bound()) {
    breaker_.resting.fetch_sub(1, std::memory_order_relaxed);
    return Place::kHeld;
  }
  counts_.add(client, -1);
  giveBack();
  return Place::kResting;
}

void BackendPlaces::comeBack(net::ClientNetwork client) {
  breaker_.resting.fetch_sub(1, std::memory_order_relaxed);
  breaker_.requests.add();
  counts_.add(client, 1);
}

void BackendPlaces::giveBack() {
  breaker_.requests.release();
  if (breaker_.seeking.load(std::memory_order_relaxed) > 0) places_.onLeft(breaker_);
}

void BackendPlaces::leave(const PlaceUse& use, Place place) {
  if (place == Place::kResting) {
    breaker_.resting.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  counts_.add(use.client, -1);
  place == Place::kHeld ? giveBack() : places_.forget(use.request);
}

}  // namespace sluice::upstream
