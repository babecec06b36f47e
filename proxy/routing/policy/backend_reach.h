// BackendReach records whether connections to a Backend work, and if they do not, since when and why.
//
// All workers share one for each Backend, and it survives reloads. Workers record the outcomes that they see; a
// connection that works costs them a few loads. The control plane derives the announced state from that. No other code
// changes the announced state, so a compilation sees one state of each Backend.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/processing/server_health.h"

namespace sluice::routing {

/// The state that is announced. `since` and `why` are set for kDegraded only.
struct ReachReport {
  processing::ServerReach reach = processing::ServerReach::kPending;
  base::WallTime since{};  // the time of the first of the failures in a row
  std::string why = {};    // one sentence of at most BackendReach::kMostText bytes

  friend bool operator==(const ReachReport&, const ReachReport&) = default;
};

/// The failures since a connection last worked, as they are now.
struct ReachFailures {
  std::uint32_t count = 0;  // the other members are set if it is not 0
  base::WallTime last{};
  base::ErrorType type = base::ErrorType::kProxyInternalError;  // of the last one
  std::string text = {};                                        // the last one, with the address or name server
};

/// The moment at which a connection has failed.
enum class ConnectionStage : std::uint8_t {
  kOpening,
  /// It was open, and the peer has ended it without a byte of an answer. In TLS 1.3 a server judges the certificate of
  /// its client only then.
  kUnanswered
};

class BackendReach {
 public:
  static constexpr std::size_t kMostText = 200;
  /// Another error takes the place of the announced one when that has not occurred for this time, and a Backend that
  /// has recovered is announced as failing again after this time. So conditions do not change all the time.
  static constexpr base::Duration kSteady = std::chrono::seconds(10);

  /// Any thread: a connection has been opened. Failures of connections that were open stand until onAnswer().
  void onOpen() const {
    if (!isLate_.load(std::memory_order_relaxed)) health_.onAnswer();
  }
  /// Any thread: bytes have come on a connection, or a health check has passed.
  void onAnswer() const {
    if (isLate_.load(std::memory_order_relaxed)) isLate_.store(false, std::memory_order_relaxed);
    health_.onAnswer();
  }
  /// Any thread: the Backend has shown a certificate that ends then.
  void onCertificate(base::WallTime ends) const { certificateEnds_.store(ends, std::memory_order_relaxed); }
  /// Any thread: returns when the certificate that it has shown last ends; the epoch if it has shown none.
  base::WallTime certificateEnds() const { return certificateEnds_.load(std::memory_order_relaxed); }
  /// Any thread. The texts of the error have no secret and nothing of a request.
  void onFailure(const base::Error& error, base::WallTime now, ConnectionStage stage = ConnectionStage::kOpening) const;

  /// Any thread: returns the state that was announced last.
  ReachReport announced() const;
  /// Called by the control plane: announces the current state and returns it. The announced state changes only if its
  /// `reach` changes, or if another error has taken the place of the announced one.
  ReachReport announce(base::WallTime now) const;
  /// Any thread.
  ReachFailures failures() const;

 private:
  /// An error as it is told. Two errors with the same type and sentence are of the same kind.
  struct KnownFailure {
    base::ErrorType type = base::ErrorType::kProxyInternalError;
    std::string sentence;
    std::string text;
    base::WallTime told{};  // the time of `text`

    bool isOf(const base::Error& error) const { return type == error.type && sentence == error.detail; }
    bool isLike(const KnownFailure& other) const { return type == other.type && sentence == other.sentence; }
  };

  processing::ServerHealth health_;
  mutable std::atomic<bool> isLate_{false};  // the last failure was one of kUnanswered
  mutable std::atomic<base::WallTime> certificateEnds_{base::WallTime{}};
  mutable std::mutex mutex_;  // guards the members below
  mutable KnownFailure last_;
  mutable base::WallTime lastAt_{};
  mutable KnownFailure told_;         // the one in announced_
  mutable base::WallTime stoodAt_{};  // the time at which told_ was last seen to be the last failure
  mutable base::WallTime recoveredAt_{};
  mutable ReachReport announced_;
};

}  // namespace sluice::routing
