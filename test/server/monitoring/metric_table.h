// Every series that /metrics may have, with its labels, from the tables of the code: for tests that compare what
// operators get (alerts, dashboards, runbook) with the code.
#pragma once

#include <map>
#include <set>
#include <string>

#include "proxy/control/report/config_metrics.h"
#include "proxy/observe/metric_families.h"
#include "proxy/observe/process_metrics.h"
#include "proxy/server/serving/health_checks.h"

namespace sluice::server {

using SeriesTable = std::map<std::string, std::set<std::string>>;

template <typename Families>
void addSeries(const Families& families, SeriesTable& table) {
  for (const auto& family : families) {
    std::set<std::string> labels;
    for (const std::string_view label : family.labels) {
      if (!label.empty()) labels.emplace(label);
    }
    const std::string name(family.name);
    if (family.kind != observe::MetricKind::kHistogram) {
      table.emplace(name, std::move(labels));
      continue;
    }
    table.emplace(name + "_count", labels);
    table.emplace(name + "_sum", labels);
    labels.insert("le");
    table.emplace(name + "_bucket", std::move(labels));
  }
}

/// Returns the labels of each series, by its name; a histogram has three.
inline const SeriesTable& seriesOfTheCode() {
  static const SeriesTable kTable = [] {
    SeriesTable table;
    addSeries(observe::kMetricFamilies, table);
    addSeries(control::kConfigFamilies, table);
    addSeries(kHealthFamilies, table);
    addSeries(observe::kProcessFamilies, table);
    return table;
  }();
  return kTable;
}

}  // namespace sluice::server
