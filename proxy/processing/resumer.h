// The right to have a suspended step asked again.
//
// A Resumer is handed to the code that will have the answer, on the thread of the exchange. To resume late (the
// deadline has passed, the client or the exchange is gone) does nothing; to destroy a Resumer without resuming fails
// the step.
#pragma once

#include <cstdint>
#include <utility>

namespace sluice::processing {

/// Identifies one wait of an exchange; never 0.
using Ticket = std::uint32_t;

/// Takes the answers of Resumers and Wakers, and outlives them all.
class ResumeSink {
 public:
  virtual ~ResumeSink() = default;
  /// `exchange` is the token of the exchange. `dropped` is true if the Resumer was destroyed without an answer.
  virtual void onResumed(std::uint64_t exchange, Ticket ticket, bool dropped) = 0;
};

/// Wakes an exchange like a Resumer, but any number of times, and does nothing when it is destroyed.
class Waker {
 public:
  Waker() = default;
  Waker(ResumeSink& sink, std::uint64_t exchange, Ticket ticket) : sink_(&sink), exchange_(exchange), ticket_(ticket) {}

  void wake() const {
    if (sink_ != nullptr) sink_->onResumed(exchange_, ticket_, false);
  }

 private:
  ResumeSink* sink_ = nullptr;
  std::uint64_t exchange_ = 0;
  Ticket ticket_ = 0;
};

class Resumer {
 public:
  Resumer() = default;
  Resumer(ResumeSink& sink, std::uint64_t exchange, Ticket ticket)
      : sink_(&sink), exchange_(exchange), ticket_(ticket) {}
  Resumer(Resumer&& other) noexcept
      : sink_(std::exchange(other.sink_, nullptr)), exchange_(other.exchange_), ticket_(other.ticket_) {}
  Resumer& operator=(Resumer&& other) noexcept {
    std::swap(sink_, other.sink_);
    std::swap(exchange_, other.exchange_);
    std::swap(ticket_, other.ticket_);
    return *this;
  }
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;
  ~Resumer() { tell(true); }

  void resume() { tell(false); }
  /// Returns true if both resume the same step from the same wait.
  bool isSameAs(const Resumer& other) const {
    return sink_ == other.sink_ && exchange_ == other.exchange_ && ticket_ == other.ticket_;
  }
  /// Gives the right up without failing the step, because the step is going too.
  void release() { sink_ = nullptr; }

 private:
  void tell(bool dropped) {
    if (ResumeSink* sink = std::exchange(sink_, nullptr)) sink->onResumed(exchange_, ticket_, dropped);
  }

  ResumeSink* sink_ = nullptr;
  std::uint64_t exchange_ = 0;
  Ticket ticket_ = 0;
};

}  // namespace sluice::processing
