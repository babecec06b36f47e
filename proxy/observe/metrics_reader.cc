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

class SeriesWriter {
 public:
  SeriesWriter(std::string& out, std::string_view name, std::string_view labels)
      : out_(out), name_(name), labels_(labels) {}

  void counter(const SeriesSum& total) {
    head("");
    base::appendJsonNumber(out_, total.count);
    out_.push_back('\n');
  }
  void gauge(const SeriesSum& total) {
    head("");
    base::appendJsonNumber(out_, total.level);
    out_.push_back('\n');
  }
  /// Writes the sum of the buckets that were read as the count, so that the lines agree with each other while workers
  /// go on counting.
  void histogram(const SeriesSum& total) {
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

void appendSeries(std::string& out, const MetricFamily& facts, std::string_view labels, const SeriesSum& total) {
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
      appendSeries(out, facts, each->second.labels, SeriesView(each->second).sum());
    }
    ++family_;
    after_ = 0;
    headRead_ = false;
  }
  if (!std::exchange(scriptsRead_, true)) registry_->scriptCounters().expose(out);
  return false;
}

SeriesSum SeriesView::sum() const {
  SeriesSum sum;
  for (const auto& cell : series_.cells) {
    std::visit([&sum](const auto& instrument) { sum.add(instrument); }, cell->instrument);
  }
  return sum;
}

std::uint64_t SeriesView::nanoseconds() const {
  std::uint64_t sum = 0;
  for (const auto& cell : series_.cells) {
    if (const auto* histogram = std::get_if<Histogram>(&cell->instrument)) sum += histogram->nanoseconds();
  }
  return sum;
}

// The labels are `name="value"` with commas between them; "\\", "\"" and the line end are escaped in values.
std::string SeriesView::label(std::string_view name) const {
  const std::string_view labels = series_.labels;
  std::size_t at = 0;
  while (at < labels.size()) {
    const std::size_t equals = labels.find('=', at);
    const bool wanted = labels.substr(at, equals - at) == name;
    std::string value;
    for (at = equals + 2; at < labels.size() && labels[at] != '"'; ++at) {
      const bool escaped = labels[at] == '\\' && at + 1 < labels.size();
      if (escaped) ++at;
      if (wanted) value.push_back(escaped && labels[at] == 'n' ? '\n' : labels[at]);
    }
    if (wanted) return value;
    at += 2;  // the quotation mark and the comma
  }
  return {};
}

void FamilyReader::read(const MetricsRegistry& registry, Metric metric,
                        const std::function<void(const SeriesView&)>& visit) {
  constexpr std::size_t kUnderOneLock = 256;
  MetricsRegistry::SeriesNumber after = 0;
  for (bool more = true; more;) {
    const std::lock_guard lock(registry.mutex_);
    const auto& series = registry.families_[static_cast<std::size_t>(metric)].series;
    auto each = series.upper_bound(after);
    for (std::size_t count = 0; count < kUnderOneLock && each != series.end(); ++count, ++each) {
      after = each->first;
      visit(SeriesView(each->second));
    }
    more = each != series.end();
  }
}

std::string exposeMetrics(const MetricsRegistry& registry) {
  std::string out;
  MetricsReader reader(registry);
  while (reader.read(out, out.size() + kPieceBytes)) {
  }
  return out;
}

}  // namespace sluice::observe
