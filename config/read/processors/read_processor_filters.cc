// Reads filters of routes that attach payload processors: by reference to a pipeline, with uses in the route itself,
// which no API server accepts, or ExternalAuth, which becomes a use of the type of that name.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

bool isPipeline(const ObjectRef& ref) {
  return ref.kind == PayloadProcessingPipeline::kKind && (ref.group == kOwnGroup || ref.group == kGatewayGroup);
}

bool isXPayloadProcessor(const ObjectRef& ref) {
  return ref.kind == PayloadProcessingPipeline::kRemoteKind && ref.group == kPrototypeGroup;
}

void noteUnsupported(const FieldReader& filter, std::string message, std::vector<UnsupportedField>& unsupported) {
  unsupported.push_back(UnsupportedField{filter.path(), filter.position(), std::move(message), true});
}

constexpr std::size_t kMaxAuthHeaders = 64;
constexpr std::size_t kMaxAuthPath = 1024;
constexpr Choice<bool> kAuthProtocols[] = {{"HTTP", false}, {"GRPC", true}};

/// Returns a map without the members that the API does not know, which the readers have reported, and without nulls.
Value knownMembers(const Value& map, std::initializer_list<std::string_view> keys) {
  Value known = emptyValue(Value::Kind::kMap, map.position);
  for (const Member& member : map.members) {
    const bool isKnown = std::find(keys.begin(), keys.end(), member.key) != keys.end();
    if (isKnown && member.value.kind != Value::Kind::kNull) known.members.push_back(member);
  }
  return known;
}

/// Checks that the lists are names of header fields.
void readHeaderNames(FieldReader& reader, std::initializer_list<std::string_view> lists) {
  for (const std::string_view list : lists) reader.texts(list, rule::kHeaderName, kMaxAuthHeaders);
  reader.finish();
}

void readAuthBackendRef(FieldReader reader) {
  readObjectRef(reader, {"", "Service"}, true);
  reader.port("port");
  reader.finish();
}

Value authConfigOf(const Value& written) {
  Value config = knownMembers(written, {"protocol", "backendRef", "http", "grpc", "forwardBody"});
  for (Member& member : config.members) {
    if (member.key == "backendRef") {
      member.value = knownMembers(member.value, {"group", "kind", "name", "namespace", "port"});
    } else if (member.key == "http") {
      member.value = knownMembers(member.value, {"path", "allowedHeaders", "allowedResponseHeaders"});
    } else if (member.key == "grpc") {
      member.value = knownMembers(member.value, {"allowedHeaders"});
    } else if (member.key == "forwardBody") {
      member.value = knownMembers(member.value, {"maxSize"});
    }
  }
  return config;
}

}  // namespace

void readExtensionRef(FieldReader& filter, std::string_view field, RouteFilters& filters,
                      std::vector<UnsupportedField>& unsupported) {
  FieldReader reader = filter.map(field);
  if (!filter.has(field)) return;
  ObjectRef ref = readObjectRef(reader, {"", "", true}, false);
  reader.finish();
  if (isPipeline(ref) || isXPayloadProcessor(ref)) {
    filters.processors.emplace_back(std::move(ref));
  } else {
    noteUnsupported(filter, "filter ExtensionRef is not supported", unsupported);
  }
}

void readPipelineRef(FieldReader& filter, std::string_view field, RouteFilters& filters,
                     std::vector<UnsupportedField>& /*unsupported*/) {
  FieldReader reader = filter.map(field);
  if (!filter.has(field)) return;
  ObjectRef ref = readObjectRef(reader, {kGatewayGroup, PayloadProcessingPipeline::kKind}, false);
  if (!isPipeline(ref)) reader.error("kind", "must be that of a PayloadProcessingPipeline");
  reader.finish();
  filters.processors.emplace_back(std::move(ref));
}

void readInlineProcessors(FieldReader& filter, std::string_view field, RouteFilters& filters,
                          std::vector<UnsupportedField>& /*unsupported*/) {
  const std::size_t errors = filter.context().errors();
  std::vector<ProcessorUse> uses = readProcessorUses(filter, field);
  if (uses.empty() && filter.has(field) && filter.context().errors() == errors) {
    filter.error(field, "must have at least one item");
  }
  filters.processors.emplace_back(std::move(uses));
}

void readExternalAuth(FieldReader& filter, std::string_view field, RouteFilters& filters,
                      std::vector<UnsupportedField>& /*unsupported*/) {
  const Value* const written = filter.find(field);
  if (written == nullptr) return;
  FieldReader reader = filter.map(field);
  reader.require("protocol");
  reader.require("backendRef");
  const bool grpc = reader.choice("protocol", kAuthProtocols, false);
  if (reader.has("backendRef")) readAuthBackendRef(reader.map("backendRef"));
  if (grpc && !reader.has("grpc")) reader.error("grpc", "is required when protocol is GRPC");
  if (!grpc && reader.has("grpc")) reader.error("grpc", "must not be given unless protocol is GRPC");
  FieldReader http = reader.map("http");
  http.anyText("path", kMaxAuthPath);
  readHeaderNames(http, {"allowedHeaders", "allowedResponseHeaders"});
  FieldReader ofGrpc = reader.map("grpc");
  readHeaderNames(ofGrpc, {"allowedHeaders"});
  FieldReader forward = reader.map("forwardBody");
  forward.integer("maxSize", 0, INT64_MAX);
  forward.finish();
  reader.finish();

  ProcessorUse use;
  const std::size_t others = filters.processors.size();
  use.name = others == 0 ? "external-auth" : "external-auth-" + std::to_string(others + 1);
  use.type = processor_type::kExternalAuthType;
  use.failOpen = false;  // whatever a catalog says: the API has this filter fail closed
  use.config = authConfigOf(*written);
  use.path = reader.path();
  use.position = reader.position();
  filters.processors.emplace_back(std::vector<ProcessorUse>{std::move(use)});
}

}  // namespace sluice::config
