#include "proxy/control/paced_keeping.h"

#include <utility>

namespace sluice::control {

void PacedKeeping::changed() {
  const base::MonotonicTime now = clock_.now();
  const base::MonotonicTime next = pace_.next(now);
  if (next <= now || served_.configuration->content() == kept_) return keepNow();
  loader_.remember(served_);
  if (!isSet()) timers_.set(*this, next);
}

void PacedKeeping::finish() {
  if (isSet()) keepNow();
}

void PacedKeeping::keepNow() {
  cancel();
  const std::string content = served_.configuration->content();
  if (std::exchange(kept_, content) != content) pace_.take(clock_.now());
  loader_.keep(served_);
}

}  // namespace sluice::control
