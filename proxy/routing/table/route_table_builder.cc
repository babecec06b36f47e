#include "proxy/routing/table/route_table_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/routing/table/route_index.h"

namespace sluice::routing {
namespace {

base::Result<Predicate> predicate(FieldMatch&& match) {
  if (!match.isExpression) return Predicate{std::move(match.name), std::move(match.value)};
  auto expression = Regex::compile(match.value);
  if (!expression) return std::move(expression).error();
  return Predicate{std::move(match.name), std::move(expression).value()};
}

base::Result<std::vector<Predicate>> predicates(std::vector<FieldMatch>&& matches, bool ignoreCase) {
  std::vector<Predicate> result;
  for (FieldMatch& match : matches) {
    if (ignoreCase) match.name = base::toLower(std::move(match.name));
    const bool repeated =
        std::any_of(result.begin(), result.end(), [&](const Predicate& each) { return each.name == match.name; });
    if (repeated) continue;
    auto made = predicate(std::move(match));
    if (!made) return std::move(made).error();
    result.push_back(std::move(made).value());
  }
  return result;
}

http::SlashRules slashRules(const base::PathSettings& paths, bool matchByPath) {
  http::SlashRules rules;
  switch (paths.encodedSlash) {
    case base::EncodedSlash::kAuto:
      rules.encoded = matchByPath ? http::EncodedSlash::kReject : http::EncodedSlash::kKeep;
      break;
    case base::EncodedSlash::kKeep:
      rules.encoded = http::EncodedSlash::kKeep;
      break;
    case base::EncodedSlash::kReject:
      rules.encoded = http::EncodedSlash::kReject;
      break;
    case base::EncodedSlash::kDecode:
      rules.encoded = http::EncodedSlash::kDecode;
      break;
  }
  rules.merge =
      paths.mergeSlashes == base::MergeSlashes::kAuto ? matchByPath : paths.mergeSlashes == base::MergeSlashes::kTrue;
  return rules;
}

bool matchesByPath(const RouteEntry& entry) {
  return entry.rpc || entry.pathKind != PathKind::kPrefix || entry.path != "/";
}

}  // namespace

RouteTableBuilder::RouteTableBuilder(const base::PathSettings& paths) {
  table_.index_->slashesOfPathRules = slashRules(paths, true);
  table_.index_->otherSlashes = slashRules(paths, false);
}

void RouteTableBuilder::addListener(std::string_view hostname, std::shared_ptr<const ServedListener> name) {
  ListenerRoutes& listener = table_.index_->listeners.slot(hostname);
  if (name != nullptr) listener.name = std::move(name);
}

base::Status RouteTableBuilder::add(RouteEntry entry) {
  auto headers = predicates(std::move(entry.headers), true);
  if (!headers) return std::move(headers).error();
  auto query = predicates(std::move(entry.query), false);
  if (!query) return std::move(query).error();
  std::optional<Regex> expression;
  if (!entry.rpc && entry.pathKind == PathKind::kExpression) {
    auto compiled = Regex::compile(entry.path);
    if (!compiled) return std::move(compiled).error();
    expression = std::move(compiled).value();
  }
  const bool byPath = matchesByPath(entry);
  Candidate candidate{{std::move(entry.method), std::move(headers).value(), std::move(query).value()},
                      std::move(entry.precedence),
                      std::move(entry.rule)};
  HostRules& rules = table_.index_->listeners.slot(entry.listenerHostname).hosts.slot(entry.hostname);
  rules.matchByPath = rules.matchByPath || byPath;
  if (entry.rpc) {
    if (!rules.calls) rules.calls = std::make_unique<RpcTable>();
    return rules.calls->add(*entry.rpc, std::move(candidate));
  }
  PathTable& paths = rules.paths;
  switch (entry.pathKind) {
    case PathKind::kExact:
      paths.addExact(entry.path, std::move(candidate));
      break;
    case PathKind::kPrefix:
      paths.addPrefix(entry.path, std::move(candidate));
      break;
    case PathKind::kExpression:
      paths.addExpression(*std::move(expression), std::move(candidate));
      break;
  }
  return base::Done{};
}

RouteTable RouteTableBuilder::build() && {
  table_.index_->listeners.forEach([](ListenerRoutes& listener) {
    listener.hosts.forEach([](HostRules& rules) {
      rules.paths.sort();
      if (rules.calls) rules.calls->sort();
    });
  });
  return std::move(table_);
}

}  // namespace sluice::routing
