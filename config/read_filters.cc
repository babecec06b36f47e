#include <algorithm>

#include "config/route_readers.h"
#include "config/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxFilters = 16;
constexpr std::size_t kMaxHeaders = 16;

/// Each type of filter and the field that goes with it, and with no other type.
struct FilterKind {
  std::string_view type;
  std::string_view field;
  bool repeatable;
};
constexpr FilterKind kFilterKinds[] = {{"RequestHeaderModifier", "requestHeaderModifier", false},
                                       {"ResponseHeaderModifier", "responseHeaderModifier", false},
                                       {"RequestMirror", "requestMirror", true},
                                       {"RequestRedirect", "requestRedirect", false},
                                       {"URLRewrite", "urlRewrite", false},
                                       {"ExtensionRef", "extensionRef", true},
                                       {"CORS", "cors", false},
                                       {"ExternalAuth", "externalAuth", true}};
constexpr Choice<const FilterKind*> kFilterTypes[] = {
    {kFilterKinds[0].type, &kFilterKinds[0]}, {kFilterKinds[1].type, &kFilterKinds[1]},
    {kFilterKinds[2].type, &kFilterKinds[2]}, {kFilterKinds[3].type, &kFilterKinds[3]},
    {kFilterKinds[4].type, &kFilterKinds[4]}, {kFilterKinds[5].type, &kFilterKinds[5]},
    {kFilterKinds[6].type, &kFilterKinds[6]}, {kFilterKinds[7].type, &kFilterKinds[7]}};
constexpr Choice<const FilterKind*> kGrpcFilterTypes[] = {{kFilterKinds[0].type, &kFilterKinds[0]},
                                                          {kFilterKinds[1].type, &kFilterKinds[1]},
                                                          {kFilterKinds[2].type, &kFilterKinds[2]},
                                                          {kFilterKinds[5].type, &kFilterKinds[5]}};

const FilterKind* readFilterType(FieldReader& reader, FilterSet set) {
  reader.require("type");
  return set == FilterSet::kGrpc ? reader.choice<const FilterKind*>("type", kGrpcFilterTypes, nullptr)
                                 : reader.choice<const FilterKind*>("type", kFilterTypes, nullptr);
}

/// Of several entries with one name, only the first counts (HTTPHeader.name).
std::vector<HeaderValue> readHeaders(FieldReader& modifier, std::string_view key) {
  std::vector<HeaderValue> headers;
  for (const Item& item : modifier.list(key, kMaxHeaders)) {
    FieldReader reader = modifier.map(item);
    HeaderValue header{reader.requiredText("name", rule::kHeaderName),
                       reader.requiredText("value", rule::kHeaderValue)};
    reader.finish();
    const bool shadowed = std::any_of(headers.begin(), headers.end(), [&](const HeaderValue& other) {
      return equalsIgnoringCase(other.name, header.name);
    });
    if (!shadowed) headers.push_back(std::move(header));
  }
  return headers;
}

HeaderModifier readHeaderModifier(FieldReader reader) {
  HeaderModifier modifier;
  modifier.path = reader.path();
  modifier.position = reader.position();
  modifier.set = readHeaders(reader, "set");
  modifier.add = readHeaders(reader, "add");
  modifier.remove = reader.texts("remove", rule::kHeaderName, kMaxHeaders);
  reader.finish();
  return modifier;
}

constexpr std::size_t kMaxPathValue = 1024;
constexpr Choice<PathModifierType> kPathModifiers[] = {{"ReplaceFullPath", PathModifierType::kReplaceFullPath},
                                                       {"ReplacePrefixMatch", PathModifierType::kReplacePrefixMatch}};

PathModifier readPathModifier(FieldReader reader) {
  PathModifier modifier;
  modifier.path = reader.path();
  modifier.position = reader.position();
  reader.require("type");
  const std::size_t errors = reader.context().errors();
  modifier.type = reader.choice("type", kPathModifiers, PathModifierType::kReplaceFullPath);
  if (!reader.has("type") || reader.context().errors() != errors) {
    reader.ignore("replaceFullPath");
    reader.ignore("replacePrefixMatch");
    reader.finish();
    return modifier;
  }
  const bool isPrefix = modifier.type == PathModifierType::kReplacePrefixMatch;
  const std::string_view wanted = isPrefix ? "replacePrefixMatch" : "replaceFullPath";
  const std::string_view other = isPrefix ? "replaceFullPath" : "replacePrefixMatch";
  const std::string type = isPrefix ? "ReplacePrefixMatch" : "ReplaceFullPath";
  if (!reader.has(wanted)) reader.error(wanted, "is required when type is " + type);
  if (reader.has(other)) reader.error(other, "must not be given when type is " + type);
  modifier.value = reader.anyText(wanted, kMaxPathValue);
  reader.finish();
  return modifier;
}

UrlRewrite readUrlRewrite(FieldReader reader) {
  UrlRewrite rewrite;
  rewrite.hostname = reader.text("hostname", rule::kPreciseHostname);
  if (reader.has("path")) rewrite.path = readPathModifier(reader.map("path"));
  reader.finish();
  return rewrite;
}

constexpr std::uint16_t kRedirectCodes[] = {301, 302, 303, 307, 308};
constexpr Choice<std::string_view> kSchemes[] = {{"http", "http"}, {"https", "https"}};

RequestRedirect readRequestRedirect(FieldReader reader) {
  RequestRedirect redirect;
  redirect.fieldPath = reader.path();
  redirect.scheme = reader.choice<std::string_view>("scheme", kSchemes, "");
  redirect.hostname = reader.text("hostname", rule::kPreciseHostname);
  if (reader.has("path")) redirect.path = readPathModifier(reader.map("path"));
  redirect.port = reader.port("port");
  redirect.statusCode = static_cast<std::uint16_t>(reader.integer("statusCode", 300, 399).value_or(302));
  if (std::find(std::begin(kRedirectCodes), std::end(kRedirectCodes), redirect.statusCode) ==
      std::end(kRedirectCodes)) {
    reader.error("statusCode", "must be 301, 302, 303, 307 or 308");
  }
  reader.finish();
  return redirect;
}

void readFilter(FieldReader reader, FilterSet set, Filters& filters, std::vector<const FilterKind*>& seen,
                std::vector<Unbuilt>& unbuilt) {
  const FilterKind* kind = readFilterType(reader, set);
  for (const FilterKind& other : kFilterKinds) {
    const bool given = reader.has(other.field);
    if (kind == nullptr || given == (&other == kind)) continue;
    reader.error(other.field, given ? "must not be given when type is " + std::string(kind->type)
                                    : "is required when type is " + std::string(kind->type));
  }
  if (kind != nullptr) {
    const bool repeated = std::find(seen.begin(), seen.end(), kind) != seen.end();
    if (repeated && !kind->repeatable) reader.error("type", std::string(kind->type) + " must not be repeated");
    seen.push_back(kind);
    if (kind == &kFilterKinds[0]) {
      filters.requestHeaders = readHeaderModifier(reader.map(kind->field));
    } else if (kind == &kFilterKinds[1]) {
      filters.responseHeaders = readHeaderModifier(reader.map(kind->field));
    } else if (kind == &kFilterKinds[3]) {
      filters.requestRedirect = readRequestRedirect(reader.map(kind->field));
    } else if (kind == &kFilterKinds[4]) {
      filters.urlRewrite = readUrlRewrite(reader.map(kind->field));
    } else if (kind == &kFilterKinds[6]) {
      filters.cors = readCors(reader.map(kind->field));
    } else {
      const std::string message = "filter " + std::string(kind->type) + " is not supported";
      unbuilt.push_back(Unbuilt{reader.path(), reader.position(), message, true});
    }
  }
  reader.finish();
}

}  // namespace

Filters readFilters(FieldReader& holder, FilterSet set, std::vector<Unbuilt>& unbuilt) {
  Filters filters;
  std::vector<const FilterKind*> seen;
  for (const Item& item : holder.list("filters", kMaxFilters)) {
    readFilter(holder.map(item), set, filters, seen, unbuilt);
  }
  const auto has = [&](const FilterKind& kind) { return std::find(seen.begin(), seen.end(), &kind) != seen.end(); };
  if (has(kFilterKinds[3]) && has(kFilterKinds[4])) {
    holder.error("filters", "must not have both RequestRedirect and URLRewrite");
  }
  return filters;
}

}  // namespace sluice::config
