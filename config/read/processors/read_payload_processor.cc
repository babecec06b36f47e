#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::string_view kListenerSet = "ListenerSet";
constexpr Choice<std::string_view> kPrototypeTargetKinds[] = {{Gateway::kEgressKind, Gateway::kEgressKind}};
constexpr Choice<std::string_view> kTargetKinds[] = {{Gateway::kKind, Gateway::kKind},
                                                     {kListenerSet, kListenerSet},
                                                     {HttpRoute::kKind, HttpRoute::kKind},
                                                     {GrpcRoute::kKind, GrpcRoute::kKind}};
constexpr Choice<std::optional<RoutingPhase>> kRoutingPhases[] = {{"PreRouting", RoutingPhase::kPreRouting},
                                                                  {"PostRouting", RoutingPhase::kPostRouting}};

bool isRoute(std::string_view kind) { return kind == HttpRoute::kKind || kind == GrpcRoute::kKind; }

void readTarget(FieldReader reader, PayloadProcessor& processor) {
  const std::size_t errors = reader.context().errors();
  reader.require("kind");
  processor.target = readObjectRef(reader, {kGatewayGroup, ""}, false);
  const bool prototype = processor.target.group == kPrototypeGroup;
  if (processor.target.group != kGatewayGroup && !prototype && reader.has("group")) {
    reader.error("group", "must be " + std::string(kGatewayGroup) + ", but is " + base::quote(processor.target.group));
  }
  const std::string_view kind = prototype ? reader.choice("kind", kPrototypeTargetKinds, std::string_view())
                                          : reader.choice("kind", kTargetKinds, std::string_view());
  if (reader.context().errors() != errors) processor.target.kind.clear();
  processor.sectionName = reader.text("sectionName", rule::kSectionName);
  if (kind == kListenerSet) {
    processor.unsupported.push_back(
        UnsupportedField{reader.pathOf("kind"), reader.positionOf("kind"), "kind ListenerSet is not supported", true});
  }
  reader.finish();
}

/// Checks that a processor before routing targets no route (GEP-5091) and uses only the phases that end before a route
/// is matched.
void checkPhase(FieldReader& spec, PayloadProcessor& processor) {
  if (processor.phase != RoutingPhase::kPreRouting) return;
  if (isRoute(processor.target.kind)) {
    spec.error("phase", "must not be PreRouting for a " + processor.target.kind);
  }
  for (ProcessorUse& use : processor.processors) {
    const Value* response =
        use.type == processor_type::kInProcess && use.config ? use.config->find("response") : nullptr;
    if (response != nullptr) {
      use.unsupported.push_back(UnsupportedField{use.path + ".inProcess.response", response->position,
                                                 "edits of responses are not supported before routing", true});
    }
    if (use.phase.empty() || use.phase == "request-headers" || use.phase == "request-body") continue;
    spec.context().error(use.position, use.path + ".phase",
                         "must be request-headers or request-body before routing, but is " + base::quote(use.phase));
  }
}

std::vector<ProcessorUse> readProcessors(FieldReader& spec, const ObjectMeta& meta) {
  const std::size_t errors = spec.context().errors();
  spec.require("processors");
  const bool isNetworking = meta.group == kNetworkingGroup;
  std::vector<ProcessorUse> uses = isNetworking ? readNetworkingUses(spec) : readProcessorUses(spec, "processors");
  if (uses.empty() && spec.context().errors() == errors) spec.error("processors", "must have at least one item");
  return uses;
}

}  // namespace

std::optional<PayloadProcessor> readPayloadProcessor(FieldReader& root, ObjectMeta meta) {
  PayloadProcessor processor;
  processor.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (spec.require("targetRef") != nullptr) readTarget(spec.map("targetRef"), processor);
  processor.phase = spec.choice("phase", kRoutingPhases, std::optional<RoutingPhase>());
  processor.processors = readProcessors(spec, processor.meta);
  checkPhase(spec, processor);
  spec.finish();
  if (processor.target.name.empty()) return std::nullopt;
  return processor;
}

PayloadProcessingPipeline readPipeline(FieldReader& root, ObjectMeta meta) {
  PayloadProcessingPipeline pipeline;
  pipeline.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) pipeline.processors = readProcessors(spec, pipeline.meta);
  spec.finish();
  return pipeline;
}

}  // namespace sluice::config
