#include "proxy/routing/compile_rewrite.h"

#include "proxy/routing/compile_match.h"

namespace sluice::routing {
namespace {

/// Prefixes are of whole path elements: a "/" at their end says nothing (Gateway API HTTPPathModifier).
std::string withoutFinalSlash(std::string path) {
  if (path.ends_with('/')) path.pop_back();
  return path;
}

Resolved<UrlRewrite> compilePathRewrite(const std::optional<config::PathModifier>& modifier,
                                        const config::HttpRouteRule& rule) {
  UrlRewrite result;
  if (!modifier) return result;
  auto replacement = normalPath(modifier->value.empty() ? "/" : modifier->value, modifier->path);
  if (!replacement) return std::move(replacement.fault);
  if (modifier->type == config::PathModifierType::kReplaceFullPath) {
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

}  // namespace

Resolved<UrlRewrite> compileRewrite(const base::Box<config::UrlRewrite>& rewrite, const config::HttpRouteRule& rule) {
  if (!rewrite) return UrlRewrite();
  auto result = compilePathRewrite(rewrite->path, rule);
  if (result) result.value->authority = rewrite->hostname;
  return result;
}

Resolved<base::Box<Redirect>> compileRedirect(const base::Box<config::RequestRedirect>& redirect,
                                              const config::HttpRouteRule& rule) {
  if (!redirect) return base::Box<Redirect>();
  auto path = compilePathRewrite(redirect->path, rule);
  if (!path) return std::move(path.fault);
  Redirect result;
  result.status = redirect->statusCode;
  result.scheme = redirect->scheme;
  result.hostname = redirect->hostname;
  result.port = redirect->port;
  result.path = *std::move(path.value);
  return base::Box<Redirect>(std::move(result));
}

}  // namespace sluice::routing
