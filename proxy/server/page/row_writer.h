// A RowWriter writes one row of the live page as a JSON object. Members without a value are null, or empty texts.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/json_text.h"
#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"

namespace sluice::server {

/// The rows of a section that a state has, each in JSON, and how many there are.
struct PageRows {
  std::vector<std::string> rows = {};
  std::size_t total = 0;
};

/// Returns the number in JSON with at most three decimals.
inline std::string decimalText(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", std::isfinite(value) ? value : 0.0);
  std::string number = text;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

class RowWriter {
 public:
  /// A longer text is cut.
  static constexpr std::size_t kMostText = 1024;

  RowWriter() { json_.beginObject(); }

  RowWriter& text(std::string_view member, std::string_view value) {
    std::string quoted;
    base::appendJsonString(quoted, value, kMostText);
    json_.key(member).json(quoted);
    return *this;
  }
  RowWriter& count(std::string_view member, std::uint64_t value) {
    json_.key(member).json(std::to_string(value));
    return *this;
  }
  RowWriter& decimal(std::string_view member, std::optional<double> value) {
    json_.key(member).json(value ? decimalText(*value) : "null");
    return *this;
  }
  /// The epoch is an unknown time.
  RowWriter& time(std::string_view member, base::WallTime value) {
    base::Timestamp stamp;
    return text(member, value == base::WallTime{} ? std::string_view() : stamp.text(value));
  }
  std::string take() { return json_.endObject().take(); }

 private:
  base::JsonWriter json_;
};

}  // namespace sluice::server
