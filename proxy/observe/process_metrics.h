// Metrics of the process as all of Prometheus' client libraries name them, and of its build.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/observe/exposition.h"

namespace sluice::observe {

inline constexpr auto kProcessFamilies = std::to_array<ReadFamily>({
    {MetricKind::kGauge,
     "sluice_build_info",
     {"version", "commit"},
     "1, with the version and the commit of the build."},
    {MetricKind::kCounter, "process_cpu_seconds_total", {}, "User and system CPU time spent in seconds."},
    {MetricKind::kGauge, "process_open_fds", {}, "Number of open file descriptors."},
    {MetricKind::kGauge, "process_max_fds", {}, "Maximum number of open file descriptors."},
    {MetricKind::kGauge, "process_virtual_memory_bytes", {}, "Virtual memory size in bytes."},
    {MetricKind::kGauge, "process_resident_memory_bytes", {}, "Resident memory size in bytes."},
    {MetricKind::kGauge,
     "process_start_time_seconds",
     {},
     "Start time of the process since the Unix epoch in seconds."},
});

/// Appends the current values. A value that the system does not provide is left out.
void appendProcessMetrics(std::string& out, std::string_view version, std::string_view commit);

/// Keeps their text for a second. The system takes milliseconds to count thousands of descriptors, so frequent requests
/// for the metrics would otherwise keep the thread busy.
class RecentProcessMetrics {
 public:
  static constexpr base::Duration kKept = std::chrono::seconds(1);

  /// Both are kept, not copied.
  RecentProcessMetrics(std::string_view version, std::string_view commit) : version_(version), commit_(commit) {}

  void append(std::string& out, base::MonotonicTime now);

 private:
  const std::string_view version_;
  const std::string_view commit_;
  std::string text_;
  base::MonotonicTime readAt_{};
};

}  // namespace sluice::observe
