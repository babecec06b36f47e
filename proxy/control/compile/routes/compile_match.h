// The matches of a rule, in the form of the route table.
#pragma once

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/routing/table/route_table_builder.h"

namespace sluice::control {

/// Without hostnames, precedence and rule. A fault (UnsupportedValue) where the match can never be evaluated: an
/// expression that RE2 refuses, a path without a normal form, a header field that heads do not hold.
Resolved<routing::RouteEntry> compileMatch(const config::HttpRouteMatch& match);
Resolved<routing::RouteEntry> compileMatch(const config::GrpcRouteMatch& match);

/// A path as users write it in the one normal form of requests; `field` is for the fault.
Resolved<std::string> normalPath(std::string_view value, const std::string& field);

}  // namespace sluice::control
