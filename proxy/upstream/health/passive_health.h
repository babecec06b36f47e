// Passive health of one endpoint: an endpoint that does not take connections is ejected for a moment, twice as long
// after each further attempt. So an endpoint that restarts is tried again soon, and one that is gone is tried rarely.
//
// Owned by the endpoint's pool; one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "proxy/base/clock.h"

namespace sluice::upstream {

class PassiveHealth {
 public:
  /// `failing` counts the endpoints that failed last, of all that share it. It outlives the endpoint.
  explicit PassiveHealth(std::size_t& failing) : failing_(failing) {}
  ~PassiveHealth() { onSuccess(); }
  PassiveHealth(const PassiveHealth&) = delete;
  PassiveHealth& operator=(const PassiveHealth&) = delete;

  /// Called when an attempt to connect failed, or takes so long that another endpoint is tried, or when the name has no
  /// address. Failures of attempts that were in progress at the same time are counted once.
  void onFailure(base::MonotonicTime now) {
    if (now < ejectedUntil_) return;
    ejectedUntil_ = now + kFirstEjection * (1U << std::min(failures_, kMostDoublings));
    if (failures_++ == 0) ++failing_;
  }
  void onSuccess() {
    if (failures_ == 0) return;
    --failing_;
    failures_ = 0;
    ejectedUntil_ = {};
  }
  /// Returns whether the endpoint is ejected; `probing` is true if a request already probes whether the next attempt
  /// fails too.
  bool ejected(base::MonotonicTime now, bool probing) const {
    return failures_ > 0 && (now < ejectedUntil_ || probing);
  }

 private:
  static constexpr base::Duration kFirstEjection = std::chrono::milliseconds(500);
  static constexpr unsigned kMostDoublings = 4;

  std::size_t& failing_;
  base::MonotonicTime ejectedUntil_{};
  unsigned failures_ = 0;  // failed attempts to connect since the last success
};

}  // namespace sluice::upstream
