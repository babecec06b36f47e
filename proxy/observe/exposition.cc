#include "proxy/observe/exposition.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "proxy/base/utf8.h"

namespace sluice::observe {

void appendLabelValue(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const std::size_t length = base::decodeUtf8(value).length;
    const char first = value.front();
    if (length == 0) {
      out.append(base::kReplacementCharacter);
    } else if (first == '\n') {
      out.append("\\n");
    } else {
      if (first == '"' || first == '\\') out.push_back('\\');
      out.append(value.substr(0, length));
    }
    value.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

std::string_view metricKindName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      break;
  }
  return "histogram";
}

void appendMetricHead(std::string& out, MetricKind kind, std::string_view name, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name);
  out.append(" ").append(metricKindName(kind)).append("\n");
}

void Exposition::begin(const ReadFamily& family) {
  family_ = &family;
  appendMetricHead(out_, family.kind, family.name, family.help);
}

void Exposition::head(std::initializer_list<std::string_view> values) {
  out_.append(family_->name);
  std::size_t label = 0;
  for (const std::string_view value : values) {
    out_.append(label == 0 ? "{" : ",").append(family_->labels[label]).append("=\"");
    ++label;
    appendLabelValue(out_, value);
    out_.append("\"");
  }
  out_.append(values.size() > 0 ? "} " : " ");
}

void Exposition::add(std::initializer_list<std::string_view> values, double number) {
  head(values);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out_.append(digits.data(), end).append("\n");
}

void Exposition::add(std::initializer_list<std::string_view> values, std::uint64_t number) {
  head(values);
  out_.append(std::to_string(number)).append("\n");
}

}  // namespace sluice::observe
