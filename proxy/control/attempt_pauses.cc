#include "proxy/control/attempt_pauses.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace sluice::control {
namespace {

/// The last one is repeated.
constexpr std::array<int, 10> kTryAfterMilliseconds = {0, 10, 10, 100, 100, 500, 500, 3000, 3000, 5000};

}  // namespace

base::Duration pauseAfter(std::size_t attempts) {
  return std::chrono::milliseconds(kTryAfterMilliseconds[std::min(attempts, kTryAfterMilliseconds.size() - 1)]);
}

base::Duration spread(base::Duration pause, base::Random& random) {
  constexpr std::uint64_t kParts = 1024;
  return pause / 2 + pause * static_cast<base::Duration::rep>(random.next() % kParts) / kParts;
}

}  // namespace sluice::control
