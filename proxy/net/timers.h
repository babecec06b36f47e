// Deadlines on a wheel: setting, moving and dropping one costs a few instructions, whatever their number. It does not
// use libuv: the worker advances the wheel, and tests advance it by hand.
//
// A Timer belongs to the object whose deadline it is and notifies it by one virtual call, inside a Turn; like every
// event, the call only records. Resolution is kTick: a timer fires at its deadline or up to one tick later, never
// earlier. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "proxy/base/clock.h"

namespace sluice::net {

class TimerWheel;

class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  /// Cancels the timer if it is set.
  virtual ~Timer();

  bool isSet() const { return wheel_ != nullptr; }
  base::MonotonicTime deadline() const { return deadline_; }
  void cancel();

 protected:
  /// Called when the deadline has passed. The timer is no longer set; it may be set again in here.
  virtual void onTimer() = 0;

 private:
  friend class TimerWheel;
  TimerWheel* wheel_ = nullptr;
  Timer* next_ = nullptr;
  Timer** link_ = nullptr;  // the pointer that points at this timer
  base::MonotonicTime deadline_{};
};

class TimerWheel {
 public:
  static constexpr base::Duration kTick = std::chrono::milliseconds(16);

  explicit TimerWheel(base::MonotonicTime start) : origin_(start) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;
  ~TimerWheel();

  /// Sets or moves a timer. A deadline in the past fires with the next advance(). Moving a deadline further away is
  /// the common case (idle timeouts) and does not touch the wheel.
  void set(Timer& timer, base::MonotonicTime deadline);
  /// Fires the timers that are due by `now`, earlier ticks first. A timer that a firing timer sets to the past waits
  /// for the next call.
  void advance(base::MonotonicTime now);
  /// Returns true if no timer is set: the worker then needs no tick.
  bool empty() const { return count_ == 0; }
  /// Returns when advance() may next have something to do: never later than the first deadline's tick, sometimes
  /// earlier.
  base::MonotonicTime nextDue() const;

 private:
  friend class Timer;
  // Four levels of 64 slots: 16 ms, 1 s, 65 s and 70 min each. A timer that is more than three days away waits outside
  // of them.
  static constexpr unsigned kLevels = 4;
  static constexpr unsigned kSlotBits = 6;
  static constexpr std::size_t kSlots = 1 << kSlotBits;

  std::uint64_t tickOf(base::MonotonicTime deadline) const;
  std::uint64_t nextTick() const;
  void place(Timer& timer);
  static void link(Timer*& head, Timer& timer);
  static void unlink(Timer& timer);
  void expire();
  void fireOrPlace(Timer*& head);

  base::MonotonicTime origin_;
  std::uint64_t tick_ = 0;  // all ticks up to this one have fired
  std::size_t count_ = 0;
  // The level of a timer is that of the highest six bits in which its tick differs from tick_. So the slots in use of a
  // level are all ahead of tick_, none wraps around, and the next one is found by counting zero bits.
  std::array<std::array<Timer*, kSlots>, kLevels> slots_{};
  std::array<std::uint64_t, kLevels>
      occupied_{};          // one bit per slot; may be set for a slot that was emptied by cancelling
  Timer* due_ = nullptr;    // timers set to the past
  Timer* later_ = nullptr;  // timers beyond the last level
};

}  // namespace sluice::net
