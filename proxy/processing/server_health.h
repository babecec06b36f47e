// ServerHealth says whether a server answers now, and if it does not, since when: the server of a use of a payload
// processor, or a Backend, which answers if it takes connections.
//
// All workers share one for each use or Backend, and it survives reloads. Workers record what they see; a server that
// answers costs them two loads. The control plane asks what follows from it, and fixes that as the announced
// state, which changes only there, so that a compilation sees one state of each server.
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
  kActive,   // it has answered the last time
  kDegraded  // it fails now
};
/// Returns "pending", "active" or "degraded".
std::string_view reachName(ServerReach reach);

struct ServerReport {
  ServerReach reach = ServerReach::kPending;
  // The rest counts for kDegraded alone.
  base::WallTime since{};       // of the first failure in this row
  std::uint32_t failures = 0;   // in a row, when the state was announced
  Cause cause = Cause::kError;  // of the last one

  friend bool operator==(const ServerReport&, const ServerReport&) = default;
};

class ServerHealth {
 public:
  /// A server is Degraded after this many failures in a row, or when one has stood for kPatience.
  static constexpr std::uint32_t kMostFailures = 3;
  static constexpr base::Duration kPatience = std::chrono::seconds(1);

  /// Any thread.
  void onAnswer() const {
    if (failures_.load(std::memory_order_relaxed) != 0) failures_.store(0, std::memory_order_relaxed);
    if (!hasAnswered_.load(std::memory_order_relaxed)) hasAnswered_.store(true, std::memory_order_relaxed);
  }
  void onFailure(Cause cause, base::WallTime now) const;

  /// Any thread: returns the state that was announced last.
  ServerReport announced() const;
  /// Called by the control plane: announces the state of now, and returns it. Counts alone change no announced state.
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
