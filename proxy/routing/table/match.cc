#include "proxy/routing/table/match.h"

#include <algorithm>
#include <utility>

#include "proxy/base/text.h"

namespace sluice::routing {
namespace {

base::Result<Regex> compileAt(const std::string& place, std::string_view pattern, Regex::Room& room) {
  auto compiled = Regex::compile(pattern, room);
  if (compiled || place.empty()) return compiled;
  return base::Error::config(place + ": " + compiled.error().detail);
}

/// Compiles an expression into `target`.
base::Status compileInto(std::optional<Regex>& target, const std::string& place, std::string_view pattern,
                         Regex::Room& room) {
  auto compiled = compileAt(place, pattern, room);
  if (!compiled) return std::move(compiled).error();
  target = std::move(compiled).value();
  return base::Done{};
}

base::Result<std::vector<Predicate>> predicatesOf(std::vector<FieldMatch>&& matches, bool ignoreCase,
                                                  Regex::Room& room) {
  std::vector<Predicate> result;
  result.reserve(matches.size());
  for (FieldMatch& match : matches) {
    if (ignoreCase) match.name = base::toLower(std::move(match.name));
    const bool repeated =
        std::any_of(result.begin(), result.end(), [&](const Predicate& each) { return each.name == match.name; });
    if (repeated) continue;
    if (!match.isExpression) {
      result.push_back({std::move(match.name), std::move(match.value)});
      continue;
    }
    auto expression = compileAt(match.place, match.value, room);
    if (!expression) return std::move(expression).error();
    result.push_back({std::move(match.name), std::move(expression).value()});
  }
  return result;
}

}  // namespace

base::Result<Match> Match::compile(MatchSpec spec, Precedence precedence, Regex::Room& room) {
  Match result;
  base::Status compiled = base::Done{};
  if (spec.rpc && spec.rpc->isExpression) {
    if (!spec.rpc->service.empty()) compiled = compileInto(result.rpcService, spec.place, spec.rpc->service, room);
    if (compiled && !spec.rpc->method.empty()) {
      compiled = compileInto(result.rpcMethod, spec.place, spec.rpc->method, room);
    }
  } else if (!spec.rpc && spec.pathKind == PathKind::kExpression) {
    compiled = compileInto(result.expression, spec.place, spec.path, room);
  }
  if (!compiled) return std::move(compiled).error();
  auto headers = predicatesOf(std::move(spec.headers), true, room);
  if (!headers) return std::move(headers).error();
  auto query = predicatesOf(std::move(spec.query), false, room);
  if (!query) return std::move(query).error();
  result.pathKind = spec.pathKind;
  result.path = std::move(spec.path);
  if (spec.rpc) result.rpc = *std::move(spec.rpc);
  result.predicates = {std::move(spec.method), std::move(headers).value(), std::move(query).value()};
  result.precedence = std::move(precedence);
  return result;
}

}  // namespace sluice::routing
