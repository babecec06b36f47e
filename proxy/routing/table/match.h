// The criteria by which a rule takes requests (HTTPRouteMatch, GRPCRouteMatch): as users write them, and compiled.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/box.h"
#include "proxy/base/result.h"
#include "proxy/routing/table/predicates.h"
#include "proxy/routing/table/regex.h"

namespace sluice::routing {

enum class PathKind : std::uint8_t { kExact, kPrefix, kExpression };

/// The service and method of a GRPCRoute's match; an empty one takes all.
struct RpcPattern {
  std::string service;
  std::string method;
  bool isExpression = false;  // both of them
};

/// A header field or query parameter that a match names. If several have one name, only the first is used.
struct FieldMatch {
  std::string name;
  std::string value;
  bool isExpression = false;
  std::string place = {};  // the path of its field in the configuration
};

/// A match as users write it.
struct MatchSpec {
  PathKind pathKind = PathKind::kPrefix;
  std::string path = "/";                        // in the normal form of http/hygiene, or an expression
  std::optional<RpcPattern> rpc = std::nullopt;  // of a GRPCRoute, in place of a path
  std::string method;                            // "": any
  std::vector<FieldMatch> headers;
  std::vector<FieldMatch> query;
  std::string place;  // the path of the field with its path or rpc in the configuration
};

/// Orders matches of the same path, the smaller first (Gateway API HTTPRouteRule.matches).
struct Precedence {
  std::string created;      // time at which the route was created, as text that compares as a time
  std::string route;        // "namespace/name"
  std::uint32_t rule = 0;   // its index in the route
  std::uint32_t match = 0;  // its index in the rule

  auto operator<=>(const Precedence&) const = default;
};

/// A match as tables use it. It never changes once made, and the tables of all hostnames and listeners share it.
struct Match {
  PathKind pathKind = PathKind::kPrefix;
  std::string path = "/";
  std::optional<Regex> expression;  // the path's, of PathKind::kExpression
  base::Box<RpcPattern> rpc;
  std::optional<Regex> rpcService;  // if rpc->isExpression and the service is not empty
  std::optional<Regex> rpcMethod;   // likewise
  Predicates predicates;
  Precedence precedence;
  /// True if it takes CONNECT, which only a match of that method does. No path and no query belongs to CONNECT.
  bool takesConnect = false;

  /// Returns a match that takes every request, CONNECT too.
  static Match ofAll() {
    Match all;
    all.takesConnect = true;
    return all;
  }

  /// Compiles a match. After an error, which is of the configuration, `refused` is the place of the expression that RE2
  /// refuses, or that is too large together with the others compiled with `room`.
  static base::Result<Match> compile(MatchSpec spec, Precedence precedence, Regex::Room& room, std::string& refused);

  /// Returns true if it selects by path: not by the prefix "/", which all paths have.
  bool selectsByPath() const { return static_cast<bool>(rpc) || pathKind != PathKind::kPrefix || path != "/"; }
};

}  // namespace sluice::routing
