#include "proxy/http/field_grammar.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "proxy/base/terms/reserved_fields.h"
#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

constexpr bool isValueChar(char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F); }

constexpr std::size_t kWord = sizeof(std::uint64_t);

constexpr std::uint64_t everyByte(unsigned char byte) { return 0x0101010101010101ULL * byte; }

// Returns a word in which the highest bit of a byte is set if one of the eight is below 0x20 or 0x7F. It never misses
// one, but also finds tabs and bytes that are not ASCII, which are allowed: a byte below 0x20 borrows, 0x7F overflows,
// and neither can hide another.
std::uint64_t controlBits(std::uint64_t word) { return (word - everyByte(0x20)) | (word + everyByte(1)); }

template <typename Word>
std::uint64_t load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Returns all bytes of a text that is shorter than a word and not empty, some of them twice, and spaces.
std::uint64_t loadShort(std::string_view text) {
  const char* end = text.data() + text.size();
  if (text.size() >= 4) return load<std::uint32_t>(text.data()) | load<std::uint32_t>(end - 4) << 32;
  const std::uint64_t ends = load<std::uint8_t>(text.data()) | load<std::uint8_t>(end - 1) << 8;
  return ends | load<std::uint8_t>(text.data() + text.size() / 2) << 16 | everyByte(' ') << 24;
}

// Sixteen bytes that the processor compares at once. They are signed, so that bytes that are not ASCII are below 0x20.
using Block = signed char __attribute__((vector_size(16)));
constexpr std::size_t kBlock = sizeof(Block);

Block loadBlock(const char* from) {
  Block block;
  std::memcpy(&block, from, kBlock);
  return block;
}

// As controlBits(), but every bit of a byte that is found is set.
Block controlBytes(Block block) { return (block < 0x20) | (block == 0x7F); }

// Returns true if the value surely holds no control characters, as most values do. The last piece that it reads
// overlaps the one before it.
bool isPlain(std::string_view value) {
  if (value.size() >= kBlock) {
    const std::size_t last = value.size() - kBlock;
    Block found = controlBytes(loadBlock(value.data() + last));
    for (std::size_t at = 0; at < last; at += kBlock) found |= controlBytes(loadBlock(value.data() + at));
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), &found, kBlock);
    return (halves[0] | halves[1]) == 0;
  }
  const std::uint64_t bits = value.size() < kWord
                                 ? controlBits(loadShort(value))
                                 : controlBits(load<std::uint64_t>(value.data())) |
                                       controlBits(load<std::uint64_t>(value.data() + value.size() - kWord));
  return (bits & everyByte(0x80)) == 0;
}

// Returns the number of bytes at the front that satisfy `fits`.
template <typename Fits>
std::size_t countWhile(std::string_view text, Fits&& fits) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), fits) - text.begin());
}

// Takes a quoted-string (RFC 9110 section 5.6.4) from the front. Returns false if it does not end.
bool takeQuoted(std::string_view& text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      text.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

// Takes name=value from the front (RFC 9110 section 5.6.6).
bool takeParameter(std::string_view& text) {
  const std::size_t name = countWhile(text, isTokenChar);
  if (name == 0 || name == text.size() || text[name] != '=') return false;
  text.remove_prefix(name + 1);
  if (text.starts_with('"')) return takeQuoted(text);
  const std::size_t value =
      countWhile(text, [](char c) { return std::string_view(" \t,;\"").find(c) == std::string_view::npos; });
  text.remove_prefix(value);
  return value > 0;
}

// *( OWS ";" OWS [ parameter ] )
bool areParameters(std::string_view text) {
  while (!(text = trimSpace(text)).empty()) {
    if (text.front() != ';') return false;
    text = trimSpace(text.substr(1));
    if (!text.empty() && text.front() != ';' && !takeParameter(text)) return false;
  }
  return true;
}

}  // namespace

bool isCodecField(FieldId id) {
  switch (id) {
    case FieldId::kConnection:
    case FieldId::kContentLength:
    case FieldId::kExpect:
    case FieldId::kHost:
    case FieldId::kHttp2Settings:
    case FieldId::kKeepAlive:
    case FieldId::kProxyConnection:
    case FieldId::kTe:
    case FieldId::kTransferEncoding:
    case FieldId::kUpgrade:
      return true;
    default:
      return false;
  }
}

bool isFieldName(std::string_view name) { return isToken(name); }

bool isReservedField(std::string_view lowerCaseName) { return base::isReservedField(lowerCaseName); }

bool isMediaType(std::string_view value) {
  const std::size_t type = countWhile(value, isTokenChar);
  if (type == 0 || type == value.size() || value[type] != '/') return false;
  value.remove_prefix(type + 1);
  const std::size_t subtype = countWhile(value, isTokenChar);
  return subtype > 0 && areParameters(value.substr(subtype));
}

bool isFieldValue(std::string_view value) {
  if (value.empty()) return true;
  const auto isSpace = [](char c) { return c == ' ' || c == '\t'; };
  if (isSpace(value.front()) || isSpace(value.back())) return false;
  if (isPlain(value)) return true;
  for (const char c : value) {
    if (!isValueChar(c)) return false;
  }
  return true;
}

}  // namespace sluice::http
