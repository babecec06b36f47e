#include "proxy/routing/policy/session_policy.h"

namespace sluice::routing {

std::string_view SessionPolicy::cookiePath(std::string_view requestPath) const {
  std::string_view longest;
  for (const std::string& path : paths) {
    const bool below =
        requestPath.starts_with(path) && (requestPath.size() == path.size() || requestPath[path.size()] == '/');
    if (below && path.size() > longest.size()) longest = path;
  }
  return longest.empty() ? "/" : longest;
}

}  // namespace sluice::routing
