// Outlier detection for one Backend of a rule, by the answers to the rule's requests. A Backend that fails several
// times in a row, or asks for a pause (Retry-After), is ejected for a time. After that, one request probes whether it
// serves again.
//
// There is one for each weighted backend of a rule with a fail-over or such a policy, for the whole process; it
// survives reloads; any thread. It belongs to the rule and not to the Backend, because the clients of one rule must not
// eject a Backend for those of other rules, which have credentials and quotas of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/routing/policy/ejection.h"

namespace sluice::routing {

/// The fields of TrafficPolicy.spec.healthCheck.passive.
struct PassiveHealthBounds {
  std::uint32_t errors = 5;                                  // in a row; 0: any number
  std::uint32_t gatewayErrors = 0;                           // in a row: 502 to 504 or no answer; 0: any number
  base::Duration baseEjection = std::chrono::seconds(30);    // multiplied by the number of ejections
  base::Duration longestEjection = std::chrono::minutes(5);  // never zero
  std::uint32_t failurePercent = 0;                          // of the requests in an interval; 0: any share
  std::uint32_t minimumRequests = 50;                        // in an interval, before failurePercent applies
  base::Duration interval = std::chrono::seconds(10);        // never zero
  std::uint32_t ejectedPercent = 100;                        // the share of the rule's Backends that may be ejected
};

class AnswerHealth {
 public:
  enum class State : std::uint8_t {
    kServes,
    kEjected,
    kDue  // its ejection has ended, and no request has probed yet whether it serves
  };
  /// Returns true if it is neither ejected nor due for a probe.
  bool serves() const { return until_.load(std::memory_order_relaxed) == 0; }
  State state(base::MonotonicTime now) const {
    const base::MonotonicTime::rep until = until_.load(std::memory_order_relaxed);
    if (until == 0) return State::kServes;
    return now.time_since_epoch().count() < until ? State::kEjected : State::kDue;
  }
  /// Returns when its last ejection ends, or has ended; the clock's beginning if it serves.
  base::MonotonicTime until() const {
    return base::MonotonicTime(base::Duration(until_.load(std::memory_order_relaxed)));
  }
  /// Returns false if it says no more than one of which nothing is known: it serves, has not failed since it last
  /// answered, and its ejections were so long ago that the next one is as short as the first.
  bool matters(base::MonotonicTime now, const PassiveHealthBounds& bounds) const;
  /// Returns true if it is ejected because it failed, and not because of a Retry-After.
  bool isEjected(base::MonotonicTime now) const {
    const base::MonotonicTime::rep until = until_.load(std::memory_order_relaxed);
    return now.time_since_epoch().count() < until && until > asked_.load(std::memory_order_relaxed);
  }
  /// Returns true if it was ejected because it failed, and has not served since.
  bool isOut() const {
    return !serves() && until_.load(std::memory_order_relaxed) > asked_.load(std::memory_order_relaxed);
  }
  /// Returns when its ejection because of failures began; the beginning of the clock if that is not known.
  base::WallTime since() const { return base::WallTime(base::Duration(since_.load(std::memory_order_relaxed))); }
  /// Returns true if it is or was ejected, also by a Retry-After.
  bool wasEjected() const {
    return !serves() || ejections_.load(std::memory_order_relaxed) != 0 || asked_.load(std::memory_order_relaxed) != 0;
  }
  /// Returns true if it is due and the calling request may be its probe. One request may, and another one if the first
  /// has had no outcome for kProbe.
  bool tryProbe(base::MonotonicTime now) const;
  /// Called when a probe did not reach the Backend. Another request may then be the probe.
  void giveProbeBack() const { probe_.store(0, std::memory_order_relaxed); }

  /// Called when it has answered with a status below 500.
  void onAnswer(base::MonotonicTime now, const PassiveHealthBounds& bounds) const {
    if (errors_.load(std::memory_order_relaxed) != 0) forgetErrors();
    if (bounds.failurePercent != 0) countRequest(now, bounds, /*failed=*/false);
    if (until_.load(std::memory_order_relaxed) != 0) recover(now);
  }
  /// Called when it has answered with a status of 500 or more, or has failed before it answered. `isGatewayError` is
  /// true for a status from 502 to 504, and if there was no answer. Returns the reason if the caller may now eject()
  /// it.
  std::optional<EjectionCause> onError(base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                       bool isGatewayError) const;
  /// Ejects it, for a longer time after each ejection. Returns for how long; nullopt if it was ejected already. `at` is
  /// the wall time, if it is known.
  std::optional<base::Duration> eject(base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                      base::WallTime at = {}) const;
  /// Ejects it until that time, because of its own Retry-After.
  void ejectUntil(base::MonotonicTime until) const;
  /// Called when a health check has found that it serves again. Ends its ejection, unless a Retry-After caused it.
  void endEjection(base::MonotonicTime now) const;

 private:
  /// How long a probe may take before another one may begin.
  static constexpr base::Duration kProbe = std::chrono::seconds(5);

  void recover(base::MonotonicTime now) const;
  void forgetErrors() const {
    errors_.store(0, std::memory_order_relaxed);
    gatewayErrors_.store(0, std::memory_order_relaxed);
  }
  /// Counts a request, and returns the share of failures in this interval if it is too large.
  std::optional<EjectionCause> countRequest(base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                            bool failed) const;

  mutable std::atomic<std::uint32_t> errors_{0};         // failures in a row
  mutable std::atomic<std::uint32_t> gatewayErrors_{0};  // gateway errors in a row
  mutable std::atomic<std::uint32_t> requests_{0};       // in this interval; counted only if failurePercent is set
  mutable std::atomic<std::uint32_t> failures_{0};       // failed ones of these
  mutable std::atomic<std::uint32_t> ejections_{0};
  mutable std::atomic<base::MonotonicTime::rep> until_{0};      // when its rest passes; 0: it serves
  mutable std::atomic<base::MonotonicTime::rep> interval_{0};   // when this interval began; 0: none has
  mutable std::atomic<base::MonotonicTime::rep> asked_{0};      // when the rest passes that it asked for
  mutable std::atomic<base::MonotonicTime::rep> probe_{0};      // when the window of the last probe begins
  mutable std::atomic<base::MonotonicTime::rep> recovered_{0};  // when it served again
  mutable std::atomic<base::WallTime::rep> since_{0};           // when it was last ejected because of failures
};

/// Makes a request the probe of a Backend. If it is destroyed before the request has reached the Backend, another
/// request may be the probe.
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

  /// Called when the request goes to the Backend, whose answer is the outcome of the probe.
  void begin() {
    if (of_) of_.reset();
  }

 private:
  std::shared_ptr<const AnswerHealth> of_;  // null if the request is no probe
};

}  // namespace sluice::routing
