// Compiles the matches of a rule, and identifies those that select the same requests.
#pragma once

#include <memory>
#include <string>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/routing/table/match.h"

namespace sluice::control {

struct MatchPlan {
  std::shared_ptr<const routing::Match> match;
  /// A digest that is equal for matches that select the same requests by the same criteria, whatever their hostname.
  std::string identity;
};

/// Returns a fault (UnsupportedValue) if the match can never be evaluated: an expression that RE2 refuses or that has
/// no room with the route's other ones, a path without a normal form, or a header field that no head contains.
Resolved<MatchPlan> compileMatch(const config::HttpRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room);
Resolved<MatchPlan> compileMatch(const config::GrpcRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room);

/// Brings a user's path into the normal form of requests; `field` is for the fault.
Resolved<std::string> normalPath(std::string_view value, const std::string& field);

}  // namespace sluice::control
