#include "proxy/compile/routes/compile_match.h"

#include <utility>

#include "proxy/base/text.h"
#include "proxy/compile/routes/compile_headers.h"
#include "proxy/compile/routes/match_identity.h"
#include "proxy/http/hygiene.h"

namespace sluice::compile {
namespace {

constexpr const char* kAfterAllRoutes = "~";  // sorts after every time

Fault unsupportedFault(const std::string& path, std::string message) {
  return fault(config::reason::kUnsupportedValue, path, std::move(message));
}

bool isEveryPath(const config::PathMatch& match) {
  return match.type == config::PathMatchType::kPathPrefix && match.value == "/";
}

std::optional<Fault> readPathMatch(const config::PathMatch& match, routing::MatchSpec& spec) {
  spec.place = match.path;
  if (match.type == config::PathMatchType::kRegularExpression) {
    spec.pathKind = routing::PathKind::kExpression;
    spec.path = match.value;
    return std::nullopt;
  }
  auto path = normalPath(match.value, match.path);
  if (!path) return std::move(path.fault);
  spec.pathKind = match.type == config::PathMatchType::kExact ? routing::PathKind::kExact : routing::PathKind::kPrefix;
  spec.path = *std::move(path.value);
  return std::nullopt;
}

std::vector<routing::FieldMatch> readFields(const std::vector<config::NamedMatch>& matches) {
  std::vector<routing::FieldMatch> fields;
  fields.reserve(matches.size());
  for (const config::NamedMatch& match : matches) {
    const bool isExpression = match.type == config::ValueMatchType::kRegularExpression;
    fields.push_back({match.name, match.value, isExpression, match.path});
  }
  return fields;
}

std::optional<Fault> readHeaderMatches(const std::vector<config::NamedMatch>& matches, routing::MatchSpec& spec) {
  for (const config::NamedMatch& header : matches) {
    if (!http::isReservedField(base::toLower(header.name))) continue;
    return unsupportedFault(header.path, "routes cannot match on " + header.name + ", which belongs to the connection");
  }
  spec.headers = readFields(matches);
  return std::nullopt;
}

Resolved<MatchPlan> compileSpec(routing::MatchSpec spec, routing::Precedence precedence, routing::Regex::Room& room) {
  MatchPlan plan;
  plan.identity = matchIdentity(spec);
  std::string refused;
  auto compiled = routing::Match::compile(std::move(spec), std::move(precedence), room, refused);
  if (!compiled) return unsupportedFault(refused, compiled.error().detail);
  plan.match = std::make_shared<const routing::Match>(std::move(compiled).value());
  return plan;
}

}  // namespace

// Routes and requests are compared in one normal form, so the same code normalizes both.
Resolved<std::string> normalPath(std::string_view value, const std::string& field) {
  if (!value.starts_with('/')) return unsupportedFault(field, "a path begins with \"/\"");
  if (value.find('?') != std::string_view::npos) return unsupportedFault(field, "a path holds no query");
  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto normal = http::normalizeTarget(arena, value);
  if (!normal) return unsupportedFault(field, "no request can have this path: " + normal.error().detail);
  return std::string(normal->text);
}

Resolved<MatchPlan> compileMatch(const config::HttpRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room) {
  routing::MatchSpec spec;
  spec.method = match.method;
  if (auto fault = readPathMatch(match.path, spec)) return *std::move(fault);
  if (auto fault = readHeaderMatches(match.headers, spec)) return *std::move(fault);
  spec.query = readFields(match.queryParams);
  if (match.method == "CONNECT" && (!isEveryPath(match.path) || !spec.query.empty())) {
    return unsupportedFault(match.path.path, "a match of the method CONNECT has no path and no query parameters");
  }
  return compileSpec(std::move(spec), std::move(precedence), room);
}

Resolved<MatchPlan> compileMatch(const config::GrpcRouteMatch& match, routing::Precedence precedence,
                                 routing::Regex::Room& room) {
  routing::MatchSpec spec;
  const config::RpcMatch& rpc = match.rpc;
  spec.rpc = routing::RpcPattern{rpc.service, rpc.method, rpc.type == config::ValueMatchType::kRegularExpression};
  spec.place = rpc.path;
  if (auto fault = readHeaderMatches(match.headers, spec)) return *std::move(fault);
  return compileSpec(std::move(spec), std::move(precedence), room);
}

std::optional<config::HttpRouteMatch> widened(const config::HttpRouteMatch& match) {
  if (isEveryPath(match.path) || (match.headers.empty() && match.queryParams.empty())) return std::nullopt;
  config::HttpRouteMatch rest = match;
  rest.headers.clear();
  rest.queryParams.clear();
  rest.widened = true;
  return rest;
}

std::optional<config::GrpcRouteMatch> widened(const config::GrpcRouteMatch& match) {
  const bool everyCall = match.rpc.service.empty() && match.rpc.method.empty();
  if (everyCall || match.headers.empty()) return std::nullopt;
  config::GrpcRouteMatch rest = match;
  rest.headers.clear();
  rest.widened = true;
  return rest;
}

MatchPlan restOf(bool grpc, std::string route, std::uint32_t rule) {
  auto all = std::make_shared<routing::Match>(routing::Match::ofAll());
  all->precedence = lastOf({{}, std::move(route), rule, 0});
  if (grpc) all->rpc = routing::RpcPattern{};
  return {std::move(all), {}};
}

routing::Precedence lastOf(routing::Precedence precedence) {
  precedence.created = kAfterAllRoutes;
  return precedence;
}

}  // namespace sluice::compile
