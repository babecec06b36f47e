// Metrics of the process for Prometheus: families are fixed, series appear when they are first used, and end with the
// objects that they name. Their number is bounded for each namespace, so that no namespace can use up the room of
// others.
//
// The registry is made by main and outlives all users of instruments. Each worker (and the main thread) has a
// MetricShard of its own and keeps pointers to the instruments that it uses: counting is a load and a store. The admin
// thread sums the shards by a MetricsReader; meanwhile a thread waits only to begin or end a series, for the length of
// a piece.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "proxy/observe/metric_families.h"
#include "proxy/observe/metric_instruments.h"
#include "proxy/observe/script_counters.h"

namespace sluice::observe {

template <Metric kMetric>
using InstrumentOf =
    std::conditional_t<familyOf(kMetric).kind == MetricKind::kCounter, Counter,
                       std::conditional_t<familyOf(kMetric).kind == MetricKind::kGauge, Gauge, Histogram>>;

/// A status code as a label's value; lives for the full expression. 0, or a number that does not have three digits, is
/// "".
class StatusLabel {
 public:
  constexpr explicit StatusLabel(std::uint16_t status) {
    if (status < 100 || status > 999) return;
    size_ = 3;
    digits_ = {static_cast<char>('0' + status / 100), static_cast<char>('0' + status / 10 % 10),
               static_cast<char>('0' + status % 10)};
  }
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator std::string_view() const { return {digits_.data(), size_}; }

 private:
  std::array<char, 3> digits_{};
  std::size_t size_ = 0;
};

class MetricsRegistry {
 public:
  /// The value of every label of the overflow series, which gets the counts of all series beyond the bound.
  static constexpr std::string_view kOther = "__other__";
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";
  /// The number of bytes of a label's value that are kept; the rest is cut off.
  static constexpr std::size_t kMaxLabelBytes = 512;

  /// Each family has at most `maxSeriesPerNamespace` series of the objects of one namespace (and as many that name no
  /// object), at most `maxSeriesPerFamily` in all, and one more for all others. The object is the route, or else the
  /// Backend or the Gateway; in a family without objects, the namespace is that of the calling workload. Series that
  /// name a workload use at most three quarters of each bound. Beyond that, workloads share a series whose other labels
  /// keep their values.
  explicit MetricsRegistry(std::size_t maxSeriesPerNamespace = 1000, std::size_t maxSeriesPerFamily = 20'000);
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  ScriptCounters& scriptCounters() { return scriptCounters_; }
  const ScriptCounters& scriptCounters() const { return scriptCounters_; }

 private:
  friend class MetricShard;
  friend class MetricsReader;
  friend class SeriesView;
  friend class FamilyReader;
  using Labels = std::span<const std::string_view>;

  /// One shard's part of a series, on separate cache lines, because its neighbour may belong to another thread.
  struct alignas(64) InstrumentCell {
    std::variant<Counter, Gauge, Histogram> instrument;
    bool used = true;  // false once its shard has left
  };
  using SeriesNumber = std::uint64_t;
  struct MetricSeries {
    std::string labels;  // as they are exposed, without braces
    std::string nameSpace;
    SeriesNumber number = 0;
    std::vector<std::unique_ptr<InstrumentCell>> cells;
    std::size_t used = 0;  // the number of cells in use
  };
  struct Family {
    std::map<SeriesNumber, MetricSeries> series;  // in the order of creation; numbers are never 0
    std::unordered_map<std::string, MetricSeries*> byKey;
    std::map<std::string, std::size_t, std::less<>> perNamespace;
    MetricSeries* other = nullptr;
  };

  /// Returns a cell that only the caller uses. If there is no room for a new series, returns nullptr and counts that.
  /// `key` names the labels' values.
  InstrumentCell* admit(Metric metric, const std::string& key, Labels values);
  InstrumentCell* admitOther(Metric metric);
  /// Called when the caller no longer uses its cell. Its counts stay until all cells of the series have been left.
  void leave(Metric metric, const std::string& key, InstrumentCell& cell);
  MetricSeries& addSeries(const MetricFamily& facts, Labels values, std::string_view nameSpace);
  static InstrumentCell* addCell(MetricKind kind, MetricSeries& series);

  const std::size_t maxPerNamespace_;
  const std::size_t maxPerFamily_;
  mutable std::mutex mutex_;  // guards everything but the instruments' values
  std::array<Family, kMetricFamilies.size()> families_;
  SeriesNumber lastNumber_ = 0;
  Counter* dropped_;
  ScriptCounters scriptCounters_;
};

class MetricShard {
 public:
  explicit MetricShard(MetricsRegistry& registry) : registry_(registry) {}
  MetricShard(const MetricShard&) = delete;
  MetricShard& operator=(const MetricShard&) = delete;

  /// Returns the instrument of these label values, which come in the order of the table. It is made on first use, under
  /// the registry's lock; later look-ups hash the values, so keep the reference (it outlives the shard, until forget())
  /// where it is used often. If there is no room, it is the instrument of the overflow series.
  template <Metric kMetric, typename... Values>
  InstrumentOf<kMetric>& at(const Values&... values) {
    static_assert(kMetric != Metric::kSeriesDropped, "the registry alone counts these");
    static_assert(sizeof...(Values) == familyOf(kMetric).labelCount(), "one value for each label of the table");
    const std::array<std::string_view, sizeof...(Values)> labels{std::string_view(values)...};
    return std::get<InstrumentOf<kMetric>>(find(kMetric, labels).instrument);
  }

  /// Adds to a counter that a script names; see ScriptCounters. Returns false if there are too many.
  bool addNamed(std::string_view type, std::string_view name, std::uint64_t count);

  /// Ends the series of routes, Backends and Gateways that `exists` does not know by "namespace/name", except gauges
  /// that are not zero. References to their instruments must have been dropped before.
  void forget(const std::function<bool(std::string_view object)>& exists);

 private:
  MetricsRegistry::InstrumentCell& find(Metric metric, std::span<const std::string_view> values);
  /// Finds the series of these values that all workloads share which have no room for their own.
  MetricsRegistry::InstrumentCell& findOfOtherWorkloads(Metric metric, std::span<const std::string_view> values);

  struct Known {
    std::unordered_map<std::string, MetricsRegistry::InstrumentCell*> cells;
    MetricsRegistry::InstrumentCell* other = nullptr;
  };
  MetricsRegistry& registry_;
  std::array<Known, kMetricFamilies.size()> known_;
  std::map<std::pair<std::string, std::string>, std::atomic<std::uint64_t>*> named_;
  std::string key_;  // the key of the last look-up; keeps its capacity
};

}  // namespace sluice::observe
