#include "proxy/http/websocket.h"

#include <algorithm>

#include "proxy/http/sha1.h"

namespace sluice::http {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

std::string base64(const std::array<std::uint8_t, 20>& bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t last = at + 2 < bytes.size() ? bytes[at + 2] : 0U;
    const std::uint32_t group = static_cast<std::uint32_t>(bytes[at]) << 16 | bytes[at + 1] << 8U | last;
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[group >> shift & 63];
  }
  text.back() = '=';  // 20 bytes are one short of whole groups
  return text;
}

/// The value of the only line of that name; empty if there is none, or more than one.
std::string_view onlyValue(const Headers& headers, std::string_view name) {
  std::string_view value;
  for (const Field& field : headers) {
    if (field.name != name) continue;
    if (!value.empty()) return {};
    value = field.value;
  }
  return value;
}

std::string_view keyOf(const Headers& headers) { return onlyValue(headers, "sec-websocket-key"); }

/// 16 bytes in base64.
bool isKey(std::string_view key) {
  return key.size() == 24 && key.ends_with("==") &&
         std::all_of(key.begin(), key.end() - 2, [](char c) { return kAlphabet.find(c) != std::string_view::npos; });
}

bool namesWebSocketAlone(const FieldSection& fields) {
  return fields.upgradeCount == 1 && equalsIgnoreCase(fields.upgrade, "websocket") && fields.connectionUpgrade;
}

}  // namespace

bool asksForWebSocket(const RequestHead& head, const FieldSection& fields) {
  return namesWebSocketAlone(fields) && head.version == Version::kHttp11 && head.method == Method::kGet &&
         head.body == Body::kNone && isKey(keyOf(head.headers));
}

std::string webSocketAccept(const RequestHead& head) {
  return base64(sha1(std::string(keyOf(head.headers)).append(kGuid)));
}

const char* disagreement(const FieldSection& fields, std::string_view accept) {
  if (!namesWebSocketAlone(fields)) return "a switch to a protocol that was not asked for";
  if (onlyValue(fields.kept, "sec-websocket-accept") != accept) return "Sec-WebSocket-Accept does not fit the key";
  return nullptr;
}

}  // namespace sluice::http
