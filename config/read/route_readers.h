// Functions that the readers of HTTPRoute and GRPCRoute share. Each kind has its own read_*_route.cc, which reads its
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

/// Reads `filters` of a rule or of a backendRef. Unsupported filters go to `unsupported`.
RouteFilters readFilters(FieldReader& holder, FilterSet set, std::vector<UnsupportedField>& unsupported);
CorsFilter readCors(FieldReader reader);
RequestMirrorFilter readRequestMirror(FieldReader reader);

/// Reads `headers` of a match.
std::vector<NamedMatch> readHeaderMatches(FieldReader& match);

/// Reads name, filters, backendRefs and sessionPersistence of a rule, and its path.
void readRuleParts(FieldReader& reader, FilterSet set, RouteRule& rule);

/// Reads parentRefs, hostnames and the other fields beside the rules.
void readRouteParts(FieldReader& spec, Route& route);

/// Returns the legible matches. If there are none and no errors, returns one default-constructed Match, which is the
/// API's default.
template <typename Match>
std::vector<Match> readMatches(FieldReader& rule, Match (*readMatch)(FieldReader)) {
  constexpr std::size_t kMaxMatches = 64;
  std::vector<Match> matches;
  const std::size_t before = rule.context().errors();
  for (const Item& item : rule.list("matches", kMaxMatches)) {
    const std::size_t errors = rule.context().errors();
    Match match = readMatch(rule.map(item));
    if (rule.context().errors() == errors) matches.push_back(std::move(match));
  }
  if (matches.empty() && rule.context().errors() == before) matches.emplace_back();
  return matches;
}

/// A rule as it was read. `legible` says whether its matches are what the user wrote, regardless of errors elsewhere.
template <typename Rule>
struct ReadRule {
  Rule rule;
  bool legible;
};

/// Reports unknown fields, because one of them may be a misspelt `matches`.
template <typename Rule>
ReadRule<Rule> finishRule(FieldReader& reader, Rule rule) {
  const std::size_t errors = reader.context().errors();
  reader.finish();
  const bool known = reader.has("matches") || reader.context().errors() == errors;
  const bool legible = !rule.matches.empty() && known;
  return {std::move(rule), legible};
}

template <typename Rule>
void readRules(FieldReader& spec, ReadRule<Rule> (*readRule)(FieldReader), std::vector<Rule>& rules) {
  constexpr std::size_t kMaxRules = 16;
  constexpr std::size_t kMaxMatchesOfRoute = 128;
  const std::vector<Item> items = spec.list("rules", kMaxRules);
  if (items.empty() && spec.has("rules")) spec.error("rules", "must have at least one item");
  std::size_t matches = 0;
  for (const Item& item : items) {
    auto [rule, legible] = readRule(spec.map(item));
    for (const Rule& other : rules) {
      if (!rule.name.empty() && other.name == rule.name) {
        spec.context().error(rule.position, rule.path + ".name", "repeats the name of " + other.path);
      }
    }
    matches += rule.matches.size();
    if (legible) rules.push_back(std::move(rule));
  }
  if (matches > kMaxMatchesOfRoute) {
    spec.error("rules", "have " + std::to_string(matches) + " matches together; at most " +
                            std::to_string(kMaxMatchesOfRoute) + " are allowed");
  }
  if (!spec.has("rules")) {
    Rule& rule = rules.emplace_back();
    rule.path = spec.pathOf("rules");
    rule.position = spec.position();
    rule.matches.emplace_back();
  }
}

/// Returns, after errors, the legible part if it claims no more than was written (see Rejected); else nullopt.
template <typename RouteType, typename Rule>
std::optional<RouteType> readRoute(FieldReader& root, ObjectMeta meta, ReadRule<Rule> (*readRule)(FieldReader)) {
  RouteType route;
  route.meta = std::move(meta);
  ObjectContext& context = root.context();
  root.require("spec");
  FieldReader spec = root.map("spec");
  readRouteParts(spec, route);
  readRules(spec, readRule, route.rules);
  const std::size_t errors = context.errors();
  spec.finish();
  // An unknown field may be a misspelt `hostnames` or `rules`, without which the route would claim everything.
  const bool unknownFields = context.errors() != errors;
  const Value* hostnames = spec.find("hostnames");
  const bool anyHostname = hostnames == nullptr || (hostnames->isList() && hostnames->items.empty());
  const bool claimsTooMuch = (anyHostname || !spec.has("rules")) && unknownFields;
  if (claimsTooMuch || (!anyHostname && route.hostnames.empty())) return std::nullopt;
  return route;
}

}  // namespace sluice::config
