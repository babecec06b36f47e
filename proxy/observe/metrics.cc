#include "proxy/observe/metrics.h"

#include <algorithm>
#include <cstring>

#include "proxy/observe/utf8.h"

namespace sluice::observe {
namespace {

/// Text format 0.0.4: backslash, quote and line feed are escaped, all is UTF-8.
void appendLabelValue(std::string& out, std::string_view value) {
  value = value.substr(0, MetricsRegistry::kMaxLabelBytes);
  while (!value.empty()) {
    const std::size_t length = decodeUtf8(value).length;
    const char first = value.front();
    if (length == 0) {
      out.append(kReplacementCharacter);
    } else if (first == '\n') {
      out.append("\\n");
    } else {
      if (first == '"' || first == '\\') out.push_back('\\');
      out.append(value.substr(0, length));
    }
    value.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

/// Each value behind its length, so that no two lists of values have one key.
void makeKey(std::string& key, std::span<const std::string_view> values) {
  using Size = std::uint16_t;
  static_assert(MetricsRegistry::kMaxLabelBytes <= 0xffff);
  std::size_t total = 0;
  for (const std::string_view value : values) {
    total += sizeof(Size) + std::min(value.size(), MetricsRegistry::kMaxLabelBytes);
  }
  key.resize(total);
  char* to = key.data();
  for (const std::string_view value : values) {
    const auto size = static_cast<Size>(std::min(value.size(), MetricsRegistry::kMaxLabelBytes));
    std::memcpy(to, &size, sizeof size);
    to = std::copy_n(value.data(), size, to + sizeof size);
  }
}

}  // namespace

MetricsRegistry::MetricsRegistry(std::size_t maxSeriesPerFamily) : maxSeries_(maxSeriesPerFamily), dropped_(nullptr) {
  // Not among the counted series: it has its place whatever the bound.
  Family& family = families_[static_cast<std::size_t>(Metric::kSeriesDropped)];
  family.other = makeSeries(familyOf(Metric::kSeriesDropped), {});
  dropped_ = &std::get<Counter>(addCell(MetricKind::kCounter, *family.other)->instrument);
  link(family, *family.other);
}

MetricsRegistry::~MetricsRegistry() = default;

std::unique_ptr<MetricsRegistry::Series> MetricsRegistry::makeSeries(const MetricFamily& facts, Labels values) {
  auto series = std::make_unique<Series>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) series->labels.push_back(',');
    series->labels.append(facts.labels[i]).append("=\"");
    appendLabelValue(series->labels, values[i]);
    series->labels.push_back('"');
  }
  return series;
}

void MetricsRegistry::link(Family& family, Series& series) {
  auto& end = family.last == nullptr ? family.first : family.last->next;
  end.store(&series, std::memory_order_release);
  family.last = &series;
}

MetricsRegistry::Cell* MetricsRegistry::addCell(MetricKind kind, Series& series) {
  Cell* cell = series.cells.emplace_back(std::make_unique<Cell>()).get();
  switch (kind) {
    case MetricKind::kCounter:
      cell->instrument.emplace<Counter>();
      break;
    case MetricKind::kGauge:
      cell->instrument.emplace<Gauge>();
      break;
    case MetricKind::kHistogram:
      cell->instrument.emplace<Histogram>();
      break;
  }
  cell->next = series.firstCell.load(std::memory_order_relaxed);
  series.firstCell.store(cell, std::memory_order_release);
  return cell;
}

MetricsRegistry::Cell* MetricsRegistry::admit(Metric metric, const std::string& key, Labels values) {
  const MetricFamily& facts = familyOf(metric);
  Family& family = families_[static_cast<std::size_t>(metric)];
  const std::lock_guard lock(mutex_);
  const auto known = family.series.find(key);
  if (known != family.series.end()) return addCell(facts.kind, *known->second);
  if (family.series.size() >= maxSeries_) {
    dropped_->add();
    return nullptr;
  }
  Series& series = *family.series.emplace(key, makeSeries(facts, values)).first->second;
  Cell* cell = addCell(facts.kind, series);
  link(family, series);
  return cell;
}

MetricsRegistry::Cell* MetricsRegistry::admitOther(Metric metric) {
  const MetricFamily& facts = familyOf(metric);
  Family& family = families_[static_cast<std::size_t>(metric)];
  const std::lock_guard lock(mutex_);
  if (family.other != nullptr) return addCell(facts.kind, *family.other);
  std::array<std::string_view, kMaxMetricLabels> values;
  values.fill(kOther);
  family.other = makeSeries(facts, Labels(values).first(facts.labelCount()));
  Cell* cell = addCell(facts.kind, *family.other);
  link(family, *family.other);
  return cell;
}

MetricsRegistry::Cell& MetricShard::find(Metric metric, std::span<const std::string_view> values) {
  Known& known = known_[static_cast<std::size_t>(metric)];
  makeKey(key_, values);
  const auto found = known.cells.find(key_);
  if (found != known.cells.end()) return *found->second;
  if (MetricsRegistry::Cell* cell = registry_.admit(metric, key_, values)) {
    known.cells.emplace(key_, cell);
    return *cell;
  }
  if (known.other == nullptr) known.other = registry_.admitOther(metric);
  return *known.other;
}

}  // namespace sluice::observe
