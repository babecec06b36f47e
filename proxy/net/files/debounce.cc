#include "proxy/net/files/debounce.h"

#include <algorithm>
#include <utility>

namespace sluice::net {

Debounce::Debounce(TimerWheel& wheel, const Delays& delays, std::function<void()> settled)
    : wheel_(wheel), delays_(delays), settled_(std::move(settled)) {}

void Debounce::note(base::MonotonicTime now) {
  if (!isSet()) first_ = now;
  wheel_.set(*this, std::min(now + delays_.quiet, first_ + delays_.longest));
}

void Debounce::onTimer() { settled_(); }

}  // namespace sluice::net
