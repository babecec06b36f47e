// Metrics of the process for Prometheus: families are fixed, series appear when they are first used, leave with the
// objects that they name, and are bounded in number for each namespace, so that none of them can take what others need.
//
// The registry is made by main and outlives everything that counts. Each worker (and the main thread) has a MetricShard
// of its own and keeps pointers to the instruments that it uses: counting is a load and a store. The admin thread sums
// the shards by a MetricsReader; meanwhile only those wait that begin or end a series, for the length of a piece.
#pragma once

#include <array>
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
#include <variant>
#include <vector>

#include "proxy/observe/metric_families.h"
#include "proxy/observe/metric_instruments.h"

namespace sluice::observe {

template <Metric kMetric>
using InstrumentOf =
    std::conditional_t<familyOf(kMetric).kind == MetricKind::kCounter, Counter,
                       std::conditional_t<familyOf(kMetric).kind == MetricKind::kGauge, Gauge, Histogram>>;

/// A status code as a label's value; lives for the full expression. 0 or anything that is no three digits is "".
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
  /// Value of every label of the series that stands for all that found no place.
  static constexpr std::string_view kOther = "__other__";
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";
  /// Bytes of a label's value that are kept; the rest is cut off.
  static constexpr std::size_t kMaxLabelBytes = 512;

  /// Each family has at most so many series of the objects of one namespace (and so many that name no object), so many
  /// of all of them together, and the one for all others. The object is the route, or else the Backend or the Gateway.
  explicit MetricsRegistry(std::size_t maxSeriesPerNamespace = 1000, std::size_t maxSeriesPerFamily = 20'000);
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  /// Returns the whole page, as a MetricsReader reads it. Any thread.
  std::string expose() const;

 private:
  friend class MetricShard;
  friend class MetricsReader;
  using Labels = std::span<const std::string_view>;

  /// One shard's part of a series, on cache lines of its own: its neighbour may belong to another thread.
  struct alignas(64) Cell {
    std::variant<Counter, Gauge, Histogram> instrument;
    bool used = true;  // its shard has not left
  };
  using SeriesNumber = std::uint64_t;
  struct Series {
    std::string labels;  // as they are exposed, without braces
    std::string nameSpace;
    SeriesNumber number = 0;
    std::vector<std::unique_ptr<Cell>> cells;
    std::size_t used = 0;  // of the cells
  };
  struct Family {
    std::map<SeriesNumber, Series> series;  // in the order of their making; never 0
    std::unordered_map<std::string, Series*> byKey;
    std::map<std::string, std::size_t, std::less<>> perNamespace;
    Series* other = nullptr;
  };

  /// A cell for the caller alone; nullptr, counted, if there is no room for a new series. `key` names the labels'
  /// values.
  Cell* admit(Metric metric, const std::string& key, Labels values);
  Cell* admitOther(Metric metric);
  /// The caller uses its cell no more. What it has counted stays until all have left.
  void leave(Metric metric, const std::string& key, Cell& cell);
  Series& addSeries(const MetricFamily& facts, Labels values, std::string_view nameSpace);
  static Cell* addCell(MetricKind kind, Series& series);

  const std::size_t maxPerNamespace_;
  const std::size_t maxPerFamily_;
  mutable std::mutex mutex_;  // guards everything but what the instruments count
  std::array<Family, kMetricFamilies.size()> families_;
  SeriesNumber lastNumber_ = 0;
  Counter* dropped_;
};

/// Reads a registry in Prometheus' text format 0.0.4 piece by piece, so that a page of any length takes no more memory
/// than one of them. Each series is read whole, summed over the shards; one that comes or goes meanwhile may be read or
/// not. The registry outlives it. Any thread, one at a time.
class MetricsReader {
 public:
  explicit MetricsReader(const MetricsRegistry& registry) : registry_(&registry) {}

  /// Appends whole lines until `out` has at least `enough` bytes; false if there are none left.
  bool read(std::string& out, std::size_t enough);

 private:
  const MetricsRegistry* registry_;
  std::size_t family_ = 0;
  bool headRead_ = false;                    // of that family
  MetricsRegistry::SeriesNumber after_ = 0;  // read last
};

class MetricShard {
 public:
  explicit MetricShard(MetricsRegistry& registry) : registry_(registry) {}
  MetricShard(const MetricShard&) = delete;
  MetricShard& operator=(const MetricShard&) = delete;

  /// The instrument of these label values, in the order of the table. Made on first use, under the registry's lock;
  /// later look-ups hash the values, so keep the reference (it outlives the shard, until forget()) where it is used
  /// often. Where there is no room, it is the one that all others share.
  template <Metric kMetric, typename... Values>
  InstrumentOf<kMetric>& at(const Values&... values) {
    static_assert(kMetric != Metric::kSeriesDropped, "the registry alone counts these");
    static_assert(sizeof...(Values) == familyOf(kMetric).labelCount(), "one value for each label of the table");
    const std::array<std::string_view, sizeof...(Values)> labels{std::string_view(values)...};
    return std::get<InstrumentOf<kMetric>>(find(kMetric, labels).instrument);
  }

  /// Lets go of the series of routes, Backends and Gateways that `exists` does not know by "namespace/name", but for
  /// gauges that do not stand at zero. Who keeps references to their instruments has dropped them before.
  void forget(const std::function<bool(std::string_view object)>& exists);

 private:
  MetricsRegistry::Cell& find(Metric metric, std::span<const std::string_view> values);

  struct Known {
    std::unordered_map<std::string, MetricsRegistry::Cell*> cells;
    MetricsRegistry::Cell* other = nullptr;
  };
  MetricsRegistry& registry_;
  std::array<Known, kMetricFamilies.size()> known_;
  std::string key_;  // of the last look-up; keeps its capacity
};

}  // namespace sluice::observe
