// Compiles the matches of a rule into entries of the route table.
#pragma once

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/routing/table/route_table_builder.h"

namespace sluice::control {

/// Returns an entry without hostnames, precedence and rule. Returns a fault (UnsupportedValue) if the match can never
/// be evaluated: an expression that RE2 refuses, a path without a normal form, or a header field that no head contains.
Resolved<routing::RouteEntry> compileMatch(const config::HttpRouteMatch& match);
Resolved<routing::RouteEntry> compileMatch(const config::GrpcRouteMatch& match);

/// Brings a user's path into the normal form of requests; `field` is for the fault.
Resolved<std::string> normalPath(std::string_view value, const std::string& field);

}  // namespace sluice::control
