#include "proxy/observe/bounded_log.h"

#include <utility>

namespace sluice::observe {

bool BoundedLog::hasRoom() {
  const base::MonotonicTime now = clock_.now();
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    written_ = 0;
    if (const std::uint64_t left = std::exchange(left_, 0); left > 0) {
      log_->write(level_, "too many lines of this level; some were dropped", {{"lines", left}});
    }
  }
  if (written_ == kMostPerSecond) {
    ++left_;
    return false;
  }
  ++written_;
  return true;
}

}  // namespace sluice::observe
