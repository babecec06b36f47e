#include "proxy/routing/policy/url_rewrite.h"

#include <algorithm>

namespace sluice::routing {
namespace {

/// Returns the part of the path behind the prefix: empty, or with the slash behind it.
std::string_view behindPrefix(std::string_view path, std::string_view prefix) {
  const std::string_view rest = path.substr(std::min(prefix.size(), path.size()));
  if (path.starts_with(prefix) && (rest.empty() || rest.front() == '/')) return rest;
  for (auto left = std::count(prefix.begin(), prefix.end(), '/'); left > 0 && !path.empty();) {
    const bool hasParametersAlone = path.starts_with("/;");
    path.remove_prefix(std::min(path.find('/', 1), path.size()));
    if (!hasParametersAlone) --left;
  }
  return path;
}

}  // namespace

std::string_view UrlRewrite::rewritten(base::Arena& arena, std::string_view target) const {
  if (path == PathRewrite::kNone || !target.starts_with('/')) return target;
  const std::size_t pathSize = std::min(target.find('?'), target.size());
  const std::string_view query = target.substr(pathSize);
  if (path == PathRewrite::kFullPath) return arena.concat(replacement, query);
  const std::string_view rest = behindPrefix(target.substr(0, pathSize), prefix);
  if (replacement.empty() && rest.empty()) return arena.concat("/", query);
  return arena.concat(replacement, rest, query);
}

}  // namespace sluice::routing
