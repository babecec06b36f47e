// Reads the prototype's XPayloadProcessor, which names one server that implements Envoy's external processing, with its
// modes. It becomes a pipeline with a single use of kExtProc.
#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

using std::chrono::milliseconds;

constexpr base::Duration kPrototypeMessageTimeout = milliseconds(500);

constexpr Choice<bool> kPrototypeFailureModes[] = {{"Open", true}, {"Closed", false}};
constexpr std::string_view kPrototypeHeaderModes[] = {"Send", "Skip"};
constexpr std::string_view kPrototypeBodyModes[] = {"Buffered", "Streamed", "Skip"};

void readPrototypeModes(FieldReader& reader, Value& modes) {
  addText(modes, "requestHeaders", reader.word("requestHeaders", kPrototypeHeaderModes, "Send"));
  addText(modes, "requestBody", reader.word("requestBody", kPrototypeBodyModes, "Buffered"));
  addText(modes, "responseHeaders", reader.word("responseHeaders", kPrototypeHeaderModes, "Skip"));
  addText(modes, "responseBody", reader.word("responseBody", kPrototypeBodyModes, "Skip"));
}

void readServerUse(FieldReader& spec, ProcessorUse& use) {
  use.type = processor_type::kExtProc;
  use.configField = {};
  Value config = emptyMap(spec.position());
  spec.read(required("backendRef"), addList(config, "backendRefs", spec.positionOf("backendRef")), readServerRef);
  FieldReader modes = spec.map("processingMode");
  modes.readInto(addMember(config, "processingMode", emptyMap(modes.position())), readPrototypeModes);
  use.config = std::move(config);
  use.timeout = kPrototypeMessageTimeout;
  spec.read("messageTimeout", use.timeout);
  use.failOpen = spec.choice(required("failureMode"), kPrototypeFailureModes, false);
}

}  // namespace

void readXPayloadProcessor(FieldReader& spec, PayloadProcessingPipeline& pipeline) {
  if (!spec.given()) return;
  ProcessorUse& use = pipeline.processors.emplace_back();
  use.name = pipeline.meta.name;
  spec.readInto(use, readServerUse);
}

}  // namespace sluice::config
