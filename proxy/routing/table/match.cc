#include "proxy/routing/table/match.h"

#include <algorithm>
#include <utility>

#include "proxy/base/text.h"

namespace sluice::routing {
namespace {

/// Compiles expressions, and remembers the place of the one that is refused.
class ExpressionCompiler {
 public:
  ExpressionCompiler(Regex::Room& room, std::string& refused) : room_(room), refused_(refused) {}

  base::Result<Regex> compile(const std::string& place, std::string_view pattern) {
    auto compiled = Regex::compile(pattern, room_);
    if (!compiled) refused_ = place;
    return compiled;
  }

  base::Status compileInto(std::optional<Regex>& target, const std::string& place, std::string_view pattern) {
    auto compiled = compile(place, pattern);
    if (!compiled) return std::move(compiled).error();
    target = std::move(compiled).value();
    return base::Done{};
  }

 private:
  Regex::Room& room_;
  std::string& refused_;
};

base::Result<std::vector<Predicate>> predicatesOf(std::vector<FieldMatch>&& matches, bool ignoreCase,
                                                  ExpressionCompiler& expressions) {
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
    auto expression = expressions.compile(match.place, match.value);
    if (!expression) return std::move(expression).error();
    result.push_back({std::move(match.name), std::move(expression).value()});
  }
  return result;
}

}  // namespace

base::Result<Match> Match::compile(MatchSpec spec, Precedence precedence, Regex::Room& room, std::string& refused) {
  ExpressionCompiler expressions(room, refused);
  Match result;
  base::Status compiled = base::Done{};
  if (spec.rpc && spec.rpc->isExpression) {
    if (!spec.rpc->service.empty())
      compiled = expressions.compileInto(result.rpcService, spec.place, spec.rpc->service);
    if (compiled && !spec.rpc->method.empty()) {
      compiled = expressions.compileInto(result.rpcMethod, spec.place, spec.rpc->method);
    }
  } else if (!spec.rpc && spec.pathKind == PathKind::kExpression) {
    compiled = expressions.compileInto(result.expression, spec.place, spec.path);
  }
  if (!compiled) return std::move(compiled).error();
  auto headers = predicatesOf(std::move(spec.headers), true, expressions);
  if (!headers) return std::move(headers).error();
  auto query = predicatesOf(std::move(spec.query), false, expressions);
  if (!query) return std::move(query).error();
  result.pathKind = spec.pathKind;
  result.path = std::move(spec.path);
  if (spec.rpc) result.rpc = *std::move(spec.rpc);
  result.predicates = {std::move(spec.method), std::move(headers).value(), std::move(query).value()};
  result.precedence = std::move(precedence);
  result.takesConnect = result.predicates.method == "CONNECT";
  return result;
}

}  // namespace sluice::routing
