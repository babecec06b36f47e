#include "proxy/control/compile/routes/compile_match.h"

#include "proxy/base/text.h"
#include "proxy/control/compile/routes/compile_headers.h"
#include "proxy/http/hygiene.h"
#include "proxy/routing/table/regex.h"

namespace sluice::control {
namespace {

Fault unsupportedFault(const std::string& path, std::string message) {
  return {std::string(config::reason::kUnsupportedValue), path + ": " + std::move(message)};
}

std::optional<Fault> compilePathMatch(const config::PathMatch& match, routing::RouteEntry& entry) {
  if (match.type == config::PathMatchType::kRegularExpression) {
    const auto compiled = routing::Regex::compile(match.value);
    if (!compiled) return unsupportedFault(match.path, compiled.error().detail);
    entry.pathKind = routing::PathKind::kExpression;
    entry.path = match.value;
    return std::nullopt;
  }
  auto path = normalPath(match.value, match.path);
  if (!path) return std::move(path.fault);
  entry.pathKind = match.type == config::PathMatchType::kExact ? routing::PathKind::kExact : routing::PathKind::kPrefix;
  entry.path = *std::move(path.value);
  return std::nullopt;
}

std::optional<Fault> compileFields(const std::vector<config::NamedMatch>& matches,
                                   std::vector<routing::FieldMatch>& fields) {
  for (const config::NamedMatch& match : matches) {
    const bool isExpression = match.type == config::ValueMatchType::kRegularExpression;
    if (isExpression) {
      const auto compiled = routing::Regex::compile(match.value);
      if (!compiled) return unsupportedFault(match.path, compiled.error().detail);
    }
    fields.push_back({match.name, match.value, isExpression});
  }
  return std::nullopt;
}

std::optional<Fault> compileHeaderMatches(const std::vector<config::NamedMatch>& matches, routing::RouteEntry& entry) {
  if (auto fault = compileFields(matches, entry.headers)) return fault;
  for (const config::NamedMatch& header : matches) {
    if (!http::isReservedField(base::toLower(header.name))) continue;
    return unsupportedFault(header.path, "routes cannot match on " + header.name + ", which belongs to the connection");
  }
  return std::nullopt;
}

}  // namespace

// Routes are compared with requests in one normal form, so the same code brings both into it.
Resolved<std::string> normalPath(std::string_view value, const std::string& field) {
  if (!value.starts_with('/')) return unsupportedFault(field, "a path begins with \"/\"");
  if (value.find('?') != std::string_view::npos) return unsupportedFault(field, "a path holds no query");
  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto normal = http::normalizeTarget(arena, value);
  if (!normal) return unsupportedFault(field, "no request can have this path: " + normal.error().detail);
  return std::string(normal->text);
}

Resolved<routing::RouteEntry> compileMatch(const config::HttpRouteMatch& match) {
  routing::RouteEntry entry;
  entry.method = match.method;
  if (auto fault = compilePathMatch(match.path, entry)) return *std::move(fault);
  if (auto fault = compileHeaderMatches(match.headers, entry)) return *std::move(fault);
  if (auto fault = compileFields(match.queryParams, entry.query)) return *std::move(fault);
  return entry;
}

Resolved<routing::RouteEntry> compileMatch(const config::GrpcRouteMatch& match) {
  routing::RouteEntry entry;
  const config::RpcMatch& rpc = match.rpc;
  entry.rpc = routing::RpcPattern{rpc.service, rpc.method, rpc.type == config::ValueMatchType::kRegularExpression};
  for (const std::string& expression : {rpc.service, rpc.method}) {
    if (!entry.rpc->isExpression) break;
    const auto compiled = routing::Regex::compile(expression);
    if (!compiled) return unsupportedFault(rpc.path, compiled.error().detail);
  }
  if (auto fault = compileHeaderMatches(match.headers, entry)) return *std::move(fault);
  return entry;
}

}  // namespace sluice::control
