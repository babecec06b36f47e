#include "proxy/http/tunnel.h"

#include <algorithm>

#include "proxy/base/base64.h"

namespace sluice::http {
namespace {

constexpr std::string_view kAccept = "sec-websocket-accept";

/// Returns the value of the only line of that name; empty if there is none, or more than one.
std::string_view onlyValue(const Headers& headers, std::string_view name) {
  std::string_view value;
  for (const Field& field : headers) {
    if (field.name != name) continue;
    if (!value.empty()) return {};
    value = field.value;
  }
  return value;
}

/// Returns true for 16 bytes in base64.
bool isKey(std::string_view key) {
  return key.size() == 24 && key.ends_with("==") && std::all_of(key.begin(), key.end() - 2, base::isBase64Character);
}

bool namesAlone(const FieldSection& fields, Tunnel tunnel) {
  return fields.upgradeCount == 1 && equalsIgnoreCase(fields.upgrade, upgradeName(tunnel)) && fields.connectionUpgrade;
}

}  // namespace

std::string_view webSocketKey(const Headers& headers) { return onlyValue(headers, "sec-websocket-key"); }

Tunnel tunnelOfUpgrade(const RequestHead& head, const FieldSection& fields) {
  const bool asks = namesAlone(fields, Tunnel::kWebSocket) && head.version == Version::kHttp11 &&
                    head.method == Method::kGet && head.body == Body::kNone && isKey(webSocketKey(head.headers));
  return asks ? Tunnel::kWebSocket : Tunnel::kNone;
}

Tunnel tunnelOfProtocol(std::string_view protocol) {
  return protocol == upgradeName(Tunnel::kWebSocket) ? Tunnel::kWebSocket : Tunnel::kNone;
}

std::string_view upgradeName(Tunnel tunnel) {
  switch (tunnel) {
    case Tunnel::kWebSocket:
      return "websocket";
    case Tunnel::kNone:
    case Tunnel::kStream:
      break;
  }
  return {};
}

void removeHandshake(RequestHead& head) {
  if (head.tunnel == Tunnel::kWebSocket) head.headers.remove("sec-websocket-key");
}

void answerHandshake(base::Arena& arena, Tunnel tunnel, std::string_view proof, Headers& response) {
  if (tunnel == Tunnel::kWebSocket) response.set(arena, kAccept, arena.copy(proof));
}

const char* disagreement(Tunnel asked, std::string_view proof, const FieldSection& fields) {
  if (!namesAlone(fields, asked)) return "a switch to a protocol that was not asked for";
  if (onlyValue(fields.kept, kAccept) != proof) return "Sec-WebSocket-Accept does not fit the key";
  return nullptr;
}

}  // namespace sluice::http
