// Reads Envoy Gateway's EnvoyExtensionPolicy: its external processors become uses of kExtProc. Its other extensions are
// not supported, and what a policy with them names must not be served without them.
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxExtensions = 16;
constexpr std::size_t kMaxAttributes = 32;
constexpr std::size_t kMaxNamespaces = 64;
constexpr base::Duration kEnvoyMessageTimeout = std::chrono::milliseconds(200);
constexpr std::string_view kFullDuplex = "FullDuplexStreamed";

constexpr Choice<std::string_view> kEnvoyBodyModes[] = {{"Streamed", "Streamed"},
                                                        {"Buffered", "Buffered"},
                                                        {"BufferedPartial", "BufferedPartial"},
                                                        {kFullDuplex, kFullDuplex}};

Value textList(FieldReader& reader, std::string_view key, std::size_t maxItems) {
  Value list = emptyValue(Value::Kind::kList, reader.positionOf(key));
  for (const std::string& text : reader.texts(key, rule::kAnyText, maxItems)) {
    list.items.push_back(scalarValue(Value::Kind::kString, text, list.position));
  }
  return list;
}

/// The names that one way, request or response, has in the config.
struct WayNames {
  std::string_view field, headers, body, trailers, attributes;
};
constexpr std::array<WayNames, 2> kWays{
    {{"request", "requestHeaders", "requestBody", "requestTrailers", "requestAttributes"},
     {"response", "responseHeaders", "responseBody", "responseTrailers", "responseAttributes"}}};

/// Reads what the server gets of one way: nothing if the API's field is absent, and the headers if it is there.
void readWay(FieldReader& mode, const WayNames& names, bool failsOpen, Value& modes, Value& config) {
  const bool given = mode.has(names.field);
  FieldReader way = mode.map(names.field);
  addText(modes, names.headers, given ? "Send" : "Skip");
  const std::string_view body = way.choice("body", kEnvoyBodyModes, std::string_view("Skip"));
  addText(modes, names.body, body);
  if (body == kFullDuplex) {
    addText(modes, names.trailers, "Send");
    if (failsOpen) way.error("body", "must not be FullDuplexStreamed if failOpen is true");
  }
  if (way.has("attributes")) addMember(config, names.attributes, textList(way, "attributes", kMaxAttributes));
  way.finish();
}

void readModesOfWays(FieldReader mode, bool failsOpen, Value& config) {
  Value modes = emptyValue(Value::Kind::kMap, mode.position());
  for (const WayNames& names : kWays) readWay(mode, names, failsOpen, modes, config);
  addMember(config, "processingMode", std::move(modes));
  if (mode.boolean("allowModeOverride", false)) addFlag(config, "allowModeOverride", true);
  mode.finish();
}

Value readServers(FieldReader& extension, ProcessorUse& use) {
  Value refs = emptyValue(Value::Kind::kList, extension.positionOf("backendRefs"));
  extension.require("backendRefs");
  const std::vector<Item> items = extension.list("backendRefs", kMaxExtensions);
  for (const Item& item : items) {
    FieldReader server = extension.map(item);
    refs.items.push_back(readServerRef(server));
    server.integer("weight", 0, INT32_MAX);
    if (server.boolean("fallback", false)) {
      server.unsupported("fallback", "fallback is not supported", true, use.unsupported);
    }
    server.finish();
  }
  if (items.empty() && extension.has("backendRefs")) extension.error("backendRefs", "must have at least one item");
  if (items.size() > 1) {
    use.unsupported.push_back(UnsupportedField{extension.pathOf("backendRefs"), extension.positionOf("backendRefs"),
                                               "more than one server is not supported", true});
  }
  return refs;
}

/// Notes namespaces of metadata that the server would read or write, for which there is nothing here.
void readNamespacesOfMetadata(FieldReader metadata, ProcessorUse& use) {
  for (const std::string_view key : {"accessibleNamespaces", "writableNamespaces"}) {
    if (metadata.texts(key, rule::kAnyText, kMaxNamespaces).empty()) continue;
    metadata.unsupported(key, std::string(key) + " is not supported", true, use.unsupported);
  }
  metadata.finish();
}

ProcessorUse readExtension(FieldReader extension, std::size_t index) {
  ProcessorUse use;
  use.name = "ext-proc-" + std::to_string(index);
  use.type = processor_type::kExtProc;
  use.configField = {};
  use.path = extension.path();
  use.position = extension.position();
  use.timeout = extension.duration("messageTimeout").value_or(kEnvoyMessageTimeout);
  use.failOpen = extension.boolean("failOpen", false);
  Value config = emptyValue(Value::Kind::kMap, extension.position());
  addMember(config, "backendRefs", readServers(extension, use));
  readModesOfWays(extension.map("processingMode"), *use.failOpen, config);
  if (extension.boolean("shadowMode", false)) addFlag(config, "observabilityMode", true);
  if (const auto status = extension.integer("statusOnError", 400, 599)) {
    addMember(config, "statusOnError",
              scalarValue(Value::Kind::kNumber, std::to_string(*status), extension.positionOf("statusOnError")));
  }
  readNamespacesOfMetadata(extension.map("metadata"), use);
  extension.unsupported("backendSettings", "backendSettings is not supported", true, use.unsupported);
  extension.finish();
  use.config = std::move(config);
  return use;
}

}  // namespace

std::optional<ExtensionPolicy> readExtensionPolicy(FieldReader& root, ObjectMeta meta) {
  ExtensionPolicy policy;
  policy.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) static_cast<PolicyTargets&>(policy) = readPolicyTargets(spec);
  checkEnvoyTargets(spec, policy);
  for (const Item& item : spec.list("extProc", kMaxExtensions)) {
    policy.processors.push_back(readExtension(spec.map(item), policy.processors.size()));
  }
  for (const std::string_view key : {"wasm", "lua", "dynamicModules", "backends", "mergeType"}) {
    spec.unsupported(key, std::string(key) + " is not supported", true, policy.unsupported);
  }
  spec.finish();
  if (policy.empty()) return std::nullopt;
  return policy;
}

}  // namespace sluice::config
