#include "proxy/routing/compile_rewrite.h"

#include "proxy/routing/compile_match.h"

namespace sluice::routing {
namespace {

/// Prefixes are of whole path elements: a "/" at their end says nothing (Gateway API HTTPPathModifier).
std::string withoutFinalSlash(std::string path) {
  if (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Resolved<UrlRewrite> compileRewrite(const std::optional<config::UrlRewrite>& rewrite,
                                    const config::HttpRouteRule& rule) {
  UrlRewrite result;
  if (!rewrite) return result;
  result.authority = rewrite->hostname;
  if (!rewrite->path) return result;
  auto replacement = normalPath(rewrite->path->value.empty() ? "/" : rewrite->path->value, rewrite->path->path);
  if (!replacement) return std::move(replacement.fault);
  if (rewrite->path->type == config::PathModifierType::kReplaceFullPath) {
    result.path = PathRewrite::kFullPath;
    result.replacement = *std::move(replacement.value);
    return result;
  }
  const config::PathMatch& match = rule.matches.front().path;
  auto prefix = normalPath(match.value, match.path);
  if (!prefix) return std::move(prefix.fault);
  result.path = PathRewrite::kPrefixMatch;
  result.replacement = withoutFinalSlash(*std::move(replacement.value));
  result.prefixLength = withoutFinalSlash(*std::move(prefix.value)).size();
  return result;
}

}  // namespace sluice::routing
