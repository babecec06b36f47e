// Declares functions for the readers of HTTPRoute and GRPCRoute. Each kind has its own read_*_route.cc, which reads its
// matches.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/model.h"
#include "config/read/object_readers.h"

namespace sluice::config {

/// The values of `type` in a match by value.
inline constexpr Choice<ValueMatchType> kValueMatchTypes[] = {
    {"Exact", ValueMatchType::kExact}, {"RegularExpression", ValueMatchType::kRegularExpression}};

/// The filters that a route may have.
enum class FilterSet : std::uint8_t { kHttp, kGrpc };

/// Reads `filters` of a rule or of a backendRef. Unsupported filters are added to the list of the holder.
void readFilters(FieldReader& holder, FilterSet set, RouteFilters& filters);
void readCors(FieldReader& reader, CorsFilter& cors);
void readRequestMirror(FieldReader& reader, RequestMirrorFilter& mirror);
/// Reads a reference to a Backend, or to a Service, which requires a port.
void readHttpBackendObjectReference(FieldReader& reader, BackendObjectReference& ref);

/// Reads `headers` of a match.
void readHeaderMatches(FieldReader& match, std::vector<NamedMatch>& matches);
/// Reads a match of an HTTPRoute, for readMatches().
std::optional<HttpRouteMatch> readHttpMatch(FieldReader reader);

/// Reads name, filters, backendRefs and sessionPersistence of a rule.
void readRuleParts(FieldReader& reader, FilterSet set, RouteRule& rule);

/// Reads parentRefs, hostnames and the other fields besides the rules.
void readRouteParts(FieldReader& spec, Route& route);

/// Reads `matches` of a rule. If it is absent, the result is one default-constructed Match, which is the API's default.
/// After errors, `readMatch` returns the readable part of a match if that selects by path or by the called method, or
/// else nullopt.
template <typename Rule, typename Match>
void readMatches(FieldReader& reader, std::optional<Match> (*readMatch)(FieldReader), Rule& rule) {
  constexpr std::size_t kMaxMatches = 64;
  const std::size_t before = reader.context().errors();
  for (const Item& item : reader.list("matches", kMaxMatches)) {
    FieldReader of = reader.map(item);
    std::optional<Match> match = of.value() != nullptr ? readMatch(std::move(of)) : std::nullopt;
    rule.coversRest = rule.coversRest || !match;
    if (match) rule.matches.push_back(*std::move(match));
  }
  if (!rule.matches.empty()) return;
  rule.coversRest = reader.context().errors() != before;
  if (!rule.coversRest) rule.matches.emplace_back();
}

/// Reports unknown fields. One of them may be a misspelt `matches`, and then the default is not what the user meant.
template <typename Rule>
void finishRule(FieldReader& reader, Rule& rule) {
  const std::size_t errors = reader.context().errors();
  reader.finish();
  if (reader.has("matches") || reader.context().errors() == errors) return;
  rule.matches.clear();
  rule.coversRest = true;
}

template <typename Rule>
void readRules(FieldReader& spec, void (*readRule)(FieldReader&, Rule&), std::vector<Rule>& rules) {
  constexpr std::size_t kMaxRules = 16;
  constexpr std::size_t kMaxMatchesOfRoute = 128;
  std::size_t matches = 0;
  for (const Item& item : spec.listOfSome("rules", kMaxRules)) {
    FieldReader reader = spec.map(item);
    const bool isMap = reader.value() != nullptr;
    Rule rule;
    reader.readInto(rule, readRule);
    if (!isMap) rule.matches.clear();
    rule.coversRest = rule.coversRest || !isMap;
    for (const Rule& other : rules) {
      if (!rule.name.empty() && other.name == rule.name) {
        spec.context().error(rule.position, rule.path + ".name", "repeats the name of " + other.path);
      }
    }
    matches += rule.matches.size();
    rules.push_back(std::move(rule));
  }
  if (matches > kMaxMatchesOfRoute) {
    spec.error("rules", "have " + std::to_string(matches) + " matches together; at most " +
                            std::to_string(kMaxMatchesOfRoute) + " are allowed");
  }
  if (!rules.empty()) return;
  Rule& rule = rules.emplace_back();
  rule.path = spec.pathOf("rules");
  rule.position = spec.position();
  rule.coversRest = spec.has("rules");
  if (!rule.coversRest) rule.matches.emplace_back();
}

/// Returns true if the readable part is useful after errors, because its hostnames could be read (see Rejected).
template <typename RouteType, typename Rule>
bool readRoute(FieldReader& spec, void (*readRule)(FieldReader&, Rule&), RouteType& route) {
  ObjectContext& context = spec.context();
  readRouteParts(spec, route);
  readRules(spec, readRule, route.rules);
  const std::size_t errors = context.errors();
  spec.finish();
  // An unknown field may be a misspelt `hostnames` or `rules`, without which the route would claim everything.
  const bool unknownFields = context.errors() != errors;
  const Value* hostnames = spec.find("hostnames");
  const bool anyHostname = hostnames == nullptr || (hostnames->isList() && hostnames->items.empty());
  if (anyHostname ? unknownFields : route.hostnames.empty()) return false;
  if (!spec.has("rules") && unknownFields) {
    route.rules.front().matches.clear();
    route.rules.front().coversRest = true;
  }
  return true;
}

}  // namespace sluice::config
