// A moment for tests that write times.
#pragma once

#include <chrono>

#include "proxy/base/clock.h"

namespace sluice::base {

/// Returns 2026-01-31T23:59:58Z plus `more`.
inline WallTime someTime(Duration more = {}) {
  constexpr std::chrono::sys_days kDay = std::chrono::year(2026) / 1 / 31;
  return WallTime(kDay + std::chrono::days(1) - std::chrono::seconds(2)) + more;
}

}  // namespace sluice::base
