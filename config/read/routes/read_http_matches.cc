#include <algorithm>

#include "config/read/routes/route_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxNamedMatches = 16;
constexpr TextRule kPathText{isAnyText, "a path", 1024};
constexpr TextRule kParamText{isAnyText, "a value", 1024};

constexpr Choice<PathMatchType> kPathTypes[] = {{"Exact", PathMatchType::kExact},
                                                {"PathPrefix", PathMatchType::kPathPrefix},
                                                {"RegularExpression", PathMatchType::kRegularExpression}};
constexpr std::string_view kMethods[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                         "CONNECT", "OPTIONS", "TRACE", "PATCH"};

void readPath(FieldReader& reader, PathMatch& match) {
  reader.read("type", match.type, kPathTypes);
  reader.read("value", match.value, kPathText);
  const bool plain = match.type != PathMatchType::kRegularExpression;
  if (plain && !match.value.empty() && !isPathValue(match.value)) {
    reader.error("value", "must be an absolute path without \"//\", dot segments, \"%2f\" or \"#\", but is " +
                              base::quote(match.value));
  }
}

/// Reads a list of matches by name. If a name occurs more than once, the first entry is used (HTTPHeaderMatch.name,
/// HTTPQueryParamMatch.name).
void readNamedMatches(FieldReader& holder, std::string_view key, const TextRule& value,
                      bool (*sameName)(std::string_view, std::string_view), std::vector<NamedMatch>& matches) {
  for (const Item& item : holder.list(key, kMaxNamedMatches)) {
    NamedMatch match;
    const bool legible = holder.map(item).readInto(match, [&value](FieldReader& reader, NamedMatch& of) {
      reader.read("type", of.type, kValueMatchTypes);
      reader.read(required("name"), of.name, rule::kHeaderName);
      reader.read(required("value"), of.value, value);
    });
    const bool shadowed = std::any_of(matches.begin(), matches.end(),
                                      [&](const NamedMatch& other) { return sameName(other.name, match.name); });
    if (legible && !shadowed) matches.push_back(std::move(match));
  }
}

bool isSameText(std::string_view a, std::string_view b) { return a == b; }

bool isEveryPath(const PathMatch& path) { return path.type == PathMatchType::kPathPrefix && path.value == "/"; }

}  // namespace

std::optional<HttpRouteMatch> readHttpMatch(FieldReader reader) {
  HttpRouteMatch match;
  reader.map("path").readInto(match.path, readPath);
  const bool selects = reader.isLegible() && !isEveryPath(match.path);
  readHeaderMatches(reader, match.headers);
  readNamedMatches(reader, "queryParams", kParamText, isSameText, match.queryParams);
  reader.read("method", match.method, kMethods);
  reader.finish();
  match.widened = !reader.isLegible();
  if (match.widened && !selects) return std::nullopt;
  return match;
}

void readHeaderMatches(FieldReader& match, std::vector<NamedMatch>& matches) {
  readNamedMatches(match, "headers", rule::kHeaderValue, base::equalsIgnoringCase, matches);
}

}  // namespace sluice::config
