// Reads the prototype's XPayloadProcessor: one server that speaks Envoy's external processing, with its modes. It
// becomes a pipeline whose single use is of kExtProc.
#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

using std::chrono::milliseconds;

constexpr base::Duration kPrototypeMessageTimeout = milliseconds(500);

constexpr Choice<bool> kPrototypeFailureModes[] = {{"Open", true}, {"Closed", false}};
constexpr Choice<std::string_view> kPrototypeHeaderModes[] = {{"Send", "Send"}, {"Skip", "Skip"}};
constexpr Choice<std::string_view> kPrototypeBodyModes[] = {
    {"Buffered", "Buffered"}, {"Streamed", "Streamed"}, {"Skip", "Skip"}};

Value readPrototypeModes(FieldReader reader) {
  Value modes = emptyValue(Value::Kind::kMap, reader.position());
  addText(modes, "requestHeaders", reader.choice("requestHeaders", kPrototypeHeaderModes, std::string_view("Send")));
  addText(modes, "requestBody", reader.choice("requestBody", kPrototypeBodyModes, std::string_view("Buffered")));
  addText(modes, "responseHeaders", reader.choice("responseHeaders", kPrototypeHeaderModes, std::string_view("Skip")));
  addText(modes, "responseBody", reader.choice("responseBody", kPrototypeBodyModes, std::string_view("Skip")));
  reader.finish();
  return modes;
}

ProcessorUse readServerUse(FieldReader& spec, const std::string& name) {
  ProcessorUse use;
  use.name = name;
  use.type = processor_type::kExtProc;
  use.configField = {};
  use.path = spec.path();
  use.position = spec.position();
  Value config = emptyValue(Value::Kind::kMap, spec.position());
  Value refs = emptyValue(Value::Kind::kList, spec.positionOf("backendRef"));
  if (spec.require("backendRef") != nullptr) {
    FieldReader server = spec.map("backendRef");
    refs.items.push_back(readServerRef(server));
    server.finish();
  }
  addMember(config, "backendRefs", std::move(refs));
  addMember(config, "processingMode", readPrototypeModes(spec.map("processingMode")));
  use.config = std::move(config);
  use.timeout = spec.duration("messageTimeout").value_or(kPrototypeMessageTimeout);
  spec.require("failureMode");
  use.failOpen = spec.choice("failureMode", kPrototypeFailureModes, false);
  return use;
}

}  // namespace

PayloadProcessingPipeline readXPayloadProcessor(FieldReader& root, ObjectMeta meta) {
  PayloadProcessingPipeline pipeline;
  pipeline.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) pipeline.processors = {readServerUse(spec, pipeline.meta.name)};
  spec.finish();
  return pipeline;
}

}  // namespace sluice::config
