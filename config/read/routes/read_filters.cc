#include <algorithm>

#include "config/read/processors/processor_readers.h"
#include "config/read/routes/route_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxFilters = 16;
constexpr std::size_t kMaxHeaders = 16;

/// Reads a list of header fields. If a name occurs more than once, the first entry counts (HTTPHeader.name).
std::vector<HeaderValue> readHeaders(FieldReader& modifier, std::string_view key) {
  std::vector<HeaderValue> headers;
  for (const Item& item : modifier.list(key, kMaxHeaders)) {
    FieldReader reader = modifier.map(item);
    HeaderValue header{reader.requiredText("name", rule::kHeaderName),
                       reader.requiredText("value", rule::kHeaderValue)};
    reader.finish();
    const bool shadowed = std::any_of(headers.begin(), headers.end(), [&](const HeaderValue& other) {
      return base::equalsIgnoringCase(other.name, header.name);
    });
    if (!shadowed) headers.push_back(std::move(header));
  }
  return headers;
}

HeaderModifierFilter readHeaderModifier(FieldReader reader) {
  HeaderModifierFilter modifier;
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

UrlRewriteFilter readUrlRewrite(FieldReader reader) {
  UrlRewriteFilter rewrite;
  rewrite.hostname = reader.text("hostname", rule::kPreciseHostname);
  if (reader.has("path")) rewrite.path = readPathModifier(reader.map("path"));
  reader.finish();
  return rewrite;
}

constexpr std::uint16_t kRedirectCodes[] = {301, 302, 303, 307, 308};
constexpr Choice<std::string_view> kSchemes[] = {{"http", "http"}, {"https", "https"}};

RequestRedirectFilter readRequestRedirect(FieldReader reader) {
  RequestRedirectFilter redirect;
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

/// Reads the field that goes with a type of filter. It is called after the check that the field is present.
using ReadFilter = void (*)(FieldReader& filter, std::string_view field, RouteFilters& filters,
                            std::vector<UnsupportedField>& unsupported);

/// Reads a filter of a type that may occur once.
template <auto kMember, auto kRead>
void readOne(FieldReader& filter, std::string_view field, RouteFilters& filters,
             std::vector<UnsupportedField>& /*unsupported*/) {
  filters.*kMember = kRead(filter.map(field));
}

void readMirror(FieldReader& filter, std::string_view field, RouteFilters& filters,
                std::vector<UnsupportedField>& /*unsupported*/) {
  filters.mirrors.push_back(readRequestMirror(filter.map(field)));
}

/// A type of filter and the only field that it goes with.
struct FilterKind {
  std::string_view type;
  std::string_view field;
  bool repeatable;
  ReadFilter read;
};
constexpr FilterKind kRequestHeaders{"RequestHeaderModifier", "requestHeaderModifier", false,
                                     readOne<&RouteFilters::requestHeaders, readHeaderModifier>};
constexpr FilterKind kResponseHeaders{"ResponseHeaderModifier", "responseHeaderModifier", false,
                                      readOne<&RouteFilters::responseHeaders, readHeaderModifier>};
constexpr FilterKind kMirror{"RequestMirror", "requestMirror", true, readMirror};
constexpr FilterKind kRedirect{"RequestRedirect", "requestRedirect", false,
                               readOne<&RouteFilters::requestRedirect, readRequestRedirect>};
constexpr FilterKind kRewrite{"URLRewrite", "urlRewrite", false, readOne<&RouteFilters::urlRewrite, readUrlRewrite>};
constexpr FilterKind kExtension{"ExtensionRef", "extensionRef", true, readExtensionRef};
constexpr FilterKind kCors{"CORS", "cors", false, readOne<&RouteFilters::cors, readCors>};
constexpr FilterKind kExternalAuth{"ExternalAuth", "externalAuth", true, readExternalAuth};
constexpr FilterKind kPipeline{"PayloadProcessingRef", "payloadProcessingRef", true, readPipelineRef};
constexpr FilterKind kInline{"PayloadProcessing", "payloadProcessing", true, readInlineProcessors};

constexpr Choice<const FilterKind*> kHttpFilters[] = {{kRequestHeaders.type, &kRequestHeaders},
                                                      {kResponseHeaders.type, &kResponseHeaders},
                                                      {kMirror.type, &kMirror},
                                                      {kRedirect.type, &kRedirect},
                                                      {kRewrite.type, &kRewrite},
                                                      {kExtension.type, &kExtension},
                                                      {kCors.type, &kCors},
                                                      {kExternalAuth.type, &kExternalAuth},
                                                      {kPipeline.type, &kPipeline},
                                                      {kInline.type, &kInline}};
constexpr Choice<const FilterKind*> kGrpcFilters[] = {{kRequestHeaders.type, &kRequestHeaders},
                                                      {kResponseHeaders.type, &kResponseHeaders},
                                                      {kMirror.type, &kMirror},
                                                      {kExtension.type, &kExtension},
                                                      {kPipeline.type, &kPipeline},
                                                      {kInline.type, &kInline}};

void readFilter(FieldReader reader, FilterSet set, RouteFilters& filters, std::vector<const FilterKind*>& seen,
                std::vector<UnsupportedField>& unsupported) {
  reader.require("type");
  const FilterKind* kind = set == FilterSet::kGrpc ? reader.choice<const FilterKind*>("type", kGrpcFilters, nullptr)
                                                   : reader.choice<const FilterKind*>("type", kHttpFilters, nullptr);
  for (const Choice<const FilterKind*>& other : kHttpFilters) {
    const bool given = reader.has(other.value->field);
    if (kind == nullptr || given == (other.value == kind)) continue;
    reader.error(other.value->field, given ? "must not be given when type is " + std::string(kind->type)
                                           : "is required when type is " + std::string(kind->type));
  }
  if (kind != nullptr) {
    const bool repeated = std::find(seen.begin(), seen.end(), kind) != seen.end();
    if (repeated && !kind->repeatable) reader.error("type", std::string(kind->type) + " must not be repeated");
    seen.push_back(kind);
    kind->read(reader, kind->field, filters, unsupported);
  }
  reader.finish();
}

}  // namespace

RouteFilters readFilters(FieldReader& holder, FilterSet set, std::vector<UnsupportedField>& unsupported) {
  RouteFilters filters;
  std::vector<const FilterKind*> seen;
  for (const Item& item : holder.list("filters", kMaxFilters)) {
    readFilter(holder.map(item), set, filters, seen, unsupported);
  }
  if (filters.requestRedirect && filters.urlRewrite) {
    holder.error("filters", "must not have both RequestRedirect and URLRewrite");
  }
  return filters;
}

}  // namespace sluice::config
