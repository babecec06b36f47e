// Reads Envoy Gateway's EnvoyExtensionPolicy. Its external processors become uses of kExtProc. Its other extensions are
// not supported, and targets of a policy with such extensions must not be served without them.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

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

constexpr std::string_view kRefusedPolicy[] = {"wasm", "lua", "dynamicModules", "backends", "mergeType"};

constexpr std::string_view kEnvoyBodyModes[] = {"Streamed", "Buffered", "BufferedPartial", kFullDuplex};

/// Reads which parts of the request or of the response the server gets: nothing if the API's field is absent, and the
/// headers if it is present.
void readWay(FieldReader way, const std::string& name, bool failsOpen, Value& modes, Value& config) {
  addText(modes, name + "Headers", way.given() ? "Send" : "Skip");
  const std::string_view body = way.word("body", kEnvoyBodyModes, "Skip");
  addText(modes, name + "Body", body);
  if (body == kFullDuplex) {
    addText(modes, name + "Trailers", "Send");
    if (failsOpen) way.error("body", "must not be FullDuplexStreamed if failOpen is true");
  }
  if (way.has("attributes")) {
    const std::vector<std::string> attributes = way.texts("attributes", rule::kAnyText, kMaxAttributes);
    addTexts(config, name + "Attributes", attributes, way.positionOf("attributes"));
  }
  way.finish();
}

void readModesOfWays(FieldReader mode, bool failsOpen, Value& config) {
  Value modes = emptyMap(mode.position());
  for (const char* name : {"request", "response"}) readWay(mode.map(name), name, failsOpen, modes, config);
  addMember(config, "processingMode", std::move(modes));
  if (mode.boolean("allowModeOverride", false)) addFlag(config, "allowModeOverride", true);
  mode.finish();
}

void readExtensionServer(FieldReader& server, Value& refs) {
  readServerRef(server, refs);
  server.integer("weight", 0, INT32_MAX);
  server.refuseTrue("fallback");
}

void readServers(FieldReader& extension, Value& refs) {
  extension.require("backendRefs");
  const std::vector<Item> items = extension.listOfSome("backendRefs", kMaxExtensions);
  for (const Item& item : items) extension.map(item).readInto(refs, readExtensionServer);
  if (items.size() > 1) extension.unsupported("backendRefs", "more than one server is not supported");
}

/// Notes the metadata namespaces that the server would read or write, which do not exist here.
void readNamespacesOfMetadata(FieldReader metadata) {
  for (const std::string_view key : {"accessibleNamespaces", "writableNamespaces"}) {
    if (!metadata.texts(key, rule::kAnyText, kMaxNamespaces).empty()) metadata.refuse(key);
  }
  metadata.finish();
}

void readExtension(FieldReader& extension, ProcessorUse& use) {
  use.type = processor_type::kExtProc;
  use.configField = {};
  use.timeout = kEnvoyMessageTimeout;
  extension.read("messageTimeout", use.timeout);
  use.failOpen = extension.boolean("failOpen", false);
  Value config = emptyMap(extension.position());
  readServers(extension, addList(config, "backendRefs", extension.positionOf("backendRefs")));
  readModesOfWays(extension.map("processingMode"), *use.failOpen, config);
  if (extension.boolean("shadowMode", false)) addFlag(config, "observabilityMode", true);
  if (const auto status = extension.integer("statusOnError", 400, 599)) {
    addMember(config, "statusOnError",
              scalarValue(Value::Kind::kNumber, std::to_string(*status), extension.positionOf("statusOnError")));
  }
  readNamespacesOfMetadata(extension.map("metadata"));
  extension.refuse("backendSettings");
  use.config = std::move(config);
}

}  // namespace

void readExtensionPolicy(FieldReader& spec, ExtensionPolicy& policy) {
  if (spec.given()) readPolicyTargets(spec, policy);
  checkEnvoyTargets(spec, policy);
  spec.read("extProc", policy.processors, kMaxExtensions, readExtension);
  for (std::size_t i = 0; i < policy.processors.size(); ++i) {
    policy.processors[i].name = "ext-proc-" + std::to_string(i);
  }
  spec.refuse(kRefusedPolicy);
}

}  // namespace sluice::config
