// The rows of the live page that workers tell: requests in flight, errors by whose fault, recent errors, and callers
// that were denied.
#pragma once

#include <array>
#include <string_view>

#include "proxy/exchange/failure_report.h"
#include "proxy/server/admin/exchanges_page.h"
#include "proxy/server/page/row_writer.h"
#include "proxy/server/page/traffic_window.h"

namespace sluice::server {

/// Returns "client", "Backend", "processor", "configuration" or "gateway".
std::string_view faultName(base::ErrorOrigin origin);

/// The oldest come first.
PageRows exchangeRows(const WorkerLists& lists, std::size_t most);
/// The newest come first.
PageRows errorRows(const WorkerLists& lists);
PageRows deniedRows(const WorkerLists& lists);

/// The errors of all workers by origin and type. Main thread.
class FaultCounts {
 public:
  /// Takes the counts of the workers; called after each reading of the window.
  void take(const WorkerLists& lists, const TrafficWindow& window);
  /// The faults that occur most come first.
  PageRows rows(const TrafficWindow& window) const;

 private:
  std::array<std::array<Windowed<std::uint64_t>, base::kErrorTypeCount>, exchange::kErrorOrigins> counts_{};
};

}  // namespace sluice::server
