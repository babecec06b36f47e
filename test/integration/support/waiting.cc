#include "test/integration/support/waiting.h"

#include <poll.h>

#include <algorithm>

namespace sluice::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A check often requests a page of the gateway, and requests without a pause delay the awaited event on a busy machine.
constexpr milliseconds kLongestInterval{20};

}  // namespace

bool eventually(const std::function<bool()>& holds, milliseconds patience) {
  const auto until = steady_clock::now() + patience;
  for (milliseconds interval{1}; !holds(); interval = std::min(2 * interval, kLongestInterval)) {
    if (steady_clock::now() > until) return false;
    poll(nullptr, 0, static_cast<int>(interval.count()));
  }
  return true;
}

void letTimePass(milliseconds time) {
  const auto until = steady_clock::now() + time;
  for (auto left = time; left.count() > 0; left = std::chrono::ceil<milliseconds>(until - steady_clock::now())) {
    poll(nullptr, 0, static_cast<int>(left.count()));
  }
}

}  // namespace sluice::test
