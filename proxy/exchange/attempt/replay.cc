#include "proxy/exchange/attempt/replay.h"

#include <utility>

namespace sluice::exchange {

Replay::Replay(const base::ByteQueue& pipe, std::uint64_t bound, processing::BufferRoom& room, processing::Waker waker)
    : kept_(pipe.pool()), bound_(bound), share_(room), waker_(waker) {
  const std::size_t count = std::min(bound, std::uint64_t{pipe.size()});
  if (reach(count)) kept_.appendCopy(pipe, count);
}

/// Takes room for `bytes` in all. If there is none, no more than what is kept so far can be replayed.
bool Replay::reach(std::uint64_t bytes) {
  if (share_.reachSpare(bytes, waker_)) return true;
  bound_ = kept_.size();
  short_ = true;
  return false;
}

std::size_t Replay::take(std::uint64_t taken, std::size_t count) {
  if (taken > bound_) release();
  if (taken <= granted_) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(count, taken - granted_));
}

void Replay::rewind(base::ByteQueue& pipe, std::uint64_t taken) {
  granted_ = std::max(granted_, taken);
  if (taken > 0) {
    base::ByteQueue whole(pipe.pool());
    whole.appendCopy(kept_, static_cast<std::size_t>(taken));
    whole.splice(pipe, pipe.size());
    pipe = std::move(whole);
  }
  // It has given way since the attempt was planned.
  if (share_.hasGivenWay()) release();
}

void Replay::release() {
  short_ = short_ || share_.hasGivenWay();
  kept_.clear();
  bound_ = 0;
  share_.release();
}

}  // namespace sluice::exchange
