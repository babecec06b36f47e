#include "proxy/observe/metrics.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/observe/exposition.h"

namespace sluice::observe {
namespace {

/// Writes each value behind its length, so that no two lists of values have the same key.
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

/// Takes apart a key made by makeKey().
std::vector<std::string_view> valuesOf(std::string_view key) {
  std::vector<std::string_view> values;
  while (!key.empty()) {
    std::uint16_t size = 0;
    std::memcpy(&size, key.data(), sizeof size);
    values.push_back(key.substr(sizeof size, size));
    key.remove_prefix(sizeof size + size);
  }
  return values;
}

/// The first of these labels that has a value names the object of the series.
constexpr std::array<std::string_view, 4> kObjectLabels{"route", "backend", "gateway", "policy"};
/// These name the workload that calls.
constexpr std::string_view kNamespaceLabel = "namespace";
constexpr std::string_view kAccountLabel = "serviceAccount";

bool namesObjects(const MetricFamily& facts) {
  return std::find_first_of(facts.labels.begin(), facts.labels.end(), kObjectLabels.begin(), kObjectLabels.end()) !=
         facts.labels.end();
}

/// The namespace of the object, or else that of the calling workload.
std::string_view namespaceOf(const MetricFamily& facts, std::span<const std::string_view> values) {
  for (const std::string_view label : kObjectLabels) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (facts.labels[i] == label && !values[i].empty()) return values[i].substr(0, values[i].find('/'));
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (facts.labels[i] == kNamespaceLabel) return values[i];
  }
  return {};
}

bool isOfWorkload(std::string_view label) { return label == kNamespaceLabel || label == kAccountLabel; }

/// Returns true if the series is that of one calling workload.
bool namesWorkload(const MetricFamily& facts, std::span<const std::string_view> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (isOfWorkload(facts.labels[i]) && !values[i].empty() && values[i] != MetricsRegistry::kOther) return true;
  }
  return false;
}

/// The part of a bound that series of workloads may use. The rest is for series that name none, so that a namespace
/// with many service accounts cannot take these from the routes that it calls.
std::size_t shareOfWorkloads(std::size_t bound) { return bound - bound / 4; }

bool allExist(const MetricFamily& facts, std::span<const std::string_view> values,
              const std::function<bool(std::string_view)>& exists) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool object = std::find(kObjectLabels.begin(), kObjectLabels.end(), facts.labels[i]) != kObjectLabels.end();
    if (object && !values[i].empty() && !exists(values[i])) return false;
  }
  return true;
}

}  // namespace

MetricsRegistry::MetricsRegistry(std::size_t maxSeriesPerNamespace, std::size_t maxSeriesPerFamily)
    : maxPerNamespace_(maxSeriesPerNamespace), maxPerFamily_(maxSeriesPerFamily), dropped_(nullptr) {
  MetricSeries& series = addSeries(familyOf(Metric::kSeriesDropped), {}, {});
  dropped_ = &std::get<Counter>(addCell(MetricKind::kCounter, series)->instrument);
}

MetricsRegistry::~MetricsRegistry() = default;

MetricsRegistry::MetricSeries& MetricsRegistry::addSeries(const MetricFamily& facts, Labels values,
                                                          std::string_view nameSpace) {
  MetricSeries& series = families_[static_cast<std::size_t>(facts.id)].series[++lastNumber_];
  series.number = lastNumber_;
  series.nameSpace = nameSpace;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) series.labels.push_back(',');
    series.labels.append(facts.labels[i]).append("=\"");
    appendLabelValue(series.labels, values[i].substr(0, MetricsRegistry::kMaxLabelBytes));
    series.labels.push_back('"');
  }
  return series;
}

MetricsRegistry::InstrumentCell* MetricsRegistry::addCell(MetricKind kind, MetricSeries& series) {
  ++series.used;
  // A cell that its shard has left is reused with its counts.
  for (const auto& left : series.cells) {
    if (!std::exchange(left->used, true)) return left.get();
  }
  InstrumentCell* cell = series.cells.emplace_back(std::make_unique<InstrumentCell>()).get();
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
  return cell;
}

MetricsRegistry::InstrumentCell* MetricsRegistry::admit(Metric metric, const std::string& key, Labels values) {
  const MetricFamily& facts = familyOf(metric);
  Family& family = families_[static_cast<std::size_t>(metric)];
  const std::lock_guard lock(mutex_);
  const auto known = family.byKey.find(key);
  if (known != family.byKey.end()) return addCell(facts.kind, *known->second);
  const std::string_view nameSpace = namespaceOf(facts, values);
  const auto own = family.perNamespace.find(nameSpace);
  const std::size_t count = own != family.perNamespace.end() ? own->second : 0;
  const bool ofWorkload = namesWorkload(facts, values);
  const std::size_t mostOfNamespace = ofWorkload ? shareOfWorkloads(maxPerNamespace_) : maxPerNamespace_;
  const std::size_t mostOfFamily = ofWorkload ? shareOfWorkloads(maxPerFamily_) : maxPerFamily_;
  if (count >= mostOfNamespace || family.byKey.size() >= mostOfFamily) {
    dropped_->add();
    return nullptr;
  }
  MetricSeries& series = addSeries(facts, values, nameSpace);
  family.byKey.emplace(key, &series);
  ++family.perNamespace[series.nameSpace];
  return addCell(facts.kind, series);
}

void MetricsRegistry::leave(Metric metric, const std::string& key, InstrumentCell& cell) {
  Family& family = families_[static_cast<std::size_t>(metric)];
  const std::lock_guard lock(mutex_);
  cell.used = false;
  const auto known = family.byKey.find(key);
  if (--known->second->used > 0) return;
  const SeriesNumber number = known->second->number;
  const auto own = family.perNamespace.find(known->second->nameSpace);
  if (--own->second == 0) family.perNamespace.erase(own);
  family.byKey.erase(known);
  family.series.erase(number);
}

MetricsRegistry::InstrumentCell* MetricsRegistry::admitOther(Metric metric) {
  const MetricFamily& facts = familyOf(metric);
  Family& family = families_[static_cast<std::size_t>(metric)];
  const std::lock_guard lock(mutex_);
  if (family.other != nullptr) return addCell(facts.kind, *family.other);
  std::array<std::string_view, kMaxMetricLabels> values;
  values.fill(kOther);
  family.other = &addSeries(facts, Labels(values).first(facts.labelCount()), {});
  return addCell(facts.kind, *family.other);
}

MetricsRegistry::InstrumentCell& MetricShard::find(Metric metric, std::span<const std::string_view> values) {
  Known& known = known_[static_cast<std::size_t>(metric)];
  makeKey(key_, values);
  const auto found = known.cells.find(key_);
  if (found != known.cells.end()) return *found->second;
  if (MetricsRegistry::InstrumentCell* cell = registry_.admit(metric, key_, values)) {
    known.cells.emplace(key_, cell);
    return *cell;
  }
  if (namesWorkload(familyOf(metric), values)) return findOfOtherWorkloads(metric, values);
  if (known.other == nullptr) known.other = registry_.admitOther(metric);
  return *known.other;
}

MetricsRegistry::InstrumentCell& MetricShard::findOfOtherWorkloads(Metric metric,
                                                                   std::span<const std::string_view> values) {
  const MetricFamily& facts = familyOf(metric);
  std::array<std::string_view, kMaxMetricLabels> folded;
  for (std::size_t i = 0; i < values.size(); ++i) {
    folded[i] = isOfWorkload(facts.labels[i]) ? MetricsRegistry::kOther : values[i];
  }
  return find(metric, std::span<const std::string_view>(folded).first(values.size()));
}

bool MetricShard::addNamed(std::string_view type, std::string_view name, std::uint64_t count) {
  const auto [known, isNew] = named_.try_emplace({std::string(type), std::string(name)}, nullptr);
  if (isNew) known->second = registry_.scriptCounters().find(type, name);
  std::atomic<std::uint64_t>* const counter = known->second;
  if (counter == nullptr) {
    named_.erase(known);
    return false;
  }
  counter->fetch_add(count, std::memory_order_relaxed);
  return true;
}

void MetricShard::forget(const std::function<bool(std::string_view object)>& exists) {
  for (const MetricFamily& facts : kMetricFamilies) {
    if (!namesObjects(facts)) continue;
    auto& cells = known_[static_cast<std::size_t>(facts.id)].cells;
    for (auto each = cells.begin(); each != cells.end();) {
      const auto* gauge = std::get_if<Gauge>(&each->second->instrument);
      if ((gauge != nullptr && gauge->value() != 0) || allExist(facts, valuesOf(each->first), exists)) {
        ++each;
        continue;
      }
      registry_.leave(facts.id, each->first, *each->second);
      each = cells.erase(each);
    }
  }
}

}  // namespace sluice::observe
