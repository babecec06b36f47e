#include "proxy/net/timers.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sluice::net {

Timer::~Timer() { cancel(); }

void Timer::cancel() {
  if (wheel_ == nullptr) return;
  TimerWheel::unlink(*this);
  --wheel_->count_;
  wheel_ = nullptr;
}

TimerWheel::~TimerWheel() {
  const auto forget = [](Timer* head) {
    for (Timer* timer = head; timer != nullptr; timer = timer->next_) timer->wheel_ = nullptr;
  };
  for (auto& level : slots_) {
    for (Timer* head : level) forget(head);
  }
  forget(due_);
  forget(later_);
}

void TimerWheel::set(Timer& timer, base::MonotonicTime deadline) {
  if (timer.wheel_ == this && deadline >= timer.deadline_) {
    timer.deadline_ = deadline;  // its slot comes up first, and the timer is placed again then
    return;
  }
  timer.cancel();
  timer.wheel_ = this;
  timer.deadline_ = deadline;
  ++count_;
  place(timer);
}

void TimerWheel::advance(base::MonotonicTime now) {
  const auto target = now > origin_ ? static_cast<std::uint64_t>((now - origin_) / kTick) : 0;
  Timer* due = std::exchange(due_, nullptr);
  if (due != nullptr) due->link_ = &due;
  fireOrPlace(due);
  while (count_ > 0) {
    const std::uint64_t next = nextTick();
    if (next > target) break;
    tick_ = next;
    expire();
  }
  if (count_ == 0) occupied_ = {};
  tick_ = std::max(tick_, target);
}

base::MonotonicTime TimerWheel::nextDue() const {
  return origin_ + kTick * static_cast<base::Duration::rep>(due_ != nullptr ? tick_ : nextTick());
}

/// Returns the first tick at which the deadline has passed.
std::uint64_t TimerWheel::tickOf(base::MonotonicTime deadline) const {
  if (deadline <= origin_) return 0;
  return static_cast<std::uint64_t>((deadline - origin_ - base::Duration(1)) / kTick) + 1;
}

/// Returns the next tick at which a slot must be looked at.
std::uint64_t TimerWheel::nextTick() const {
  for (unsigned level = 0; level < kLevels; ++level) {
    if (occupied_[level] == 0) continue;
    const auto slot = static_cast<std::uint64_t>(std::countr_zero(occupied_[level]));
    const unsigned shift = level * kSlotBits;
    return (tick_ >> (shift + kSlotBits) << (shift + kSlotBits)) | slot << shift;
  }
  return ((tick_ >> kLevels * kSlotBits) + 1) << kLevels * kSlotBits;
}

void TimerWheel::place(Timer& timer) {
  const std::uint64_t tick = tickOf(timer.deadline_);
  if (tick <= tick_) return link(due_, timer);
  const unsigned level = static_cast<unsigned>(std::bit_width(tick ^ tick_) - 1) / kSlotBits;
  if (level >= kLevels) return link(later_, timer);
  const std::size_t slot = tick >> level * kSlotBits & (kSlots - 1);
  occupied_[level] |= std::uint64_t{1} << slot;
  link(slots_[level][slot], timer);
}

void TimerWheel::link(Timer*& head, Timer& timer) {
  timer.next_ = head;
  timer.link_ = &head;
  if (head != nullptr) head->link_ = &timer.next_;
  head = &timer;
}

void TimerWheel::unlink(Timer& timer) {
  *timer.link_ = timer.next_;
  if (timer.next_ != nullptr) timer.next_->link_ = timer.link_;
}

/// Empties the slots that begin at tick_.
void TimerWheel::expire() {
  for (unsigned level = 0; level <= kLevels; ++level) {
    const unsigned shift = level * kSlotBits;
    if ((tick_ & ((std::uint64_t{1} << shift) - 1)) != 0) break;
    const std::size_t slot = tick_ >> shift & (kSlots - 1);
    if (level < kLevels) occupied_[level] &= ~(std::uint64_t{1} << slot);
    Timer* head = std::exchange(level < kLevels ? slots_[level][slot] : later_, nullptr);
    if (head != nullptr) head->link_ = &head;
    fireOrPlace(head);
  }
}

/// Takes one timer at a time from the list, because a firing timer may cancel or move any other, including the next
/// one.
void TimerWheel::fireOrPlace(Timer*& head) {
  while (head != nullptr) {
    Timer& timer = *head;
    unlink(timer);
    if (tickOf(timer.deadline_) > tick_) {
      place(timer);
      continue;
    }
    timer.wheel_ = nullptr;
    --count_;
    timer.onTimer();
  }
}

}  // namespace sluice::net
