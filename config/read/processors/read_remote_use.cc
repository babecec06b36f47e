// Reads uses of processors that are called over the network, in the spelling of the payload processing proposal and in
// that of GEP-5091's ExtProcess. Both become a use of kExtProc.
#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxProcessorBackendRefs = 16;
constexpr std::size_t kMaxContextBytes = 4096;

/// Adds the modes for spellings without modes. The server gets the whole payload, and a slow response is streamed
/// without waiting for its end.
void addWholePayload(Value& config) {
  Value& modes = addMap(config, "processingMode");
  addText(modes, "requestBody", "Buffered");
  addText(modes, "responseBody", "Streamed");
}

/// Returns `context` as it was written; nullptr if there is none.
const Value* readContext(FieldReader& reader) {
  reader.textMap("context", kMaxContextBytes);
  return reader.find("context");
}

}  // namespace

void readServerRef(FieldReader& reader, Value& refs) {
  BackendObjectReference checked;
  readBackendObjectReference(reader, checked);
  Value& ref = refs.items.emplace_back(emptyMap(reader.position()));
  for (const std::string_view key : {"group", "kind", "namespace", "name", "port"}) {
    if (const Value* given = reader.find(key)) addMember(ref, key, *given);
  }
}

void readRemoteUse(FieldReader& use, ProcessorUse& result) {
  result.type = processor_type::kExtProc;
  Value config = emptyMap(use.position());
  Value& refs = addList(config, "backendRefs", use.positionOf("backendRefs"));
  const std::vector<Item> items = use.list("backendRefs", kMaxProcessorBackendRefs);
  for (const Item& item : items) use.map(item).readInto(refs, readServerRef);
  if (items.empty()) use.error("backendRefs", "must have at least one item");

  FieldReader settings = use.map("config");
  const std::optional<base::Duration> timeout = settings.duration("timeout");
  if (timeout && result.timeout && *timeout != *result.timeout) settings.error("timeout", "contradicts timeout");
  if (timeout) result.timeout = timeout;
  const std::optional<bool> outer = readFailOpen(use);
  const std::optional<bool> inner = readFailOpen(settings);
  if (outer && inner && *outer != *inner) {
    use.error("config", "says something else about failures than " + use.path());
  }
  result.failOpen = outer.value_or(false) || inner.value_or(false);
  const Value* outerContext = readContext(use);
  const Value* innerContext = readContext(settings);
  if (outerContext != nullptr && innerContext != nullptr) {
    settings.error("context", "must not be given in both places");
  }
  if (const Value* context = innerContext != nullptr ? innerContext : outerContext) {
    addMember(config, "context", *context);
  }
  settings.finish();
  addWholePayload(config);
  result.config = std::move(config);
}

void readExtProcessUse(FieldReader& use, ProcessorUse& result) {
  result.type = processor_type::kExtProc;
  result.failOpen = readFailOpen(use).value_or(false);
  use.checkGoesWith("inProcess", false, "type is ExtProcess");
  use.require("extProcess");
  FieldReader extProcess = use.map("extProcess");
  if (!extProcess.given()) return;
  Value config = emptyMap(extProcess.position());
  Value& refs = addList(config, "backendRefs", extProcess.positionOf("backendRef"));
  extProcess.read(required("backendRef"), refs, readServerRef);
  extProcess.finish();
  addWholePayload(config);
  result.config = std::move(config);
}

}  // namespace sluice::config
