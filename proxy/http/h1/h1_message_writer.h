// The one message that leaves on an HTTP/1.x connection: its heads are queued, its body is taken from a pipe and goes
// out by length, chunked with trailers, or until the connection ends. Requests and responses are written alike.
//
// Body bytes move by relinking chunks. Owned by a codec; one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/byte_queue.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/h1/h1_body_reader.h"

namespace sluice::http {

class H1MessageWriter {
 public:
  enum class State : std::uint8_t {
    kNothing,   // no message was begun, or all of it was handed over
    kHeld,      // its head is queued; the peer's answer decides whether a tunnel follows, or keeps the body back
    kBody,      // its head is queued, its body is taken from the pipe
    kComplete,  // all of it is queued
    kFailed     // it cannot be completed: produce() of the codec reports that
  };

  explicit H1MessageWriter(base::ChunkPool& pool) : heads_(pool) {}

  State state() const { return state_; }
  /// The queue for heads, which are written before begin().
  base::ByteQueue& heads() { return heads_; }
  /// Begins the body, which follows the queued head in that framing. `length` is used for kLength only.
  void begin(H1Framing framing, std::uint64_t length) {
    framing_ = framing;
    remaining_ = length;
    state_ = framing == H1Framing::kNone ? State::kComplete : State::kBody;
    woken_ = true;
  }
  void hold() { state_ = State::kHeld; }
  /// Ends the message, whole or given up; heads that are queued stay.
  void finish() { state_ = State::kNothing; }
  void fail() { state_ = State::kFailed; }

  /// Called when the pipe may have more bytes; `pipe` is null if its owner is gone. Returns false if the pipe can no
  /// longer deliver the whole body.
  bool wake(const BodyPipe* pipe) {
    woken_ = true;
    return pipe != nullptr && pipe->end() != PipeEnd::kBroken;
  }
  /// Returns true if the codec's produce() has something to do.
  bool wantsProduce() const {
    return !heads_.empty() || state_ == State::kFailed || (state_ == State::kBody && woken_);
  }
  /// Moves bytes from the pipe until `out` holds about `limit` bytes; returns how many left the pipe. The message has
  /// failed if the pipe broke, or holds another number of bytes than was announced.
  std::size_t write(BodyPipe& pipe, base::ByteQueue& out, std::size_t limit);

 private:
  /// Returns false if the body that ends here is not the one that was announced.
  bool endBody(const BodyPipe& pipe, base::ByteQueue& out);

  base::ByteQueue heads_;
  std::uint64_t remaining_ = 0;  // of a kLength body
  H1Framing framing_ = H1Framing::kNone;
  State state_ = State::kNothing;
  bool woken_ = false;  // the pipe may have something
};

}  // namespace sluice::http
