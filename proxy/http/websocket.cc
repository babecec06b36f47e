#include "proxy/http/websocket.h"

#include <algorithm>
#include <span>

#include "proxy/http/sha1.h"

namespace sluice::http {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t offset) {
      return at + offset < bytes.size() ? std::uint32_t{bytes[at + offset]} : 0;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[group >> shift & 63];
  }
  const std::size_t missing = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - missing, missing, missing, '=');
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

std::string webSocketKey(const std::array<std::uint8_t, 16>& nonce) { return base64(nonce); }

std::string webSocketAccept(const RequestHead& head) {
  return base64(sha1(std::string(keyOf(head.headers)).append(kGuid)));
}

const char* disagreement(const FieldSection& fields, std::string_view accept) {
  if (!namesWebSocketAlone(fields)) return "a switch to a protocol that was not asked for";
  if (onlyValue(fields.kept, "sec-websocket-accept") != accept) return "Sec-WebSocket-Accept does not fit the key";
  return nullptr;
}

}  // namespace sluice::http
