#include "proxy/observe/metrics_reader.h"

#include <array>
#include <mutex>
#include <utility>
#include <variant>

#include "proxy/base/json_text.h"
#include "proxy/observe/exposition.h"

namespace sluice::observe {
namespace {

// exposeMetrics() reads this much under one lock.
constexpr std::size_t kPieceBytes = 64 * 1024;

void appendSeconds(std::string& out, std::uint64_t nanoseconds) {
  base::appendJsonNumber(out, nanoseconds / 1'000'000'000);
  std::array<char, 10> decimals{'.', '0', '0', '0', '0', '0', '0', '0', '0', '0'};
  auto rest = nanoseconds % 1'000'000'000;
  for (std::size_t i = decimals.size() - 1; i > 0; --i, rest /= 10) decimals[i] = static_cast<char>('0' + rest % 10);
  out.append(decimals.data(), decimals.size());
}

/// The sum of one series over its shards.
struct Total {
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

class SeriesWriter {
 public:
  SeriesWriter(std::string& out, std::string_view name, std::string_view labels)
      : out_(out), name_(name), labels_(labels) {}

  void counter(const Total& total) {
    head("");
    base::appendJsonNumber(out_, total.count);
    out_.push_back('\n');
  }
  void gauge(const Total& total) {
    head("");
    base::appendJsonNumber(out_, total.level);
    out_.push_back('\n');
  }
  /// Writes the sum of the buckets that were read as the count, so that the lines agree with each other while workers
  /// go on counting.
  void histogram(const Total& total) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < total.buckets.size(); ++i) {
      cumulative += total.buckets[i];
      head("_bucket", i < Histogram::kBounds.size() ? Histogram::kBounds[i].text : "+Inf");
      base::appendJsonNumber(out_, cumulative);
      out_.push_back('\n');
    }
    head("_sum");
    appendSeconds(out_, total.nanoseconds);
    out_.push_back('\n');
    head("_count");
    base::appendJsonNumber(out_, cumulative);
    out_.push_back('\n');
  }

 private:
  void head(std::string_view suffix, std::string_view bound = {}) {
    out_.append(name_).append(suffix);
    if (!labels_.empty() || !bound.empty()) {
      out_.append("{").append(labels_);
      if (!bound.empty()) out_.append(labels_.empty() ? "le=\"" : ",le=\"").append(bound).append("\"");
      out_.append("}");
    }
    out_.push_back(' ');
  }

  std::string& out_;
  std::string_view name_;
  std::string_view labels_;
};

void appendSeries(std::string& out, const MetricFamily& facts, std::string_view labels, const Total& total) {
  SeriesWriter writer(out, facts.name, labels);
  switch (facts.kind) {
    case MetricKind::kCounter:
      return writer.counter(total);
    case MetricKind::kGauge:
      return writer.gauge(total);
    case MetricKind::kHistogram:
      return writer.histogram(total);
  }
}

}  // namespace

bool MetricsReader::read(std::string& out, std::size_t enough) {
  const std::lock_guard lock(registry_->mutex_);
  while (family_ < kMetricFamilies.size()) {
    const MetricFamily& facts = kMetricFamilies[family_];
    const auto& series = registry_->families_[family_].series;
    if (!std::exchange(headRead_, true)) appendMetricHead(out, facts.kind, facts.name, facts.help);
    for (auto each = series.upper_bound(after_); each != series.end(); ++each) {
      if (out.size() >= enough) return true;
      after_ = each->first;
      Total total;
      for (const auto& cell : each->second.cells) {
        std::visit([&total](const auto& instrument) { total.add(instrument); }, cell->instrument);
      }
      appendSeries(out, facts, each->second.labels, total);
    }
    ++family_;
    after_ = 0;
    headRead_ = false;
  }
  if (!std::exchange(scriptsRead_, true)) registry_->scriptCounters().expose(out);
  return false;
}

std::string exposeMetrics(const MetricsRegistry& registry) {
  std::string out;
  MetricsReader reader(registry);
  while (reader.read(out, out.size() + kPieceBytes)) {
  }
  return out;
}

}  // namespace sluice::observe
