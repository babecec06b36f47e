// Moves both ways of a plain byte stream over one connection: received bytes are delivered by credit, sent
// bytes are taken from a pipe, and each way ends by itself (half-close).
//
// Both opaque codecs use it, and so does every tunnel that an HTTP/1.1 connection becomes. Bytes beyond the credit are
// read ahead: never more than kReadAhead plus one feed. Owned by a codec; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/limits.h"

namespace sluice::http {

/// A stream reports to its codec by these, which never call the stream back.
class OpaqueEvents {
 public:
  virtual void bytesArrived(std::string_view bytes) = 0;
  /// Called when the peer has ended its way and everything before that was delivered.
  virtual void inputEnded() = 0;
  /// Returns the pipe from which our way is taken; nullptr if its owner is gone.
  virtual BodyPipe* outputPipe() = 0;
  virtual void outputTaken(std::size_t count) = 0;

 protected:
  ~OpaqueEvents() = default;
};

class OpaqueStream {
 public:
  enum class Input : std::uint8_t {
    kHeld,     // bytes are read ahead until open()
    kOpen,     // bytes are delivered by credit
    kIgnored,  // bytes are dropped
    kDone      // the peer's end was reported
  };
  enum class Output : std::uint8_t {
    kHeld,
    kOpen,       // taken from the pipe
    kDone,       // all of it was handed over
    kBroken,     // the pipe broke, so not all of it has left
    kOwnerless,  // there is no pipe any more
  };
  static constexpr std::size_t kReadAhead = 64 * 1024;

  /// `ahead` holds the bytes that were read of the stream already.
  OpaqueStream(OpaqueEvents& events, base::ByteQueue&& ahead, const MessageBounds& limits);

  /// Lets both ways move.
  void open();
  void feed(std::string_view bytes);
  /// Called when the peer has ended its way. The codec gets the end as soon as everything before it was delivered.
  void feedEnd();
  void grant(std::size_t count);
  /// Raises the window to limits.streamWindow.
  void widen() { grant(withheld_); }
  /// Drops everything that arrives from now on.
  void ignoreInput();

  /// Called when the pipe has more bytes, has ended, or broke.
  void wake();
  /// Moves bytes from the pipe until `out` holds about `limit`.
  void produce(base::ByteQueue& out, std::size_t limit);
  bool wantsProduce() const { return output_ == Output::kOpen && woken_; }

  Input input() const { return input_; }
  Output output() const { return output_; }
  /// Returns true once the peer has ended its way; bytes that came before may still wait for credit.
  bool endSeen() const { return endSeen_; }
  bool hasReadAhead() const { return !ahead_.empty(); }
  std::size_t readBudget() const;

 private:
  /// Delivers as much from the front of `bytes` as there is credit for.
  void deliver(std::string_view& bytes);
  void deliverAhead();

  OpaqueEvents& events_;
  base::ByteQueue ahead_;
  std::size_t credit_;
  const std::size_t withheld_;  // the part of the whole window that the credit began without
  std::size_t ignored_ = 0;     // bytes that came since ignoreInput()
  Input input_ = Input::kHeld;
  Output output_ = Output::kHeld;
  bool endSeen_ = false;
  bool woken_ = false;
};

}  // namespace sluice::http
