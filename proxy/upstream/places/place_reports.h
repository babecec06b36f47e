// How many places of one Backend each client holds, according to the workers' counts of their own requests.
//
// A worker counts only while places are short, and when another one asks, so counts may be missing or old. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/net/address.h"

namespace sluice::upstream {

class PlaceParty;

using ClientTotals = std::map<net::ClientNetwork, std::uint64_t>;

class PlaceReports {
 public:
  /// Older counts are ignored.
  static constexpr base::Duration kFresh = std::chrono::seconds(1);

  void put(const PlaceParty& worker, ClientTotals totals, base::MonotonicTime now) {
    const std::lock_guard lock(mutex_);
    reports_[&worker] = {std::move(totals), now};
  }
  void drop(const PlaceParty& worker) {
    const std::lock_guard lock(mutex_);
    reports_.erase(&worker);
  }
  /// Adds the counts of the workers other than that one, and returns how many workers these are.
  std::size_t addOthers(const PlaceParty& worker, base::MonotonicTime now, ClientTotals& totals) const {
    const std::lock_guard lock(mutex_);
    std::size_t workers = 0;
    for (const auto& [each, report] : reports_) {
      if (each == &worker || now - report.made > kFresh) continue;
      ++workers;
      for (const auto& [client, held] : report.totals) totals[client] += held;
    }
    return workers;
  }

 private:
  struct Report {
    ClientTotals totals;
    base::MonotonicTime made{};
  };

  mutable std::mutex mutex_;
  std::map<const PlaceParty*, Report> reports_;
};

}  // namespace sluice::upstream
