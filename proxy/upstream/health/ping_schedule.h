// Decides when a PING is sent on a connection of HTTP/2 whose requests wait, and when the connection is taken for dead.
//
// If the peer answers a PING and sends nothing else, the next one follows after kSecond, and further ones every kLater:
// servers of gRPC end connections on which they get pings more often than every five minutes. It only computes times,
// without a timer or a clock. One thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "proxy/base/clock.h"

namespace sluice::upstream {

class PingSchedule {
 public:
  static constexpr base::Duration kAnswer = std::chrono::seconds(5);
  static constexpr base::Duration kSecond = std::chrono::seconds(60);
  static constexpr base::Duration kLater = std::chrono::minutes(5);

  /// Called when a request begins on a connection that had none.
  void onWait(base::MonotonicTime now) { quietSince_ = now; }
  /// Called when the peer has sent something else than the answer to a ping.
  void onBytes(base::MonotonicTime now) {
    quietSince_ = now;
    count_ = 0;
    unanswered_ = false;
  }
  /// Called when the peer has answered a ping.
  void onAnswer() { unanswered_ = false; }
  /// Called when a ping is sent.
  void onPing(base::MonotonicTime now) {
    pinged_ = now;
    ++count_;
    unanswered_ = true;
  }

  /// Returns true if the peer has not answered the last ping yet.
  bool isUnanswered() const { return unanswered_; }
  /// Returns when the answer to the last ping is due; without it, the connection is dead.
  base::MonotonicTime answerDue() const { return pinged_ + kAnswer; }
  /// Returns when the next ping is due. The first one follows after a time of `silence`.
  base::MonotonicTime pingDue(base::Duration silence) const {
    const base::MonotonicTime due = quietSince_ + silence;
    if (count_ == 0) return due;
    return std::max(due, pinged_ + (count_ == 1 ? kSecond : kLater));
  }

 private:
  base::MonotonicTime quietSince_{};
  base::MonotonicTime pinged_{};
  std::uint32_t count_ = 0;  // pings since the peer last sent something else
  bool unanswered_ = false;
};

}  // namespace sluice::upstream
