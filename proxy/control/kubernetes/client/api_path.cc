#include "proxy/control/kubernetes/client/api_path.h"

#include <algorithm>

#include "proxy/base/text.h"

namespace sluice::control {

std::string pluralOf(std::string_view kind) {
  std::string plural = base::toLower(kind);
  const bool vowelBeforeLast =
      plural.size() > 1 && std::string_view("aeiou").find(plural[plural.size() - 2]) != std::string_view::npos;
  if (plural.ends_with('s')) return plural + "es";
  if (!plural.ends_with('y') || vowelBeforeLast) return plural + "s";
  plural.pop_back();
  return plural + "ies";
}

std::string apiPath(std::string_view group, std::string_view version) {
  std::string path = group.empty() ? "/api/" : "/apis/" + std::string(group) + "/";
  return path.append(version);
}

std::string collectionPath(const config::ObjectKind& kind, std::string_view version, std::string_view nameSpace) {
  std::string path = apiPath(kind.group, version);
  if (!nameSpace.empty()) path.append("/namespaces/").append(nameSpace);
  return path + "/" + pluralOf(kind.kind);
}

std::string queryValue(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || (c >= '0' && c <= '9') || std::string_view("-._~").find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return encoded;
}

}  // namespace sluice::control
