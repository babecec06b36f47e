// Reads filters of routes that attach payload processors. Some refer to a pipeline. Others contain uses in the route
// itself, which no API server accepts. An ExternalAuth filter becomes a use of the type with that name.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

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

constexpr std::size_t kMaxAuthHeaders = 64;
constexpr std::size_t kMaxAuthPath = 1024;
constexpr Choice<bool> kAuthProtocols[] = {{"HTTP", false}, {"GRPC", true}};

/// Adds a map to a config as it was written, without fields that the API does not have.
void addKnown(Value& config, std::string_view key, FieldReader part) {
  part.finish();
  if (part.value() != nullptr) addMember(config, key, part.knownPart());
}

/// Reads lists of names of header fields.
FieldReader readHeaderNames(FieldReader reader, std::initializer_list<std::string_view> lists) {
  for (const std::string_view list : lists) reader.texts(list, rule::kHeaderName, kMaxAuthHeaders);
  return reader;
}

void readAuthConfig(FieldReader& reader, Value& config) {
  if (const Value* protocol = reader.require("protocol")) addMember(config, "protocol", *protocol);
  const bool grpc = reader.choice("protocol", kAuthProtocols, false);
  BackendObjectReference checked;
  reader.require("backendRef");
  FieldReader ref = reader.map("backendRef");
  if (ref.given()) readBackendObjectReference(ref, checked);
  addKnown(config, "backendRef", std::move(ref));
  if (grpc && !reader.has("grpc")) reader.error("grpc", "is required when protocol is GRPC");
  if (!grpc && reader.has("grpc")) reader.error("grpc", "must not be given unless protocol is GRPC");
  FieldReader http = readHeaderNames(reader.map("http"), {"allowedHeaders", "allowedResponseHeaders"});
  http.anyText("path", kMaxAuthPath);
  addKnown(config, "http", std::move(http));
  addKnown(config, "grpc", readHeaderNames(reader.map("grpc"), {"allowedHeaders"}));
  FieldReader forward = reader.map("forwardBody");
  forward.integer("maxSize", 0, INT64_MAX);
  addKnown(config, "forwardBody", std::move(forward));
}

}  // namespace

void readExtensionRef(FieldReader& filter, std::string_view field, RouteFilters& filters) {
  if (!filter.has(field)) return;
  ObjectRef ref;
  filter.read(field, ref, kAnyRef);
  if (isPipeline(ref) || isXPayloadProcessor(ref)) {
    filters.processors.emplace_back(std::move(ref));
  } else {
    filter.addUnsupported({filter.path(), filter.position(), "filter ExtensionRef is not supported", true});
  }
}

void readPipelineRef(FieldReader& filter, std::string_view field, RouteFilters& filters) {
  if (!filter.has(field)) return;
  FieldReader reader = filter.map(field);
  ObjectRef ref;
  readObjectRef(reader, ref, {kGatewayGroup, PayloadProcessingPipeline::kKind}, false);
  if (!isPipeline(ref)) reader.error("kind", "must be that of a PayloadProcessingPipeline");
  reader.finish();
  filters.processors.emplace_back(std::move(ref));
}

void readInlineProcessors(FieldReader& filter, std::string_view field, RouteFilters& filters) {
  const std::size_t errors = filter.context().errors();
  std::vector<ProcessorUse> uses;
  readProcessorUses(filter, field, uses);
  if (uses.empty() && filter.has(field) && filter.context().errors() == errors) {
    filter.error(field, "must have at least one item");
  }
  filters.processors.emplace_back(std::move(uses));
}

void readExternalAuth(FieldReader& filter, std::string_view field, RouteFilters& filters) {
  if (!filter.has(field)) return;
  ProcessorUse use;
  filter.read(field, use, [](FieldReader& reader, ProcessorUse& of) {
    Value config = emptyMap(reader.position());
    readAuthConfig(reader, config);
    of.config = std::move(config);
  });
  const std::size_t others = filters.processors.size();
  use.name = others == 0 ? "external-auth" : "external-auth-" + std::to_string(others + 1);
  use.type = processor_type::kExternalAuthType;
  use.failOpen = false;  // overrides a catalog, because the API demands that this filter fails closed
  filters.processors.emplace_back(std::vector<ProcessorUse>{std::move(use)});
}

}  // namespace sluice::config
