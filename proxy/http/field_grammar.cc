#include <cstring>

#include "proxy/http/grammar.h"
#include "proxy/http/hygiene.h"

namespace sluice::http {
namespace {

constexpr bool isValueChar(char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F); }

constexpr std::uint64_t everyByte(unsigned char byte) { return 0x0101010101010101ULL * byte; }

// Whether one of eight bytes may be below 0x20 or be 0x7F. Never misses one; a tab, which is allowed, is reported too.
bool mayHoldControl(std::uint64_t word) {
  const std::uint64_t below = (word - everyByte(0x20)) & ~word;
  const std::uint64_t isDelete = word ^ everyByte(0x7F);
  return ((below | ((isDelete - everyByte(1)) & ~isDelete)) & everyByte(0x80)) != 0;
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

bool isFieldValue(std::string_view value) {
  if (value.empty()) return true;
  const auto isSpace = [](char c) { return c == ' ' || c == '\t'; };
  if (isSpace(value.front()) || isSpace(value.back())) return false;
  while (value.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, value.data(), sizeof(word));
    if (mayHoldControl(word)) break;
    value.remove_prefix(sizeof(word));
  }
  for (const char c : value) {
    if (!isValueChar(c)) return false;
  }
  return true;
}

}  // namespace sluice::http
