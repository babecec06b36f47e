// The metrics page: a registry in Prometheus' text format 0.0.4.
#pragma once

#include <cstddef>
#include <string>

#include "proxy/observe/metrics.h"

namespace sluice::observe {

/// Reads a registry in Prometheus' text format 0.0.4 piece by piece, so that a page of any length takes no more memory
/// than one piece. Each series is read whole, summed over the shards; a series that begins or ends meanwhile may be
/// read or not. The registry outlives the reader. Any thread, one at a time.
class MetricsReader {
 public:
  explicit MetricsReader(const MetricsRegistry& registry) : registry_(&registry) {}

  /// Appends whole lines until `out` has at least `enough` bytes; returns false if there are none left.
  bool read(std::string& out, std::size_t enough);

 private:
  const MetricsRegistry* registry_;
  std::size_t family_ = 0;
  bool headRead_ = false;                    // the head of that family was read
  MetricsRegistry::SeriesNumber after_ = 0;  // the last series that was read
  bool scriptsRead_ = false;
};

/// Returns the whole page, as a MetricsReader reads it. Any thread.
std::string exposeMetrics(const MetricsRegistry& registry);

}  // namespace sluice::observe
