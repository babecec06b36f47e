// ServerHealth records whether a server answers, and if it does not, since when. The server is that of a use of a
// payload processor, or that of a Backend (routing::BackendReach).
//
// All workers share one for each use or Backend, and it survives reloads. Workers record the outcomes that they see; a
// server that answers costs them two loads. The control plane derives the announced state from that. No other code
// changes the announced state, so a compilation sees one state of each server.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/processing/verdict.h"

namespace sluice::processing {

enum class ServerReach : std::uint8_t {
  kPending,  // it has not been asked, or not answered yet
  kActive,   // its last answer was a success
  kDegraded  // it does not answer now
};
/// Returns "pending", "active" or "degraded".
std::string_view reachName(ServerReach reach);

struct ServerReport {
  ServerReach reach = ServerReach::kPending;
  // The other members are set for kDegraded only.
  base::WallTime since{};       // of the first of the failures in a row
  std::uint32_t failures = 0;   // in a row, when the state was announced
  Cause cause = Cause::kError;  // of the last failure

  friend bool operator==(const ServerReport&, const ServerReport&) = default;
};

class ServerHealth {
 public:
  /// A server is Degraded after this many failures in a row, or if it has not answered for kPatience after a failure.
  static constexpr std::uint32_t kMostFailures = 3;
  static constexpr base::Duration kPatience = std::chrono::seconds(1);

  /// Any thread.
  void onAnswer() const {
    if (failures_.load(std::memory_order_relaxed) != 0) failures_.store(0, std::memory_order_relaxed);
    if (!hasAnswered_.load(std::memory_order_relaxed)) hasAnswered_.store(true, std::memory_order_relaxed);
  }
  void onFailure(Cause cause, base::WallTime now) const;
  /// Any thread: returns the number of failures since the server last answered.
  std::uint32_t failures() const { return failures_.load(std::memory_order_acquire); }

  /// Any thread: returns the state that was announced last.
  ServerReport announced() const;
  /// Called by the control plane: announces the current state and returns it. The announced state changes only if its
  /// `reach` changes, not with the number of failures.
  ServerReport announce(base::WallTime now) const;

 private:
  ServerReport current(base::WallTime now) const;

  mutable std::atomic<std::uint32_t> failures_{0};
  mutable std::atomic<bool> hasAnswered_{false};
  mutable std::atomic<Cause> cause_{Cause::kError};
  mutable std::atomic<base::WallTime::rep> since_{0};
  mutable std::mutex mutex_;  // guards announced_
  mutable ServerReport announced_;
};

}  // namespace sluice::processing
