// The retry budget of a rule: it bounds how many of the rule's requests may be retries, so that they do not bury a
// Backend which fails (GEP-3388). One for the whole process, which survives reloads; any thread.
//
// A request costs one atomic increment. Only a request that wants to be retried looks back at that count, behind a
// mutex, and assumes that the requests since the last look were evenly spread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "proxy/base/clock.h"
#include "proxy/base/settings.h"

namespace sluice::routing {

class RetryBudget {
 public:
  /// Counts a request of the rule, once, however often it is retried.
  void count(base::MonotonicTime now) const;
  /// Takes one more retry out of the budget, if there is room.
  bool tryTake(base::MonotonicTime now, const base::RetryBudgetSettings& bounds) const;

 private:
  static constexpr std::uint64_t kSlots = 10;
  static constexpr base::Duration kInterval = std::chrono::seconds(10);
  struct IntervalSlot {
    std::uint64_t requests = 0;
    std::uint64_t retries = 0;
  };
  /// What is known of the last interval. Each slot is a tenth of it.
  struct History {
    std::array<IntervalSlot, kSlots> slots{};
    std::uint64_t latest = 0;    // the number of the latest slot
    std::uint64_t requests = 0;  // counted so far
    base::MonotonicTime second{};
    std::uint32_t taken = 0;  // in that second

    IntervalSlot& slot(std::uint64_t number) { return slots[number % kSlots]; }
    void lookBack(base::MonotonicTime now, std::uint64_t counted);
    bool withinMinimum(base::MonotonicTime now, std::uint32_t perSecond);
    bool withinShare(std::uint32_t percent) const;
  };

  static std::uint64_t slotAt(base::MonotonicTime time);

  mutable std::atomic<std::uint64_t> requests_{0};
  mutable std::atomic<base::MonotonicTime::rep> begun_{0};  // when the first of them came
  mutable std::mutex mutex_;
  mutable History history_;  // behind the mutex
};

}  // namespace sluice::routing
