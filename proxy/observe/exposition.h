// Metrics whose values are read when the page is requested, not counted: their families, and a writer in Prometheus'
// text format 0.0.4.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "proxy/observe/metric_families.h"

namespace sluice::observe {

/// Appends UTF-8 text as the value of a label: backslash, quote and line feed are escaped.
void appendLabelValue(std::string& out, std::string_view value);
/// Appends the two lines that begin a family.
void appendMetricHead(std::string& out, MetricKind kind, std::string_view name, std::string_view help);
/// Returns "counter", "gauge" or "histogram".
std::string_view metricKindName(MetricKind kind);

struct ReadFamily {
  MetricKind kind;
  std::string_view name;
  std::array<std::string_view, 3> labels;  // unused ones are empty
  std::string_view help;
};

class Exposition {
 public:
  explicit Exposition(std::string& out) : out_(out) {}

  /// Begins a family. The samples that follow belong to it.
  void begin(const ReadFamily& family);
  /// Adds a sample with a value for each label of the family.
  void add(std::initializer_list<std::string_view> values, double number);
  void add(std::initializer_list<std::string_view> values, std::uint64_t number);

 private:
  void head(std::initializer_list<std::string_view> values);

  std::string& out_;
  const ReadFamily* family_ = nullptr;
};

}  // namespace sluice::observe
