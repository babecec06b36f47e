// Replay keeps the beginning of a request's body, so that another attempt can be given it again.
//
// It belongs to an exchange whose rule retries. The body stays in the pipe until a codec takes it. Once bytes were
// taken that are not kept here, no further attempt is possible. The copy is charged to limits.processorBufferTotal as
// it grows. If there is no room for more, the body goes on without one; a copy gives way to bodies that steps need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/processing/buffer_budget.h"

namespace sluice::exchange {

class Replay {
 public:
  /// `pipe` contains the part of the body that has come so far, and none of it was taken. At most `bound` bytes are
  /// kept, and charged to `room`. `waker` wakes the exchange when the copy has to give way: release() it then.
  Replay(const base::ByteQueue& pipe, std::uint64_t bound, processing::BufferRoom& room, processing::Waker waker);

  /// Called when more of the body has come.
  void keep(std::string_view bytes) {
    if (kept_.size() < bound_) append(bytes.substr(0, static_cast<std::size_t>(bound_ - kept_.size())));
  }
  /// Called when `count` more bytes were taken out of the pipe, `taken` in all by this attempt. Returns how many of
  /// them no earlier attempt had taken: the client is granted more for those alone.
  std::size_t take(std::uint64_t taken, std::size_t count);
  /// Returns true if the first `taken` bytes of the body can be replayed.
  bool holds(std::uint64_t taken) const { return taken <= kept_.size(); }
  /// Returns the name of the limit because of which the copy is not longer.
  std::string_view limit() const { return short_ ? "processorBufferTotal" : "replayBuffer"; }
  /// Puts the first `taken` bytes, which must be kept here, back in front of the bytes in the pipe.
  void rewind(base::ByteQueue& pipe, std::uint64_t taken);
  /// Called when there will be no further attempt, or when the copy has given way.
  void release();

 private:
  bool reach(std::uint64_t bytes);
  void append(std::string_view bytes) {
    if (reach(kept_.size() + bytes.size())) kept_.append(bytes);
  }

  base::ByteQueue kept_;
  std::uint64_t bound_;
  std::uint64_t granted_ = 0;  // the largest number of bytes that an earlier attempt has taken
  bool short_ = false;         // there was no room for more
  processing::BufferShare share_;
  const processing::Waker waker_;
};

}  // namespace sluice::exchange
