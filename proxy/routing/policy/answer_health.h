// What a rule knows of one of its Backends by the answers to its requests: a Backend that fails several times in a row,
// or asks for a pause (Retry-After), rests. Then one request finds out whether it serves again.
//
// There is one for each weighted backend of a rule with a fail-over or such a policy, for the whole process; it
// survives reloads; any thread. It is the rule's and not the Backend's, because the clients of one rule must not take a
// Backend away from those of others, who have credentials and quotas of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "proxy/base/clock.h"

namespace sluice::routing {

/// TrafficPolicy.spec.healthCheck.passive
struct PassiveHealthBounds {
  std::uint32_t errors = 5;                                // in a row; 0: any number
  std::uint32_t gatewayErrors = 0;                         // likewise, of 502 to 504 and of requests without an answer
  base::Duration baseEjection = std::chrono::seconds(30);  // times how often it was ejected
  base::Duration longestEjection = std::chrono::minutes(5);  // never zero
  std::uint32_t failurePercent = 0;                          // of the requests in an interval; 0: any share
  std::uint32_t minimumRequests = 50;                        // in an interval, before that share counts
  base::Duration interval = std::chrono::seconds(10);        // never zero
  std::uint32_t ejectedPercent = 100;                        // of the rule's Backends, that may be ejected at once
};

class AnswerHealth {
 public:
  enum class State : std::uint8_t {
    kServes,
    kEjected,
    kDue  // its rest has passed, and no request has found out yet whether it serves
  };
  /// Returns true if it neither rests nor is due.
  bool serves() const { return until_.load(std::memory_order_relaxed) == 0; }
  State state(base::MonotonicTime now) const {
    const base::MonotonicTime::rep until = until_.load(std::memory_order_relaxed);
    if (until == 0) return State::kServes;
    return now.time_since_epoch().count() < until ? State::kEjected : State::kDue;
  }
  /// Returns true if it rests because it failed, and not because it asked for a pause.
  bool isEjected(base::MonotonicTime now) const {
    const base::MonotonicTime::rep until = until_.load(std::memory_order_relaxed);
    return now.time_since_epoch().count() < until && until > asked_.load(std::memory_order_relaxed);
  }
  /// Returns true if it is due, and the request that asks may find out whether it serves. One may, and another one if
  /// nothing was heard of the first for a while.
  bool tryProbe(base::MonotonicTime now) const;
  /// Called when a request that was to find out has not been to the Backend. Another one may.
  void giveProbeBack() const { probe_.store(0, std::memory_order_relaxed); }

  /// Called when it has answered with a status below 500.
  void onAnswer(base::MonotonicTime now, const PassiveHealthBounds& bounds) const {
    if (errors_.load(std::memory_order_relaxed) != 0) forgetErrors();
    if (bounds.failurePercent != 0) countRequest(now, bounds, /*failed=*/false);
    if (until_.load(std::memory_order_relaxed) != 0) recover(now);
  }
  /// Called when it has answered with another one, or has failed before it answered. `isGatewayError` says that this
  /// was a status from 502 to 504, or no answer at all. Returns true if that is enough for eject().
  bool onError(base::MonotonicTime now, const PassiveHealthBounds& bounds, bool isGatewayError) const;
  /// Lets it rest, for longer the more often it has.
  void eject(base::MonotonicTime now, const PassiveHealthBounds& bounds) const;
  /// Called when it asks for a pause.
  void ejectUntil(base::MonotonicTime until) const;
  /// Called when a health check has found that it serves again. It rests no longer, unless it asked for that itself.
  void endEjection(base::MonotonicTime now) const;

 private:
  /// How long a request has for finding out.
  static constexpr base::Duration kProbe = std::chrono::seconds(5);

  void recover(base::MonotonicTime now) const;
  void forgetErrors() const {
    errors_.store(0, std::memory_order_relaxed);
    gatewayErrors_.store(0, std::memory_order_relaxed);
  }
  /// Returns true if the share of failures in this interval is too great.
  bool countRequest(base::MonotonicTime now, const PassiveHealthBounds& bounds, bool failed) const;

  mutable std::atomic<std::uint32_t> errors_{0};         // in a row
  mutable std::atomic<std::uint32_t> gatewayErrors_{0};  // likewise
  mutable std::atomic<std::uint32_t> requests_{0};       // of this interval; counted only if their share matters
  mutable std::atomic<std::uint32_t> failures_{0};       // likewise
  mutable std::atomic<std::uint32_t> ejections_{0};
  mutable std::atomic<base::MonotonicTime::rep> until_{0};      // when its rest passes; 0: it serves
  mutable std::atomic<base::MonotonicTime::rep> interval_{0};   // when this interval began; 0: none has
  mutable std::atomic<base::MonotonicTime::rep> asked_{0};      // when the rest passes that it asked for
  mutable std::atomic<base::MonotonicTime::rep> probe_{0};      // when the window of the last probe begins
  mutable std::atomic<base::MonotonicTime::rep> recovered_{0};  // when it served again
};

/// The task of a request to find out whether a Backend serves. Another request may, unless this one has been there.
class ProbeTask {
 public:
  ProbeTask() = default;
  explicit ProbeTask(std::shared_ptr<const AnswerHealth> of) : of_(std::move(of)) {}
  ProbeTask(ProbeTask&&) noexcept = default;
  ProbeTask& operator=(ProbeTask&& other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~ProbeTask() {
    if (of_) of_->giveProbeBack();
  }

  /// Called when the request goes to the Backend, whose answer will tell.
  void begin() {
    if (of_) of_.reset();
  }

 private:
  std::shared_ptr<const AnswerHealth> of_;  // null if there is no task
};

}  // namespace sluice::routing
