// The turns in which health checks are made: at most a number a second in the whole process (limits.probesPerSecond).
// Checks that have to wait are made in turns of their namespaces, so that a namespace with many checks delays those of
// another one by no more than one probe each.
//
// Owned by the health checker. One thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/control/pace.h"

namespace sluice::control {

/// A `Waiter` is a check. Each leaves it before its end.
template <typename Waiter>
class ProbeTurns {
 public:
  explicit ProbeTurns(std::uint64_t perSecond) : perSecond_(perSecond), pace_(paceOf(perSecond)) {}

  /// `perSecond` is not 0.
  void setRate(std::uint64_t perSecond) {
    if (perSecond == perSecond_) return;
    perSecond_ = perSecond;
    pace_ = paceOf(perSecond);
  }
  bool empty() const { return waiting_.empty(); }
  /// Returns true if a check of that namespace may be made now, because none waits and the rate allows it.
  bool takeNow(const std::string& nameSpace, base::MonotonicTime now) {
    if (!empty() || !take(now)) return false;
    last_ = nameSpace;
    return true;
  }
  /// Adds a check of that namespace, which waits for its turn. Returns its number, for leave().
  std::uint64_t wait(const std::string& nameSpace, Waiter& waiter) {
    waiting_[nameSpace].emplace(++numbers_, &waiter);
    return numbers_;
  }
  void leave(const std::string& nameSpace, std::uint64_t number) {
    const auto found = waiting_.find(nameSpace);
    if (found == waiting_.end()) return;
    found->second.erase(number);
    if (found->second.empty()) waiting_.erase(found);
  }
  /// Returns the check whose turn it is, which does not wait any more; nullptr if there is none now.
  Waiter* next(base::MonotonicTime now) {
    if (empty() || !take(now)) return nullptr;
    auto owner = waiting_.upper_bound(last_);
    if (owner == waiting_.end()) owner = waiting_.begin();
    last_ = owner->first;
    const auto first = owner->second.begin();
    Waiter* const waiter = first->second;
    owner->second.erase(first);
    if (owner->second.empty()) waiting_.erase(owner);
    return waiter;
  }
  /// Returns when to call next() again.
  base::MonotonicTime nextAt(base::MonotonicTime now) const { return pace_.next(now); }

 private:
  // Timers are late by up to a tick; the probes of that time may then begin at once.
  static constexpr std::uint64_t kBurstsPerSecond = 50;

  static Pace paceOf(std::uint64_t perSecond) {
    const auto period = base::Duration(std::chrono::seconds(1)) / static_cast<base::Duration::rep>(perSecond);
    return {period, static_cast<int>(std::max<std::uint64_t>(perSecond / kBurstsPerSecond, 1))};
  }
  bool take(base::MonotonicTime now) {
    if (pace_.next(now) > now) return false;
    pace_.take(now);
    return true;
  }

  std::uint64_t perSecond_;
  Pace pace_;
  std::map<std::string, std::map<std::uint64_t, Waiter*>> waiting_;  // by namespace, in the order in which they came
  std::string last_;                                                 // the namespace that had the last turn
  std::uint64_t numbers_ = 0;
};

}  // namespace sluice::control
