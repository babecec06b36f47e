// Reads a registry: all of it as the metrics page, in Prometheus' text format 0.0.4, or one family as numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/observe/metrics.h"

namespace sluice::observe {

/// The sum of one series over its shards. Only the members of its family's kind are set.
struct SeriesSum {
  std::uint64_t count = 0;
  std::int64_t level = 0;
  std::array<std::uint64_t, Histogram::kBuckets> buckets{};
  std::uint64_t nanoseconds = 0;

  void add(const Counter& counter) { count += counter.value(); }
  void add(const Gauge& gauge) { level += gauge.value(); }
  void add(const Histogram& histogram) {
    for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += histogram.bucket(i);
    nanoseconds += histogram.nanoseconds();
  }
};

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

/// One series of a family while it is read.
class SeriesView {
 public:
  explicit SeriesView(const MetricsRegistry::MetricSeries& series) : series_(series) {}

  /// Identifies the series among all that the registry ever had.
  std::uint64_t number() const { return series_.number; }
  /// Returns the value of a label; empty if the family has none of that name.
  std::string label(std::string_view name) const;
  SeriesSum sum() const;
  /// Returns SeriesSum::nanoseconds alone, which tells whether a histogram has changed.
  std::uint64_t nanoseconds() const;

 private:
  const MetricsRegistry::MetricSeries& series_;
};

/// Visits the series of one family. The registry is locked for some of them at a time, so `visit` must not use it. Any
/// thread.
class FamilyReader {
 public:
  static void read(const MetricsRegistry& registry, Metric metric, const std::function<void(const SeriesView&)>& visit);
};

/// Returns the whole page, as a MetricsReader reads it. Any thread.
std::string exposeMetrics(const MetricsRegistry& registry);

}  // namespace sluice::observe
