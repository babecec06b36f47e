#include <algorithm>

#include "config/read/routes/route_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxNamedMatches = 16;
constexpr std::size_t kMaxPathBytes = 1024;

constexpr Choice<PathMatchType> kPathTypes[] = {{"Exact", PathMatchType::kExact},
                                                {"PathPrefix", PathMatchType::kPathPrefix},
                                                {"RegularExpression", PathMatchType::kRegularExpression}};
constexpr Choice<std::string_view> kMethods[] = {{"GET", "GET"},         {"HEAD", "HEAD"},     {"POST", "POST"},
                                                 {"PUT", "PUT"},         {"DELETE", "DELETE"}, {"CONNECT", "CONNECT"},
                                                 {"OPTIONS", "OPTIONS"}, {"TRACE", "TRACE"},   {"PATCH", "PATCH"}};

PathMatch readPath(FieldReader reader) {
  PathMatch match;
  match.path = reader.path();
  match.position = reader.position();
  match.type = reader.choice("type", kPathTypes, PathMatchType::kPathPrefix);
  if (reader.has("value")) match.value = reader.text("value", TextRule{isAnyText, "a path", kMaxPathBytes});
  const bool plain = match.type != PathMatchType::kRegularExpression;
  if (plain && !match.value.empty() && !isPathValue(match.value)) {
    reader.error("value", "must be an absolute path without \"//\", dot segments, \"%2f\" or \"#\", but is " +
                              base::quote(match.value));
  }
  reader.finish();
  return match;
}

/// Reads a list of matches by name. If a name occurs more than once, the first entry counts (HTTPHeaderMatch.name,
/// HTTPQueryParamMatch.name).
std::vector<NamedMatch> readNamedMatches(FieldReader& holder, std::string_view key, const TextRule& value,
                                         bool (*sameName)(std::string_view, std::string_view)) {
  std::vector<NamedMatch> matches;
  for (const Item& item : holder.list(key, kMaxNamedMatches)) {
    const std::size_t errors = holder.context().errors();
    FieldReader reader = holder.map(item);
    NamedMatch match;
    match.path = reader.path();
    match.position = reader.position();
    match.type = reader.choice("type", kValueMatchTypes, ValueMatchType::kExact);
    match.name = reader.requiredText("name", rule::kHeaderName);
    match.value = reader.requiredText("value", value);
    reader.finish();
    const bool shadowed = std::any_of(matches.begin(), matches.end(),
                                      [&](const NamedMatch& other) { return sameName(other.name, match.name); });
    const bool legible = holder.context().errors() == errors;
    if (legible && !shadowed) matches.push_back(std::move(match));
  }
  return matches;
}

bool isEveryPath(const PathMatch& path) { return path.type == PathMatchType::kPathPrefix && path.value == "/"; }

}  // namespace

std::optional<HttpRouteMatch> readHttpMatch(FieldReader reader) {
  const std::size_t before = reader.context().errors();
  HttpRouteMatch match;
  match.path = readPath(reader.map("path"));
  const bool selects = reader.context().errors() == before && !isEveryPath(match.path);
  match.headers = readHeaderMatches(reader);
  match.queryParams = readNamedMatches(reader, "queryParams", TextRule{isAnyText, "a value", 1024},
                                       [](std::string_view a, std::string_view b) { return a == b; });
  match.method = reader.choice("method", kMethods, std::string_view());
  reader.finish();
  match.widened = reader.context().errors() != before;
  if (match.widened && !selects) return std::nullopt;
  return match;
}

std::vector<NamedMatch> readHeaderMatches(FieldReader& match) {
  return readNamedMatches(match, "headers", rule::kHeaderValue, base::equalsIgnoringCase);
}

}  // namespace sluice::config
