#include "proxy/kubernetes/client/api_path.h"

#include "proxy/base/text.h"

namespace sluice::kubernetes {

std::string pluralOf(std::string_view kind) {
  std::string plural = base::toLower(kind);
  if (plural.ends_with("parameters")) return plural;
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

}  // namespace sluice::kubernetes
