#include "proxy/routing/policy/url_rewrite.h"

#include <algorithm>

namespace sluice::routing {

std::string_view UrlRewrite::rewritten(base::Arena& arena, std::string_view target) const {
  if (path == PathRewrite::kNone || !target.starts_with('/')) return target;
  const std::size_t pathSize = std::min(target.find('?'), target.size());
  const std::string_view query = target.substr(pathSize);
  if (path == PathRewrite::kFullPath) return arena.concat(replacement, query);
  // The rest is empty, or begins with the slash behind the prefix.
  const std::string_view rest = target.substr(0, pathSize).substr(std::min(prefixLength, pathSize));
  if (replacement.empty() && rest.empty()) return arena.concat("/", query);
  return arena.concat(replacement, rest, query);
}

}  // namespace sluice::routing
