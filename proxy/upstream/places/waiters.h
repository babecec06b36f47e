// Pools and places notify waiting requests through a WaiterSink, and learn from it about those that have places. Each
// table of requests implements one.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/error.h"
#include "proxy/http/codec.h"
#include "proxy/upstream/places/place_survey.h"

namespace sluice::upstream {

/// The bound whose places other requests want.
struct PlaceDemand {
  std::uint64_t breaker;   // the number of the circuit breaker
  std::string_view limit;  // the name of its bound
};

class WaiterSink {
 public:
  virtual ~WaiterSink() = default;
  /// Called when there is a connection, or when addresses are known: acquire() or resolve() may be called again.
  /// Returns false if the token belongs to no request any more.
  virtual bool onPoolReady(http::Token waiter) = 0;
  /// Called when no connection will come. Returns false like onPoolReady().
  virtual bool onPoolFailed(http::Token waiter, const base::Error& error) = 0;

  /// Adds the requests that hold a place of the circuit breaker with that number. Linear in the number of requests.
  virtual void surveyPlaces(std::uint64_t breaker, PlaceSurvey& survey) = 0;
  /// Ends a request because others want its place. Returns false, and does nothing, if it has no place of that breaker
  /// any more, or if its client has brought or taken bytes since `stalled.since`.
  virtual bool giveWay(const StalledRequest& stalled, const PlaceDemand& demand) = 0;
};

}  // namespace sluice::upstream
