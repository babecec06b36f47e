#include "proxy/base/json_writer.h"

#include "proxy/base/text.h"

namespace sluice::base {

void JsonWriter::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  appendQuoted(name);
  text_ += ':';
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  appendQuoted(value);
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::json(std::string_view value) {
  separate();
  text_ += value;
  return *this;
}

void JsonWriter::appendQuoted(std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  text_ += '"';
  while (!value.empty()) {
    const std::size_t good = std::min(findInvalidUtf8OrControl(value), value.size());
    for (const char c : value.substr(0, good)) {
      switch (c) {
        case '"':
        case '\\':
          text_.append(1, '\\').append(1, c);
          break;
        case '\n':
          text_ += "\\n";
          break;
        case '\r':
          text_ += "\\r";
          break;
        case '\t':
          text_ += "\\t";
          break;
        default:
          text_ += c;
      }
    }
    if (good == value.size()) break;
    const auto bad = static_cast<unsigned char>(value[good]);
    if (bad < 0x80) {
      text_.append("\\u00").append(1, kHex[bad >> 4]).append(1, kHex[bad & 15]);
    } else {
      text_ += kReplacement;
    }
    value.remove_prefix(good + 1);
  }
  text_ += '"';
}

}  // namespace sluice::base
