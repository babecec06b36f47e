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
  /// empty for a match that no user wrote.
  std::string identity;
};

/// Returns a fault (UnsupportedValue) if the match can never be evaluated. This is the case for an expression that RE2
/// refuses or that exceeds the memory of the route's expressions, for a path without a normal form, and for a header
/// field that no head contains.
Resolved<MatchPlan> compileMatch(const config::HttpRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room);
Resolved<MatchPlan> compileMatch(const config::GrpcRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room);

/// Returns the match with only its path and method, to be compiled if the match has a fault. Returns nullopt if the
/// rest has no condition, or cannot be evaluated either.
std::optional<config::HttpRouteMatch> widened(const config::HttpRouteMatch& match);
std::optional<config::GrpcRouteMatch> widened(const config::GrpcRouteMatch& match);

/// Returns a match for all requests of a hostname that no other match takes. It comes after the matches of all other
/// routes that cover as much, because its time is later than every other time.
MatchPlan restOf(bool grpc, std::string route, std::uint32_t rule);
/// Returns the precedence of a match that all others which cover the same requests precede.
routing::Precedence lastOf(routing::Precedence precedence);

/// Converts a user's path into the normal form of requests. `field` is the field of the fault.
Resolved<std::string> normalPath(std::string_view value, const std::string& field);

}  // namespace sluice::compile
