#include <algorithm>

#include "config/read/processors/processor_readers.h"
#include "config/read/routes/route_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxFilters = 16;
constexpr std::size_t kMaxHeaders = 16;

void readHeader(FieldReader& reader, HeaderValue& header) {
  reader.read(required("name"), header.name, rule::kHeaderName);
  reader.read(required("value"), header.value, rule::kHeaderValue);
}

/// Reads a list of header fields. If a name occurs more than once, the first entry is used (HTTPHeader.name).
void readHeaders(FieldReader& modifier, std::string_view key, std::vector<HeaderValue>& headers) {
  for (const Item& item : modifier.list(key, kMaxHeaders)) {
    HeaderValue header;
    modifier.map(item).readInto(header, readHeader);
    const bool shadowed = std::any_of(headers.begin(), headers.end(), [&](const HeaderValue& other) {
      return base::equalsIgnoringCase(other.name, header.name);
    });
    if (!shadowed) headers.push_back(std::move(header));
  }
}

void readHeaderModifier(FieldReader& reader, HeaderModifierFilter& modifier) {
  readHeaders(reader, "set", modifier.set);
  readHeaders(reader, "add", modifier.add);
  reader.read("remove", modifier.remove, rule::kHeaderName, kMaxHeaders);
}

constexpr std::size_t kMaxPathValue = 1024;
constexpr Choice<PathModifierType> kPathModifiers[] = {{"ReplaceFullPath", PathModifierType::kReplaceFullPath},
                                                       {"ReplacePrefixMatch", PathModifierType::kReplacePrefixMatch}};

void readPathModifier(FieldReader& reader, PathModifier& modifier) {
  reader.read(required("type"), modifier.type, kPathModifiers);
  if (!reader.isLegible()) {
    reader.ignore("replaceFullPath");
    reader.ignore("replacePrefixMatch");
    return;
  }
  const bool isPrefix = modifier.type == PathModifierType::kReplacePrefixMatch;
  const std::string condition = isPrefix ? "type is ReplacePrefixMatch" : "type is ReplaceFullPath";
  const std::string_view wanted = isPrefix ? "replacePrefixMatch" : "replaceFullPath";
  reader.checkGoesWith(wanted, true, condition);
  reader.checkGoesWith(isPrefix ? "replaceFullPath" : "replacePrefixMatch", false, condition);
  modifier.value = reader.anyText(wanted, kMaxPathValue);
}

void readUrlRewrite(FieldReader& reader, UrlRewriteFilter& rewrite) {
  reader.read("hostname", rewrite.hostname, rule::kPreciseHostname);
  reader.read("path", rewrite.path, readPathModifier);
}

constexpr std::uint16_t kRedirectCodes[] = {301, 302, 303, 307, 308};
constexpr std::string_view kSchemes[] = {"http", "https"};

void readRequestRedirect(FieldReader& reader, RequestRedirectFilter& redirect) {
  redirect.fieldPath = reader.path();
  reader.read("scheme", redirect.scheme, kSchemes);
  reader.read("hostname", redirect.hostname, rule::kPreciseHostname);
  reader.read("path", redirect.path, readPathModifier);
  reader.read("port", redirect.port, kPorts);
  reader.read("statusCode", redirect.statusCode, {300, 399});
  if (std::find(std::begin(kRedirectCodes), std::end(kRedirectCodes), redirect.statusCode) ==
      std::end(kRedirectCodes)) {
    reader.error("statusCode", "must be 301, 302, 303, 307 or 308");
  }
}

/// Reads the field of a type of filter. It is called after the check that the field is present.
using ReadFilter = void (*)(FieldReader& filter, std::string_view field, RouteFilters& filters);

/// Reads a filter of a type that may occur once.
template <auto kMember, auto kFields>
void readOne(FieldReader& filter, std::string_view field, RouteFilters& filters) {
  filter.map(field).readInto((filters.*kMember).emplace(), kFields);
}

void readMirror(FieldReader& filter, std::string_view field, RouteFilters& filters) {
  filter.map(field).readInto(filters.mirrors.emplace_back(), readRequestMirror);
}

/// A type of filter, and the only field that may be present with it.
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

void readFilter(FieldReader reader, FilterSet set, RouteFilters& filters, std::vector<const FilterKind*>& seen) {
  constexpr FieldKey kType = required("type");
  const FilterKind* kind = set == FilterSet::kGrpc ? reader.choice<const FilterKind*>(kType, kGrpcFilters, nullptr)
                                                   : reader.choice<const FilterKind*>(kType, kHttpFilters, nullptr);
  for (const Choice<const FilterKind*>& other : kHttpFilters) {
    reader.ignore(other.value->field);
    if (kind == nullptr) continue;
    reader.checkGoesWith(other.value->field, other.value == kind, "type is " + std::string(kind->type));
  }
  if (kind != nullptr) {
    const bool repeated = std::find(seen.begin(), seen.end(), kind) != seen.end();
    if (repeated && !kind->repeatable) reader.error("type", std::string(kind->type) + " must not be repeated");
    seen.push_back(kind);
    kind->read(reader, kind->field, filters);
  }
  reader.finish();
}

}  // namespace

void readFilters(FieldReader& holder, FilterSet set, RouteFilters& filters) {
  std::vector<const FilterKind*> seen;
  for (const Item& item : holder.list("filters", kMaxFilters)) readFilter(holder.map(item), set, filters, seen);
  if (filters.requestRedirect && filters.urlRewrite) {
    holder.error("filters", "must not have both RequestRedirect and URLRewrite");
  }
}

}  // namespace sluice::config
