// The filters URLRewrite and RequestRedirect of a rule or of one of its shares, in the form that requests meet them.
#pragma once

#include "config/model.h"
#include "proxy/base/box.h"
#include "proxy/routing/fault.h"
#include "proxy/routing/redirect.h"
#include "proxy/routing/url_rewrite.h"

namespace sluice::routing {

/// A fault (UnsupportedValue) for a path without a normal form. ReplacePrefixMatch replaces the prefix of the one match
/// of `rule`, which its schema has seen to.
Resolved<UrlRewrite> compileRewrite(const base::Box<config::UrlRewrite>& rewrite, const config::HttpRouteRule& rule);
/// The same for a redirect's path.
Resolved<base::Box<Redirect>> compileRedirect(const base::Box<config::RequestRedirect>& redirect,
                                              const config::HttpRouteRule& rule);

}  // namespace sluice::routing
