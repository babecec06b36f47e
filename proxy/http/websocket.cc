#include "proxy/http/websocket.h"

#include <algorithm>

#include "proxy/base/base64.h"

namespace sluice::http {
namespace {

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

/// 16 bytes in base64.
bool isKey(std::string_view key) {
  return key.size() == 24 && key.ends_with("==") && std::all_of(key.begin(), key.end() - 2, base::isBase64Character);
}

bool namesWebSocketAlone(const FieldSection& fields) {
  return fields.upgradeCount == 1 && equalsIgnoreCase(fields.upgrade, "websocket") && fields.connectionUpgrade;
}

}  // namespace

std::string_view webSocketKey(const Headers& headers) { return onlyValue(headers, "sec-websocket-key"); }

bool asksForWebSocket(const RequestHead& head, const FieldSection& fields) {
  return namesWebSocketAlone(fields) && head.version == Version::kHttp11 && head.method == Method::kGet &&
         head.body == Body::kNone && isKey(webSocketKey(head.headers));
}

const char* disagreement(const FieldSection& fields, std::string_view accept) {
  if (!namesWebSocketAlone(fields)) return "a switch to a protocol that was not asked for";
  if (onlyValue(fields.kept, "sec-websocket-accept") != accept) return "Sec-WebSocket-Accept does not fit the key";
  return nullptr;
}

}  // namespace sluice::http
