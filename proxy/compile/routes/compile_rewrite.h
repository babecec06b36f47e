// Compiles the filters URLRewrite and RequestRedirect of a rule or of one of its weighted backends.
#pragma once

#include "config/model/model.h"
#include "proxy/base/box.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/policy/redirect.h"
#include "proxy/routing/policy/url_rewrite.h"

namespace sluice::compile {

/// Returns a fault (UnsupportedValue) for a path without a normal form. ReplacePrefixMatch replaces the prefix of the
/// only match of `rule`; the schema has checked that there is only one.
Resolved<routing::UrlRewrite> compileRewrite(const base::Box<config::UrlRewriteFilter>& rewrite,
                                             const config::HttpRouteRule& rule);
/// Compiles a redirect, with the same rules for its path.
Resolved<base::Box<routing::Redirect>> compileRedirect(const base::Box<config::RequestRedirectFilter>& redirect,
                                                       const config::HttpRouteRule& rule);

}  // namespace sluice::compile
