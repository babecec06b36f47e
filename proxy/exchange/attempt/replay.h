// The beginning of a request's body, kept so that another attempt can be given it again: at most limits.replayBuffer.
//
// Belongs to an exchange whose rule retries. The body stays in the pipe until a codec takes it; what was taken and is
// not held in here is gone, and with it every further attempt.
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

  /// More of the body has come.
  void keep(std::string_view bytes) {
    if (kept_.size() < bound_) kept_.append(bytes.substr(0, bound_ - kept_.size()));
  }
  /// `count` bytes more were taken out of the pipe, `taken` in all by this attempt. Returns how many of them no earlier
  /// attempt had taken: for those alone the client is to be granted others.
  std::size_t take(std::uint64_t taken, std::size_t count);
  /// The first `taken` bytes of the body can be had again.
  bool holds(std::uint64_t taken) const { return taken <= kept_.size(); }
  /// Puts the first `taken` bytes, which it holds, back in front of what is in the pipe.
  void rewind(base::ByteQueue& pipe, std::uint64_t taken);
  /// There will be no further attempt.
  void release();

 private:
  base::ByteQueue kept_;
  std::size_t bound_;
  std::uint64_t granted_ = 0;  // taken by earlier attempts, the longest of them
};

}  // namespace sluice::exchange
