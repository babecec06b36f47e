// The bounded pipe that one body flows through: a codec of one side puts bytes in, a codec of the other side takes them
// out.
//
// There is no counted pause and no watermark. The writer may put in as much as it was granted; the side that takes
// bytes out reports it, and the exchange turns that into the next grant. The end is one state, reached once. Owned by
// the exchange; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "proxy/base/byte_queue.h"
#include "proxy/http/message.h"

namespace sluice::http {

enum class PipeEnd : std::uint8_t {
  kOpen,      // more may come
  kComplete,  // the pipe holds all of it, perhaps with trailers behind it
  kBroken     // the writer failed: the bytes in the pipe must not be passed on as a whole body
};

class BodyPipe {
 public:
  explicit BodyPipe(base::ChunkPool& pool) : bytes(pool) {}

  void finish() {
    if (end_ == PipeEnd::kOpen) end_ = PipeEnd::kComplete;
  }
  void finish(Trailers&& trailers) {
    if (end_ != PipeEnd::kOpen) return;
    trailers_.emplace(std::move(trailers));
    end_ = PipeEnd::kComplete;
  }
  /// Drops the bytes that the pipe holds.
  void breakOff() {
    if (end_ == PipeEnd::kComplete && bytes.empty()) return;
    end_ = PipeEnd::kBroken;
    bytes.clear();
  }

  /// Returns how many bytes may leave until `out` holds about `limit`.
  std::size_t movable(const base::ByteQueue& out, std::size_t limit) const {
    return std::min(bytes.size(), limit > out.size() ? limit - out.size() : 0);
  }

  PipeEnd end() const { return end_; }
  /// Returns true once everything was put in and everything was taken out.
  bool drained() const { return end_ == PipeEnd::kComplete && bytes.empty(); }
  /// Returns nullptr if there are none.
  const Headers* trailers() const { return trailers_ ? &trailers_->fields : nullptr; }

  Headers* trailers() { return trailers_ ? &trailers_->fields : nullptr; }
  std::optional<Trailers> takeTrailers() { return std::exchange(trailers_, std::nullopt); }

  base::ByteQueue bytes;

 private:
  PipeEnd end_ = PipeEnd::kOpen;
  std::optional<Trailers> trailers_;
};

}  // namespace sluice::http
