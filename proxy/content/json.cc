#include "proxy/content/json.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include "proxy/base/hex.h"
#include "proxy/content/byte_order_mark.h"
#include "proxy/content/json_parser.h"

namespace sluice::content {
namespace {

void appendEscape(std::string& out, char c) {
  constexpr std::pair<char, char> kShort[] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                              {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};
  for (const auto& [plain, escape] : kShort) {
    if (c != plain) continue;
    out += '\\';
    out += escape;
    return;
  }
  out += "\\u00";
  out += base::hexOf(static_cast<std::uint8_t>(c));
}

void appendString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      appendEscape(out, c);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append(std::string& out, const Value& value) {
  const char* separator = "";
  switch (value.kind) {
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kBool:
      out += value.text;
      return;
    case Value::Kind::kNumber:
      out += jsonNumber(value.text);
      return;
    case Value::Kind::kString:
      appendString(out, value.text);
      return;
    case Value::Kind::kList:
      out += '[';
      for (const Value& item : value.items) {
        out += std::exchange(separator, ",");
        append(out, item);
      }
      out += ']';
      return;
    case Value::Kind::kMap:
      out += '{';
      for (const Member& member : value.members) {
        out += std::exchange(separator, ",");
        appendString(out, member.key);
        out += ':';
        append(out, member.value);
      }
      out += '}';
      return;
  }
}

/// Converts 0x and 0o; a number of more than 64 bits is not supported.
std::string ofBase(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return read.ec == std::errc() ? std::to_string(number) : std::to_string(UINT64_MAX);
}

}  // namespace

base::Result<Value> parseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return base::Error::config("is longer than " + std::to_string(limits.bytes) + " bytes");
  }
  // Positions are counted from the end of the byte order mark.
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return JsonParser(text, limits.depth).parse();
}

std::string writeJson(const Value& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string jsonString(std::string_view text) {
  std::string out;
  appendString(out, text);
  return out;
}

std::string jsonNumber(std::string_view number) {
  if (number.starts_with("0x")) return ofBase(number.substr(2), 16);
  if (number.starts_with("0o")) return ofBase(number.substr(2), 8);
  std::string out;
  if (number.starts_with('-')) out += '-';
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  while (number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9') number.remove_prefix(1);
  if (number.starts_with('.')) out += '0';
  const std::size_t point = number.find('.');
  out += number;
  const bool digitsFollow = point + 1 < number.size() && number[point + 1] >= '0' && number[point + 1] <= '9';
  if (point != std::string_view::npos && !digitsFollow) out.insert(out.size() - (number.size() - point) + 1, "0");
  return out;
}

}  // namespace sluice::content
