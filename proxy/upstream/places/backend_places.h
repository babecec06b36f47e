// Takes and gives back the places among limits.backendRequests of one Backend, or those of one endpoint, for the
// requests of one worker.
//
// Owned by the room; one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/upstream/places/circuit_breaker.h"
#include "proxy/upstream/places/places.h"

namespace sluice::upstream {

/// The state of a request that has entered, with regard to places.
enum class Place : std::uint8_t {
  kNone,  // there is no room for it
  kHeld,
  kSought,   // others give way for it
  kReleased  // it has given its place back until its client continues
};

class BackendPlaces {
 public:
  /// Both outlive it. `limit` names the bound, and has static lifetime.
  BackendPlaces(const JoinedBreaker& joined, Places& places, std::string_view limit)
      : joined_(joined), breaker_(*joined.get()), places_(places), limit_(limit) {}

  std::uint64_t breaker() const { return breaker_.number; }
  std::string_view limit() const { return limit_; }

  /// Returns how many new requests would get a place at once.
  std::uint64_t free() const {
    const std::uint64_t room = breaker_.requests.room();
    return room - std::min(room, breaker_.seeking.load(std::memory_order_relaxed));
  }
  /// Takes a place for a request that is made because of that client, or seeks one if others may give way for it.
  Place enter(http::Token request, net::ClientNetwork client, bool seeks) {
    const bool isFree = breaker_.seeking.load(std::memory_order_relaxed) == 0;
    return isFree && breaker_.requests.tryAdd() ? Place::kHeld : enterBesideOthers(request, client, seeks);
  }
  /// Takes a place for a request that seeks one. Returns false if there is none yet; WaiterSink then notifies it when
  /// to ask again, or that it will get none.
  bool take(http::Token request) { return places_.take(breaker_, request); }
  /// Gives the place of a request back until its client continues. Returns Place::kHeld, and keeps the place, if too
  /// many others have done so.
  Place releasePlace();
  /// Takes the place of such a request again, even beyond the bound.
  void retakePlace();
  void leave(http::Token request, Place place) { place == Place::kHeld ? giveBack() : forget(request, place); }

 private:
  /// How many requests may give their place back, for each place.
  static constexpr std::uint64_t kMostReleased = 16;

  Place enterBesideOthers(http::Token request, net::ClientNetwork client, bool seeks);
  void giveBack() {
    breaker_.requests.release();
    if (breaker_.seeking.load(std::memory_order_relaxed) > 0) places_.onLeft(breaker_);
  }
  void forget(http::Token request, Place place);

  const JoinedBreaker& joined_;
  CircuitBreaker& breaker_;
  Places& places_;
  const std::string_view limit_;
};

}  // namespace sluice::upstream
