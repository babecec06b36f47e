#include "proxy/compile/routes/compile_rewrite.h"

#include "proxy/compile/routes/compile_match.h"

namespace sluice::compile {
namespace {

/// Removes a final "/". It has no meaning in a prefix, which consists of whole path elements (Gateway API
/// HTTPPathModifier).
std::string withoutFinalSlash(std::string path) {
  if (path.ends_with('/')) path.pop_back();
  return path;
}

Resolved<routing::UrlRewrite> compilePathRewrite(const std::optional<config::PathModifier>& modifier,
                                                 const config::HttpRouteRule& rule) {
  routing::UrlRewrite result;
  if (!modifier) return result;
  auto replacement = normalPath(modifier->value.empty() ? "/" : modifier->value, modifier->path);
  if (!replacement) return std::move(replacement.fault);
  if (modifier->type == config::PathModifierType::kReplaceFullPath) {
    result.path = routing::PathRewrite::kFullPath;
    result.replacement = *std::move(replacement.value);
    return result;
  }
  // The schema has refused such a rule, which therefore answers 500.
  if (rule.matches.empty()) return result;
  const config::PathMatch& match = rule.matches.front().path;
  auto prefix = normalPath(match.value, match.path);
  if (!prefix) return std::move(prefix.fault);
  result.path = routing::PathRewrite::kPrefixMatch;
  result.replacement = withoutFinalSlash(*std::move(replacement.value));
  result.prefix = withoutFinalSlash(*std::move(prefix.value));
  return result;
}

}  // namespace

Resolved<routing::UrlRewrite> compileRewrite(const base::Box<config::UrlRewriteFilter>& rewrite,
                                             const config::HttpRouteRule& rule) {
  if (!rewrite) return routing::UrlRewrite();
  auto result = compilePathRewrite(rewrite->path, rule);
  if (result) result.value->authority = rewrite->hostname;
  return result;
}

Resolved<base::Box<routing::Redirect>> compileRedirect(const base::Box<config::RequestRedirectFilter>& redirect,
                                                       const config::HttpRouteRule& rule) {
  if (!redirect) return base::Box<routing::Redirect>();
  auto path = compilePathRewrite(redirect->path, rule);
  if (!path) return std::move(path.fault);
  routing::Redirect result;
  result.status = redirect->statusCode;
  result.scheme = redirect->scheme;
  result.hostname = redirect->hostname;
  result.port = redirect->port;
  result.path = *std::move(path.value);
  return base::Box<routing::Redirect>(std::move(result));
}

}  // namespace sluice::compile
