// Reports the configuration that this replica serves, in a Lease of its own (replica_report.h): when it has changed,
// and every kReportRenewPeriod.
//
// Lives on the main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "proxy/kubernetes/lease/replica_report.h"
#include "proxy/kubernetes/writer/object_writer.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

class ReplicaReporterUser {
 public:
  /// Returns the current report; called inside a Turn.
  virtual ReplicaReport makeReport() = 0;

 protected:
  ~ReplicaReporterUser() = default;
};

class ReplicaReporter final : private ObjectWriterUser, private net::Timer {
 public:
  /// Two reports are at least this far apart.
  static constexpr base::Duration kBetweenReports = std::chrono::seconds(1);

  /// Both outlive it.
  ReplicaReporter(ApiClient& client, ReplicaReporterUser& user);

  /// Called when makeReport() may return another report; inside a Turn. The first call starts the reports.
  void changed();
  /// Removes the Lease, and calls `done` inside a Turn when that is over, whether or not it succeeded.
  void leave(std::function<void()> done);

 private:
  enum class Lease { kUnknown, kThere, kLeaving };

  void onTimer() override;
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;

  ApiClient& client_;
  ReplicaReporterUser& user_;
  Lease lease_ = Lease::kUnknown;
  WriteKey key_;  // of the Lease, once there was a report
  base::MonotonicTime sentAt_ = base::MonotonicTime::min();
  std::function<void()> left_;
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
