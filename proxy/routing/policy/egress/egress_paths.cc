#include "proxy/routing/policy/egress/egress_paths.h"

#include <algorithm>
#include <utility>

#include "proxy/http/target.h"

namespace sluice::routing {
namespace {

/// Returns the path in the normal form that requests have, so that no spelling slips past a rule. A prefix has no "/"
/// at its end, which has no meaning there.
base::Result<std::string> normalPathOf(const base::EgressPath& path) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto normal = http::normalizeTarget(arena, path.value);
  if (!normal.ok()) return base::Error::config("no request can have this path: " + normal.error().detail);
  std::string text(normal->text);
  if (path.type == base::EgressPath::Type::kPathPrefix && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

bool EgressPaths::RulePath::matches(std::string_view path) const {
  switch (type) {
    case base::EgressPath::Type::kExact:
      return path == value;
    case base::EgressPath::Type::kPathPrefix:
      return path.starts_with(value) && (path.size() == value.size() || path[value.size()] == '/');
    case base::EgressPath::Type::kRegularExpression:
      return expression->matches(path);
  }
  return false;
}

base::Result<EgressPaths::RulePath> EgressPaths::compilePath(const base::EgressPath& path, Regex::Room& room) {
  if (path.type == base::EgressPath::Type::kRegularExpression) {
    auto expression = Regex::compile(path.value, room);
    if (!expression.ok()) return expression.error();
    return RulePath{path.type, path.value, std::move(expression).value()};
  }
  auto normal = normalPathOf(path);
  if (!normal.ok()) return normal.error();
  return RulePath{path.type, std::move(normal).value(), std::nullopt};
}

base::Result<EgressPaths> EgressPaths::compile(const std::vector<base::EgressRule>& rules) {
  EgressPaths result;
  if (std::none_of(rules.begin(), rules.end(), [](const auto& rule) { return rule.paths.has_value(); })) return result;
  Regex::Room room;
  for (const base::EgressRule& rule : rules) {
    std::vector<RulePath>& paths = result.rules_.emplace_back();
    if (!rule.paths) continue;
    for (const base::EgressPath& each : *rule.paths) {
      auto path = compilePath(each, room);
      if (!path.ok()) return base::Error::config("rule " + rule.name + ": " + path.error().detail);
      paths.push_back(std::move(path).value());
    }
  }
  return result;
}

bool EgressPaths::match(std::size_t rule, std::string_view path) const {
  return std::any_of(rules_[rule].begin(), rules_[rule].end(),
                     [&](const RulePath& each) { return each.matches(path); });
}

}  // namespace sluice::routing
