#include "test/support/external/spop_wire.h"

namespace sluice::external {
namespace {

enum DataType : std::uint8_t {
  kNull = 0,
  kBool = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kIpv4 = 6,
  kIpv6 = 7,
  kString = 8,
  kBinary = 9
};

constexpr std::uint8_t kTypeBits = 0x0F;
constexpr std::uint8_t kTrueBit = 0x10;
// An integer from here on has further bytes, of 7 bits each; the first has 4 bits.
constexpr std::uint64_t kFirstLong = 240;
constexpr std::uint64_t kNextLong = 128;

}  // namespace

std::optional<std::string_view> SpopReader::take(std::size_t count) {
  if (count > rest_.size()) {
    rest_ = {};
    return std::nullopt;
  }
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::optional<std::uint8_t> SpopReader::byte() {
  const auto taken = take(1);
  return taken ? std::optional(static_cast<std::uint8_t>(taken->front())) : std::nullopt;
}

std::optional<std::uint32_t> SpopReader::fixed32() {
  const auto taken = take(4);
  if (!taken) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : *taken) value = value << 8 | static_cast<std::uint8_t>(c);
  return value;
}

std::optional<std::uint64_t> SpopReader::integer() {
  const auto first = byte();
  if (!first || *first < kFirstLong) return first;
  std::uint64_t value = *first;
  for (int shift = 4; shift < 64; shift += 7) {
    const auto next = byte();
    if (!next) return std::nullopt;
    value += std::uint64_t{*next} << shift;
    if (*next < kNextLong) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> SpopReader::text() {
  const auto length = integer();
  return length ? take(*length) : std::nullopt;
}

std::optional<std::string> SpopReader::data() {
  const auto type = byte();
  if (!type) return std::nullopt;
  switch (*type & kTypeBits) {
    case kNull:
      return std::string();
    case kBool:
      return std::string((*type & kTrueBit) != 0 ? "1" : "0");
    case kInt32:
    case kUint32:
    case kInt64:
    case kUint64: {
      const auto value = integer();
      return value ? std::optional(std::to_string(*value)) : std::nullopt;
    }
    case kIpv4:
    case kIpv6: {
      const auto bytes = take((*type & kTypeBits) == kIpv4 ? 4 : 16);
      return bytes ? std::optional(std::string(*bytes)) : std::nullopt;
    }
    case kString:
    case kBinary: {
      const auto bytes = text();
      return bytes ? std::optional(std::string(*bytes)) : std::nullopt;
    }
  }
  return std::nullopt;
}

void appendSpopInteger(std::string& to, std::uint64_t value) {
  if (value < kFirstLong) {
    to += static_cast<char>(value);
    return;
  }
  to += static_cast<char>(value | kFirstLong);
  for (value = (value - kFirstLong) >> 4; value >= kNextLong; value = (value - kNextLong) >> 7) {
    to += static_cast<char>(value | kNextLong);
  }
  to += static_cast<char>(value);
}

void appendSpopText(std::string& to, std::string_view text) {
  appendSpopInteger(to, text.size());
  to += text;
}

void appendSpopString(std::string& to, std::string_view text) {
  to += static_cast<char>(kString);
  appendSpopText(to, text);
}

void appendSpopNumber(std::string& to, std::uint32_t number) {
  to += static_cast<char>(kUint32);
  appendSpopInteger(to, number);
}

}  // namespace sluice::external
