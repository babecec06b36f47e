#include "proxy/net/files/debounce.h"

#include <algorithm>
#include <utility>

namespace sluice::net {

Debounce::Debounce(TimerWheel& wheel, const Limits& limits, std::function<void()> settled)
    : wheel_(wheel), limits_(limits), settled_(std::move(settled)) {}

void Debounce::note(base::MonotonicTime now) {
  if (!isSet()) first_ = now;
  wheel_.set(*this, std::min(now + limits_.quiet, first_ + limits_.longest));
}

void Debounce::onTimer() { settled_(); }

}  // namespace sluice::net
