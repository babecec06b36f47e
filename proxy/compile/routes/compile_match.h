// Compiles the matches of a rule, and identifies those that select the same requests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/table/match.h"

namespace sluice::compile {

struct MatchPlan {
  std::shared_ptr<const routing::Match> match;
  /// A digest that is equal for matches that select the same requests by the same criteria, whatever their hostname;
  /// empty for a match that nobody wrote.
  std::string identity;
};

/// Returns a fault (UnsupportedValue) if the match can never be evaluated: an expression that RE2 refuses or that has
/// no room with the route's other ones, a path without a normal form, or a header field that no head contains.
Resolved<MatchPlan> compileMatch(const config::HttpRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room);
Resolved<MatchPlan> compileMatch(const config::GrpcRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room);

/// Returns the match without the conditions that are not its path or method, to be compiled if it has a fault; nullopt
/// if the rest selects nothing, or cannot be evaluated either.
std::optional<config::HttpRouteMatch> widened(const config::HttpRouteMatch& match);
std::optional<config::GrpcRouteMatch> widened(const config::GrpcRouteMatch& match);

/// Returns a match for all requests of a hostname that no other match takes. It comes after the matches of all other
/// routes that cover as much, because no time is later than its own.
MatchPlan restOf(bool grpc, std::string route, std::uint32_t rule);
/// Returns the precedence of a match that gives way to all others that cover the same.
routing::Precedence lastOf(routing::Precedence precedence);

/// Brings a user's path into the normal form of requests; `field` is for the fault.
Resolved<std::string> normalPath(std::string_view value, const std::string& field);

}  // namespace sluice::compile
