#include "proxy/exchange/attempt/replay.h"

#include <utility>

namespace sluice::exchange {

std::size_t Replay::take(std::uint64_t taken, std::size_t count) {
  if (taken > bound_) release();
  if (taken <= granted_) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(count, taken - granted_));
}

void Replay::rewind(base::ByteQueue& pipe, std::uint64_t taken) {
  granted_ = std::max(granted_, taken);
  if (taken == 0) return;
  base::ByteQueue whole(pipe.pool());
  whole.appendCopy(kept_, static_cast<std::size_t>(taken));
  whole.splice(pipe, pipe.size());
  pipe = std::move(whole);
}

void Replay::release() {
  kept_.clear();
  bound_ = 0;
}

}  // namespace sluice::exchange
