// Replay keeps the beginning of a request's body, at most limits.replayBuffer, so that another attempt can be given it
// again.
//
// It belongs to an exchange whose rule retries. The body stays in the pipe until a codec takes it. Once bytes were
// taken that are not kept here, no further attempt is possible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/byte_queue.h"

namespace sluice::exchange {

class Replay {
 public:
  /// `pipe` contains the part of the body that has come so far, and none of it was taken.
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
  /// Returns true if the first `taken` bytes of the body can be replayed.
  bool holds(std::uint64_t taken) const { return taken <= kept_.size(); }
  /// Puts the first `taken` bytes, which must be kept here, back in front of the bytes in the pipe.
  void rewind(base::ByteQueue& pipe, std::uint64_t taken);
  /// Called when there will be no further attempt.
  void release();

 private:
  base::ByteQueue kept_;
  std::size_t bound_;
  std::uint64_t granted_ = 0;  // the largest number of bytes that an earlier attempt has taken
};

}  // namespace sluice::exchange
