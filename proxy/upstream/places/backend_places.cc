#include "proxy/upstream/places/backend_places.h"

namespace sluice::upstream {

// Places that come back while requests seek some are not for others.
std::optional<Place> BackendPlaces::enter(const PlaceUse& use) {
  const std::uint64_t seeking = breaker_.seeking.load(std::memory_order_relaxed);
  const bool isFree = seeking == 0 || breaker_.requests.room() > seeking;
  Place place = Place::kHeld;
  if (!isFree || !breaker_.requests.tryAdd()) {
    if (!use.seeks || !places_.seek(joined_, use.request, use.client, limit_)) return std::nullopt;
    place = Place::kSought;
  }
  return place;
}

Place BackendPlaces::rest() {
  if (breaker_.resting.fetch_add(1, std::memory_order_relaxed) >= kMostResting * breaker_.requests.bound()) {
    breaker_.resting.fetch_sub(1, std::memory_order_relaxed);
    return Place::kHeld;
  }
  giveBack();
  return Place::kResting;
}

void BackendPlaces::comeBack() {
  breaker_.resting.fetch_sub(1, std::memory_order_relaxed);
  breaker_.requests.add();
}

void BackendPlaces::giveBack() {
  breaker_.requests.release();
  if (breaker_.seeking.load(std::memory_order_relaxed) > 0) places_.onLeft(breaker_);
}

void BackendPlaces::leave(http::Token request, Place place) {
  switch (place) {
    case Place::kHeld:
      return giveBack();
    case Place::kSought:
      return places_.forget(request);
    case Place::kResting:
      breaker_.resting.fetch_sub(1, std::memory_order_relaxed);
      return;
  }
}

}  // namespace sluice::upstream
