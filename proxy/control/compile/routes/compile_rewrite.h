// The filters URLRewrite and RequestRedirect of a rule or of one of its shares, in the form that requests meet them.
#pragma once

#include "config/model/model.h"
#include "proxy/base/box.h"
#include "proxy/control/compile/fault.h"
#include "proxy/routing/policy/redirect.h"
#include "proxy/routing/policy/url_rewrite.h"

namespace sluice::control {

/// A fault (UnsupportedValue) for a path without a normal form. ReplacePrefixMatch replaces the prefix of the one match
/// of `rule`, which its schema has seen to.
Resolved<routing::UrlRewrite> compileRewrite(const base::Box<config::UrlRewrite>& rewrite,
                                             const config::HttpRouteRule& rule);
/// The same for a redirect's path.
Resolved<base::Box<routing::Redirect>> compileRedirect(const base::Box<config::RequestRedirect>& redirect,
                                                       const config::HttpRouteRule& rule);

}  // namespace sluice::control
