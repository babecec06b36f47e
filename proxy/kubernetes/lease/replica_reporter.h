// Reports what this replica serves, in a Lease of its own (replica_report.h): when it has changed, and every
// kReportRenewPeriod.
//
// Lives on the main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/kubernetes/lease/replica_report.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

class ReplicaReporter final : private net::Timer {
 public:
  /// Two reports are at least this far apart.
  static constexpr base::Duration kBetweenReports = std::chrono::seconds(1);

  /// `client` outlives it. `make` returns the report of this moment; it is called inside a Turn.
  ReplicaReporter(ApiClient& client, std::function<ReplicaReport()> make) : client_(client), make_(std::move(make)) {}

  /// Says that make() may return another report; inside a Turn. The first call begins to report.
  void changed();
  /// Removes the Lease, and calls `done` inside a Turn when that is over, whatever came of it.
  void leave(std::function<void()> done);

 private:
  enum class Lease { kUnknown, kThere, kLeaving };

  void onTimer() override;
  void send();
  void answered(const base::Result<ApiAnswer>& answer);
  void wakeAt(base::MonotonicTime at);

  ApiClient& client_;
  const std::function<ReplicaReport()> make_;
  Lease lease_ = Lease::kUnknown;
  std::string leasePath_;  // of the Lease that was written
  std::unique_ptr<ApiExchange> exchange_;
  base::MonotonicTime sentAt_{};
  bool sentOnce_ = false;
  bool due_ = false;  // make() may return another report than the one that was sent
  std::function<void()> left_;
  std::string told_;
};

}  // namespace sluice::kubernetes
