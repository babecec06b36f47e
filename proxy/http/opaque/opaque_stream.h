// Both ways of a plain byte stream over one connection: what arrives is delivered by credit, what leaves is taken from
// a pipe, and each way ends by itself (half-close).
//
// Both opaque codecs move their bytes by it, and by way of them every tunnel that an HTTP/1.1 connection becomes. What
// is beyond the credit is read ahead: never more than kReadAhead plus one feed. Owned by a codec; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/limits.h"

namespace sluice::http {

/// What a stream tells its codec; nothing in here calls the stream back.
class OpaqueEvents {
 public:
  virtual void bytesArrived(std::string_view bytes) = 0;
  /// The peer has ended its way, and everything before that was delivered.
  virtual void inputEnded() = 0;
  /// The pipe that our way is taken from; nullptr if its owner is gone.
  virtual BodyPipe* outputPipe() = 0;
  virtual void outputTaken(std::size_t count) = 0;

 protected:
  ~OpaqueEvents() = default;
};

class OpaqueStream {
 public:
  enum class Input : std::uint8_t {
    kHeld,     // whatever comes is read ahead, until open()
    kOpen,     // delivered by credit
    kIgnored,  // nobody takes it any more
    kDone      // the peer's end was told
  };
  enum class Output : std::uint8_t {
    kHeld,
    kOpen,       // taken from the pipe
    kDone,       // all of it was handed over
    kBroken,     // the pipe broke: what left is not the whole
    kOwnerless,  // nobody has a pipe for it any more
  };
  static constexpr std::size_t kReadAhead = 64 * 1024;

  /// `ahead` is what was read of the stream already.
  OpaqueStream(OpaqueEvents& events, base::ByteQueue&& ahead, const Limits& limits);

  /// Both ways begin to move.
  void open();
  void feed(std::string_view bytes);
  /// The peer has ended its way: told as soon as everything before was delivered.
  void feedEnd();
  void grant(std::size_t count);
  /// limits.streamWindow may be under way.
  void widen() { grant(withheld_); }
  /// Nobody takes what arrives any more.
  void ignoreInput();

  /// The pipe has more, has ended, or broke.
  void wake();
  /// Moves bytes from the pipe until `out` holds about `limit`.
  void produce(base::ByteQueue& out, std::size_t limit);
  bool wantsProduce() const { return output_ == Output::kOpen && woken_; }

  Input input() const { return input_; }
  Output output() const { return output_; }
  /// The peer has ended its way; what came before that may still wait for credit.
  bool endSeen() const { return endSeen_; }
  bool hasReadAhead() const { return !ahead_.empty(); }
  std::size_t readBudget() const;

 private:
  /// As much from the front of `bytes` as there is credit for.
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
