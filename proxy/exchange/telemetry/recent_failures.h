// RecentFailures keeps the latest exchanges that have ended with an error, and the callers that were denied, for the
// live page. Each worker has one, on its thread. Exchanges without an error cost nothing.
//
// Its size is bounded. The failures by each origin have places of their own, so that mistakes of clients displace no
// failure of a Backend; and callers that have shown who they are displace only each other.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "proxy/exchange/exchange.h"
#include "proxy/exchange/failure_report.h"

namespace sluice::exchange {

class RecentFailures {
 public:
  static constexpr std::size_t kMostOfOrigin = 16;
  /// The number of callers that are known, and of those that are not.
  static constexpr std::size_t kMostDenied = 16;
  /// The bound of each text that came from outside.
  static constexpr std::size_t kMostText = 256;

  /// Called with an exchange that has ended with an error.
  void add(const Exchange& exchange, base::WallTime now);
  FailureReport report() const;

 private:
  /// The next failure takes the place at `next` once there are kMostOfOrigin.
  struct Ring {
    std::vector<RecentFailure> failures;
    std::size_t next = 0;
  };

  void addDenial(const Exchange& exchange, const RecentFailure& failure);

  std::array<std::array<std::uint64_t, base::kErrorTypeCount>, kErrorOrigins> counts_{};
  std::array<Ring, kErrorOrigins> rings_;
  std::array<std::vector<DeniedCaller>, 2> denied_;  // of callers without a proven identity, and of others
};

}  // namespace sluice::exchange
