#include "proxy/http/trace_context.h"

#include <algorithm>
#include <cstddef>

namespace sluice::http {
namespace {

constexpr std::string_view kField = "traceparent";
// "00-" trace id "-" span id "-" flags. Later versions may go on behind another "-".
constexpr std::size_t kSize = 55;

bool isHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}
bool isZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

TraceContext parseTraceparent(std::string_view value) {
  if (value.size() < kSize || value[2] != '-' || value[35] != '-' || value[52] != '-') return {};
  const std::string_view version = value.substr(0, 2);
  const TraceContext found{value.substr(3, 32), value.substr(36, 16)};
  const bool ends = version == "00" ? value.size() == kSize : value.size() == kSize || value[kSize] == '-';
  const bool digits = isHex(version) && isHex(found.traceId) && isHex(found.spanId) && isHex(value.substr(53, 2));
  if (!ends || !digits || version == "ff" || isZero(found.traceId) || isZero(found.spanId)) return {};
  return found;
}

}  // namespace

TraceContext traceContextOf(const Headers& headers) {
  const Field* found = nullptr;
  for (const Field& field : headers) {
    if (field.name != kField) continue;
    if (found != nullptr) return {};
    found = &field;
  }
  return found != nullptr ? parseTraceparent(found->value) : TraceContext();
}

}  // namespace sluice::http
