#include "proxy/upstream/endpoint_places.h"

#include <limits>
#include <utility>

namespace sluice::upstream {

// A bound that the policy does not have must not be that of the settings, which may be lower than the Backend's own.
std::shared_ptr<const EndpointPlaces> EndpointPlaces::make(ConnectionRooms& rooms, const routing::BackendPlan& plan,
                                                           const net::Address& endpoint) {
  base::CircuitBreakerBounds bounds = plan.connection.perEndpoint;
  if (!bounds.any()) return nullptr;
  constexpr std::uint32_t kUnbounded = std::numeric_limits<std::uint32_t>::max();
  bounds.connections = bounds.connections.value_or(kUnbounded);
  bounds.requests = bounds.requests.value_or(kUnbounded);
  return std::make_shared<const EndpointPlaces>(
      rooms,
      RoomTerms{plan.boundedAs().text() + "|endpoint=" + endpoint.toString(), bounds, kConnectionLimit, kRequestLimit});
}

// A negative `more` wraps around, so that the addition subtracts.
void EndpointPlaces::countWaiters(int more) const {
  waiting_ += static_cast<std::size_t>(more);
  room_.budget().pending.fetch_add(static_cast<std::uint64_t>(static_cast<std::int64_t>(more)),
                                   std::memory_order_relaxed);
}

bool EndpointSeat::takeFree(const std::shared_ptr<const EndpointPlaces>& at, http::Token request) {
  if (isAt(*at)) {
    if (place_ == Place::kSought && at->places().take(request)) place_ = Place::kHeld;
    return place_ != Place::kSought;
  }
  if (at->places().enter(request, client_, /*seeks=*/false) != Place::kHeld) return false;
  leave(request);
  at_ = at;
  place_ = Place::kHeld;
  return true;
}

base::Result<bool> EndpointSeat::take(const std::shared_ptr<const EndpointPlaces>& at, http::Token request) {
  if (takeFree(at, request)) return true;
  if (isAt(*at)) return false;
  leave(request);
  place_ = at->places().enter(request, client_, seeks_);
  if (place_ == Place::kNone) return tooManyRequests(EndpointPlaces::kRequestLimit);
  at_ = at;
  return place_ == Place::kHeld;
}

void EndpointSeat::leave(http::Token request) {
  if (isTaken()) std::exchange(at_, nullptr)->places().leave(request, place_);
}

void EndpointSeat::retake() {
  if (!isTaken() || place_ != Place::kReleased) return;
  at_->places().retakePlace();
  place_ = Place::kHeld;
}

}  // namespace sluice::upstream
