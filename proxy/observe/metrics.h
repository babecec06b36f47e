// Metrics of the process for Prometheus: families are fixed, series appear when they are first used and are bounded in
// number.
//
// The registry is made by main and outlives everything that counts. Each worker (and the main thread) has a MetricShard
// of its own and keeps pointers to the instruments that it uses: counting is a load and a store. The admin thread sums
// the shards by expose(), which makes no worker wait.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
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

  /// Each family has at most `maxSeriesPerFamily` series, and the one for all others.
  explicit MetricsRegistry(std::size_t maxSeriesPerFamily = 1000);
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  /// Prometheus text format 0.0.4, summed over the shards. Any thread.
  std::string expose() const;

 private:
  friend class MetricShard;
  using Labels = std::span<const std::string_view>;

  /// One shard's part of a series, on cache lines of its own: its neighbour may belong to another thread.
  struct alignas(64) Cell {
    std::variant<Counter, Gauge, Histogram> instrument;
    const Cell* next = nullptr;
  };
  struct Series {
    std::string labels;  // as they are exposed, without braces
    std::vector<std::unique_ptr<Cell>> cells;
    std::atomic<const Cell*> firstCell = nullptr;
    std::atomic<const Series*> next = nullptr;
  };
  struct Family {
    std::unordered_map<std::string, std::unique_ptr<Series>> series;
    std::unique_ptr<Series> other;
    std::atomic<const Series*> first = nullptr;
    Series* last = nullptr;
  };

  /// A cell for the caller alone; nullptr, counted, if the family is full. `key` names the labels' values.
  Cell* admit(Metric metric, const std::string& key, Labels values);
  Cell* admitOther(Metric metric);
  std::unique_ptr<Series> makeSeries(const MetricFamily& facts, Labels values);
  static void link(Family& family, Series& series);
  static Cell* addCell(MetricKind kind, Series& series);
  static void exposeFamily(const MetricFamily& facts, const Family& family, std::string& out);

  const std::size_t maxSeries_;
  // Guards creation. Readers walk the lists, whose members are complete before they are linked and never go away.
  std::mutex mutex_;
  std::array<Family, kMetricFamilies.size()> families_;
  Counter* dropped_;
};

class MetricShard {
 public:
  explicit MetricShard(MetricsRegistry& registry) : registry_(registry) {}
  MetricShard(const MetricShard&) = delete;
  MetricShard& operator=(const MetricShard&) = delete;

  /// The instrument of these label values, in the order of the table. Made on first use, under the registry's lock;
  /// later look-ups hash the values, so keep the reference (it outlives the shard) where it is used often. Of a full
  /// family it is the one that all others share.
  template <Metric kMetric, typename... Values>
  InstrumentOf<kMetric>& at(const Values&... values) {
    static_assert(kMetric != Metric::kSeriesDropped, "the registry alone counts these");
    static_assert(sizeof...(Values) == familyOf(kMetric).labelCount(), "one value for each label of the table");
    const std::array<std::string_view, sizeof...(Values)> labels{std::string_view(values)...};
    return std::get<InstrumentOf<kMetric>>(find(kMetric, labels).instrument);
  }

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
