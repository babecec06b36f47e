#include "filters/request_budget.h"

#include <algorithm>

namespace sluice::filters {
namespace {

constexpr std::uint64_t kUnits = 4096;  // per request
constexpr std::uint64_t kTicks = 4096;  // per second
static_assert(kUnits == kTicks, "what comes back in a tick is perMinute / 60 units");
static_assert(Allowance::kMostBurst * kUnits + kUnits <= UINT32_MAX, "the upper half of the word");

/// Threads read the clock at different times, so the time that one writes may be ahead of another's. Ticks wrap around
/// after 12 days: a budget that was idle for so long that its time seems to be ahead waits for this window, and never
/// grants more than its limit.
constexpr std::uint32_t kAheadAtMost = 64 * kTicks;

/// Modulo 2^32.
std::uint32_t ticksOf(base::MonotonicTime time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const auto rest = static_cast<std::uint64_t>((since - seconds).count());
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(seconds.count()) * kTicks +
                                    rest * kTicks / std::nano::den);
}

struct Level {
  std::uint32_t used;
  std::uint32_t at;

  static Level from(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
  std::uint64_t word() const { return std::uint64_t{used} << 32 | at; }

  /// Returns the part of the budget that is still in use at `now`. Rounded up, by less than a unit a request, so that a
  /// budget never grants too much.
  Level drained(const Allowance& allowance, std::uint32_t now) const {
    if (used == 0) return {0, now};
    const std::uint32_t elapsed = now - at;
    if (elapsed > UINT32_MAX - kAheadAtMost) return *this;
    const std::uint64_t back = std::uint64_t{elapsed} * allowance.perMinute / 60;
    return {used > back ? static_cast<std::uint32_t>(used - back) : 0, now};
  }
};

constexpr std::uint64_t dividedUp(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

std::optional<std::chrono::seconds> RequestBudget::take(const Allowance& allowance, base::MonotonicTime now,
                                                        const RequestBudget* beside) const {
  if (allowance.concurrency == 0) return takeFromRate(allowance, now);
  // The end of a request in flight cannot be predicted, so the client may come back soon.
  if (!takeOff(allowance.concurrency, beside)) return std::chrono::seconds(1);
  auto refused = takeFromRate(allowance, now);
  if (refused) giveBack();
  return refused;
}

bool RequestBudget::takeOff(std::uint32_t concurrency, const RequestBudget* beside) const {
  const std::uint64_t others = beside != nullptr ? beside->inFlight_.load(std::memory_order_relaxed) : 0;
  std::uint32_t own = inFlight_.load(std::memory_order_relaxed);
  do {
    if (own + others >= concurrency) return false;
  } while (!inFlight_.compare_exchange_weak(own, own + 1, std::memory_order_relaxed));
  return true;
}

std::optional<std::chrono::seconds> RequestBudget::takeFromRate(const Allowance& allowance,
                                                                base::MonotonicTime now) const {
  if (allowance.perMinute == 0) return std::nullopt;
  const std::uint32_t tick = ticksOf(now);
  const std::uint64_t room = allowance.burst * kUnits;
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  while (true) {
    const Level level = Level::from(word).drained(allowance, tick);
    const std::uint64_t wanted = level.used + kUnits;
    if (wanted > room) {
      const std::uint64_t ticks = dividedUp((wanted - room) * 60, allowance.perMinute);
      return std::chrono::seconds(std::max<std::uint64_t>(1, dividedUp(ticks, kTicks)));
    }
    const Level taken{static_cast<std::uint32_t>(wanted), level.at};
    if (word_.compare_exchange_weak(word, taken.word(), std::memory_order_relaxed)) return std::nullopt;
  }
}

bool RequestBudget::untouched(const Allowance& allowance, base::MonotonicTime now) const {
  if (isInUse()) return false;
  if (allowance.perMinute == 0) return true;
  const Level level = Level::from(word_.load(std::memory_order_relaxed));
  return level.used == 0 || level.drained(allowance, ticksOf(now)).used == 0;
}

void RequestBudget::startNotBelow(const RequestBudget& other, const Allowance& allowance,
                                  base::MonotonicTime now) const {
  const std::uint32_t tick = ticksOf(now);
  const auto levelOf = [&](const RequestBudget& budget) {
    return Level::from(budget.word_.load(std::memory_order_relaxed)).drained(allowance, tick);
  };
  const Level level = levelOf(other);
  if (level.used > levelOf(*this).used) word_.store(level.word(), std::memory_order_relaxed);
}

}  // namespace sluice::filters
