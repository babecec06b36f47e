// The bounds of a policy on one endpoint (circuitBreaker.perEndpoint), which all workers share: on its connections, on
// the requests that wait for one, and on all its requests.
//
// A request takes a place at its endpoint beside the one at the Backend, by the same rules: if there is none, others
// may give way for it, or it is refused. The pools of an endpoint share its room for connections, which closes idle
// ones for those that wait. Shared by these pools and by the requests that have a place there, so that each place is
// given back where it was taken, even if the endpoint has gone meanwhile. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "proxy/base/result.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/connection_room.h"
#include "proxy/upstream/places/backend_places.h"

namespace sluice::upstream {

class EndpointPlaces {
 public:
  /// The names of the bounds, as metrics and answers have them.
  static constexpr std::string_view kConnectionLimit = "maxConnectionsPerEndpoint";
  static constexpr std::string_view kPendingLimit = "maxPendingRequestsPerEndpoint";
  static constexpr std::string_view kRequestLimit = "maxParallelRequestsPerEndpoint";

  /// Returns nullptr if the plan does not bound its endpoints. `rooms` outlives it.
  static std::shared_ptr<const EndpointPlaces> make(ConnectionRooms& rooms, const routing::BackendPlan& plan,
                                                    const net::Address& endpoint);
  EndpointPlaces(ConnectionRooms& rooms, RoomTerms terms)
      : rooms_(rooms), terms_(std::move(terms)), room_(rooms.join(terms_)) {}
  ~EndpointPlaces() { rooms_.leave(terms_.boundedAs); }
  EndpointPlaces(const EndpointPlaces&) = delete;
  EndpointPlaces& operator=(const EndpointPlaces&) = delete;

  ConnectionRoom& room() const { return room_; }
  BackendPlaces& places() const { return room_.places(); }
  /// Returns how many more connections there may be.
  std::uint64_t spareConnections() const { return room_.budget().connections.room(); }

  /// Returns whether there is room for another request that waits for a connection.
  bool mayWait() const {
    return !terms_.bounds.pendingRequests ||
           room_.budget().pending.load(std::memory_order_relaxed) < *terms_.bounds.pendingRequests;
  }
  /// Counts requests that wait, or do not wait any more if `more` is negative.
  void countWaiters(int more) const;
  /// Returns how many requests of this worker wait.
  std::size_t waiting() const { return waiting_; }

 private:
  ConnectionRooms& rooms_;
  const RoomTerms terms_;
  ConnectionRoom& room_;
  mutable std::size_t waiting_ = 0;
};

/// The place of one request at its endpoint; it has none without such bounds. Owned by the request, which gives the
/// place back by leave().
class EndpointSeat {
 public:
  /// `client` is the client for which the request is made. Others give way for it if `seeks`.
  void open(net::ClientNetwork client, bool seeks) {
    client_ = client;
    seeks_ = seeks;
  }

  /// Takes a place there if one is free, and gives another one back; otherwise it keeps that. Returns true if it has a
  /// place there.
  bool takeFree(const std::shared_ptr<const EndpointPlaces>& at, http::Token request);
  /// Like takeFree(), but gives another place back and seeks one there if none is free. Returns false if WaiterSink
  /// will notify the request when to ask again; an error if there is none for it.
  base::Result<bool> take(const std::shared_ptr<const EndpointPlaces>& at, http::Token request);
  void leave(http::Token request);

  /// Returns true if leave() is due.
  bool isTaken() const { return at_ != nullptr; }
  /// Returns true if it has a place there, or seeks one.
  bool isAt(const EndpointPlaces& places) const { return isTaken() && &at_->room() == &places.room(); }
  bool seeks() const { return isTaken() && place_ == Place::kSought; }
  /// Returns true if it is a place of the circuit breaker with that number.
  bool isOf(std::uint64_t breaker) const {
    return isTaken() && place_ == Place::kHeld && at_->places().breaker() == breaker;
  }
  /// Do Request::releasePlace() and Request::retakePlace().
  void release() {
    if (isTaken() && place_ == Place::kHeld) place_ = at_->places().releasePlace();
  }
  void retake();

 private:
  std::shared_ptr<const EndpointPlaces> at_;
  Place place_ = Place::kNone;
  bool seeks_ = false;
  net::ClientNetwork client_ = net::kOwnNetwork;
};

}  // namespace sluice::upstream
