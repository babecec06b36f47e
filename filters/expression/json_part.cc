#include "filters/expression/json_part.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "proxy/content/json_scan.h"

namespace sluice::filters {
namespace {

/// Reads a string with its quotes.
std::string decodedString(std::string_view quoted) {
  return content::JsonCursor(quoted, 0).takeString().value_or(std::string());
}

}  // namespace

JsonParts::JsonParts(std::string_view container)
    : text_(container),
      cursor_(container, content::JsonScan::kMostDepth),
      closing_(container.front() == '{' ? '}' : ']') {
  cursor_.open(container.front());
}

bool JsonParts::next() {
  if (!isTaken_) value();
  if (cursor_.peek() == closing_ || (!isFirst_ && !cursor_.take(','))) return false;
  isFirst_ = false;
  if (closing_ == '}') {
    const std::size_t begin = cursor_.next();
    if (!cursor_.skipValue()) return false;
    name_ = text_.substr(begin, cursor_.at() - begin);
    if (!cursor_.take(':')) return false;
  }
  isTaken_ = false;
  return true;
}

bool JsonParts::isNamed(std::string_view name) const {
  if (closing_ != '}') return false;
  if (name_.find('\\') != std::string_view::npos) return decodedString(name_) == name;
  return name_.substr(1, name_.size() - 2) == name;
}

std::string JsonParts::name() const { return decodedString(name_); }

std::string_view JsonParts::value() {
  if (!isTaken_) {
    const std::size_t begin = cursor_.next();
    cursor_.skipValue();
    value_ = text_.substr(begin, cursor_.at() - begin);
    isTaken_ = true;
  }
  return value_;
}

Datum jsonNumberDatum(std::string_view spelling) {
  const char* const end = spelling.data() + spelling.size();
  std::int64_t integer = 0;
  const auto read = std::from_chars(spelling.data(), end, integer);
  if (read.ec == std::errc() && read.ptr == end) return Datum::integer(integer, spelling);
  double real = 0;
  if (std::from_chars(spelling.data(), end, real).ec != std::errc()) {
    return Datum::error("a number of the JSON text is out of range");
  }
  return Datum::real(real, spelling);
}

Datum jsonDatum(std::string_view text, Meter& meter) {
  switch (text.front()) {
    case '{':
    case '[':
      return Datum::json(text);
    case '"': {
      const std::string_view inner = text.substr(1, text.size() - 2);
      if (inner.find('\\') == std::string_view::npos) return Datum::string(inner);
      const std::string decoded = decodedString(text);
      char* const room = meter.bytes(decoded.size());
      if (room == nullptr) return Datum::error("the value is too long");
      return Datum::string({static_cast<char*>(std::memcpy(room, decoded.data(), decoded.size())), decoded.size()});
    }
    case 't':
    case 'f':
      return Datum::boolean(text.front() == 't');
    case 'n':
      return {};
    default:
      return jsonNumberDatum(text);
  }
}

std::optional<std::string_view> jsonMember(std::string_view container, std::string_view name) {
  JsonParts parts(container);
  while (parts.next()) {
    if (parts.isNamed(name)) return parts.value();
  }
  return std::nullopt;
}

std::optional<std::string_view> jsonElement(std::string_view container, std::int64_t index) {
  if (container.front() != '[' || index < 0) return std::nullopt;
  JsonParts parts(container);
  for (std::int64_t at = 0; parts.next(); ++at) {
    if (at == index) return parts.value();
  }
  return std::nullopt;
}

std::size_t jsonSize(std::string_view container) {
  std::size_t size = 0;
  for (JsonParts parts(container); parts.next();) ++size;
  return size;
}

}  // namespace sluice::filters
