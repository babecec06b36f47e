// How the registry looks in Prometheus' text format 0.0.4.
#include <array>

#include "proxy/observe/json_text.h"
#include "proxy/observe/metrics.h"

namespace sluice::observe {
namespace {

constexpr std::array<std::string_view, 3> kKindNames{"counter", "gauge", "histogram"};

void appendSeconds(std::string& out, std::uint64_t nanoseconds) {
  appendJsonNumber(out, nanoseconds / 1'000'000'000);
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
    appendJsonNumber(out_, total.count);
    out_.push_back('\n');
  }
  void gauge(const Total& total) {
    head("");
    appendJsonNumber(out_, total.level);
    out_.push_back('\n');
  }
  /// The count is the sum of the buckets that were read, so that the lines agree with each other while workers go on
  /// counting.
  void histogram(const Total& total) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < total.buckets.size(); ++i) {
      cumulative += total.buckets[i];
      head("_bucket", i < Histogram::kBounds.size() ? Histogram::kBounds[i].text : "+Inf");
      appendJsonNumber(out_, cumulative);
      out_.push_back('\n');
    }
    head("_sum");
    appendSeconds(out_, total.nanoseconds);
    out_.push_back('\n');
    head("_count");
    appendJsonNumber(out_, cumulative);
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

}  // namespace

std::string MetricsRegistry::expose() const {
  std::string out;
  for (std::size_t i = 0; i < families_.size(); ++i) exposeFamily(kMetricFamilies[i], families_[i], out);
  return out;
}

void MetricsRegistry::exposeFamily(const MetricFamily& facts, const Family& family, std::string& out) {
  out.append("# HELP ").append(facts.name).append(" ").append(facts.help).append("\n# TYPE ").append(facts.name);
  out.append(" ").append(kKindNames[static_cast<std::size_t>(facts.kind)]).append("\n");
  const Series* series = family.first.load(std::memory_order_acquire);
  for (; series != nullptr; series = series->next.load(std::memory_order_acquire)) {
    Total total;
    const Cell* cell = series->firstCell.load(std::memory_order_acquire);
    for (; cell != nullptr; cell = cell->next) {
      std::visit([&total](const auto& instrument) { total.add(instrument); }, cell->instrument);
    }
    SeriesWriter writer(out, facts.name, series->labels);
    switch (facts.kind) {
      case MetricKind::kCounter:
        writer.counter(total);
        break;
      case MetricKind::kGauge:
        writer.gauge(total);
        break;
      case MetricKind::kHistogram:
        writer.histogram(total);
        break;
    }
  }
}

}  // namespace sluice::observe
