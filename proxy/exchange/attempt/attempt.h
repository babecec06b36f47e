// An attempt is one try to have a request served by a Backend. A retry is a new attempt.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/request.h"

namespace sluice::exchange {

struct Attempt {
  upstream::Request request;
  const routing::WeightedBackend* backend = nullptr;  // null until it is chosen
  /// The plan of the destination that the request names; null until it is found, and if the Backend has a fixed one.
  std::shared_ptr<const routing::BackendPlan> requested = nullptr;
  std::uint32_t number = 0;  // of the attempts so far, including this one; see count()
  bool counted = false;
  bool made = false;  // it was sent, or the Backend could not be reached: neither a limit nor a policy has refused it
  std::uint16_t status = 0;         // of the Backend's final head, as it came; 0: there was none
  base::MonotonicTime begun{};      // when it was sent, or until then when it began to wait for a connection
  base::MonotonicTime firstByte{};  // that of the final head
  bool broke = false;               // it ended before its response was complete
  bool unprocessed = false;         // the backend has certainly not acted on it (RFC 9113 section 8.7)
  /// The limit because of which the body could not be sent again, so that no attempt follows it; empty: none.
  std::string_view unreplayable = {};

  /// Returns the plan of the destination. Its Backend was chosen and is not broken, and the destination was found if
  /// the request names it.
  const std::shared_ptr<const routing::BackendPlan>& destination() const {
    return requested != nullptr ? requested : backend->backend;
  }
  /// Counts the attempt once, however often it is repeated.
  void count() {
    if (!std::exchange(counted, true)) ++number;
  }
  /// Returns the address that it went to; empty if it never had a connection.
  std::string peer() const { return request.peer() != nullptr ? request.peer()->toString() : std::string(); }
};

}  // namespace sluice::exchange
