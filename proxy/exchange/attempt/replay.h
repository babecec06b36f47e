// Replay keeps the beginning of a request's body, at most limits.replayBuffer, so that another attempt can be given it
// again.
//
// It belongs to an exchange whose rule retries. The body stays in the pipe until a codec takes it. Bytes that were
// taken and are not held here are gone, and no further attempt is possible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/byte_queue.h"

namespace sluice::exchange {

class Replay {
 public:
  /// `pipe` holds what has come of the body so far, and nothing of it was taken.
  Replay(const base::ByteQueue& pipe, std::size_t bound) : kept_(pipe.pool()), bound_(bound) {
    kept_.appendCopy(pipe, std::min(bound, pipe.size()));
  }

  /// Called when more of the body has come.
  void keep(std::string_view bytes) {
    if (kept_.size() < bound_) kept_.append(bytes.substr(0, bound_ - kept_.size()));
  }
  /// Called when `count` more bytes were taken out of the pipe, `taken` in all by this attempt. Returns how many of
  /// them no earlier attempt had taken: the client is granted more for those alone.
  std::size_t take(std::uint64_t taken, std::size_t count);
  /// Returns true if the first `taken` bytes of the body can be had again.
  bool holds(std::uint64_t taken) const { return taken <= kept_.size(); }
  /// Puts the first `taken` bytes, which it holds, back in front of what is in the pipe.
  void rewind(base::ByteQueue& pipe, std::uint64_t taken);
  /// Called when there will be no further attempt.
  void release();

 private:
  base::ByteQueue kept_;
  std::size_t bound_;
  std::uint64_t granted_ = 0;  // the most that an earlier attempt has taken
};

}  // namespace sluice::exchange
