#include <string>

#include "config/convert/model_writers.h"

namespace sluice::config {
namespace {

constexpr Choice<RoutingPhase> kPhaseWords[] = {{"PreRouting", RoutingPhase::kPreRouting},
                                                {"PostRouting", RoutingPhase::kPostRouting}};

void writeAnswer(const FallbackModel& fallback, FieldWriter& to) {
  to.number("status", fallback.status);
  to.text("detail", fallback.detail);
}

void writeFallback(const FallbackModel& fallback, FieldWriter& to) {
  to.text("use", fallback.use);
  if (fallback.use.empty()) to.map("response", fallback, writeAnswer);
}

void writeTarget(const PolicyTarget& target, FieldWriter& to) {
  to.anyText("group", target.object.group);
  to.text("kind", target.object.kind);
  to.text("name", target.object.name);
  to.text("sectionName", target.sectionName);
}

}  // namespace

void writePolicyTargets(const PolicyTargets& named, FieldWriter& spec, Leftovers& left) {
  if (!named.selectors.empty()) left.refuse("spec.targetSelectors", "targets cannot be selected by labels");
  spec.list("targetRefs", named.targets, writeTarget);
}

void writeProcessorUse(const ProcessorUse& use, FieldWriter& to) {
  to.text("name", use.name);
  to.text("type", use.type);
  to.text("phase", use.phase);
  to.number("priority", use.priority);
  to.flag("failOpen", use.failOpen);
  to.flag("preAuth", use.preAuth);
  to.time("timeout", use.timeout);
  to.value("config", use.config);
  to.map("fallback", use.fallback, writeFallback);
}

void writePayloadProcessor(const PayloadProcessor& processor, FieldWriter& spec, Leftovers& left) {
  left.add(processor.unsupported);
  left.add(processor.processors);
  writePolicyTargets(processor, spec, left);
  if (processor.phase) spec.word("phase", *processor.phase, kPhaseWords);
  spec.list("processors", processor.processors, writeProcessorUse);
}

void writePipeline(const PayloadProcessingPipeline& pipeline, FieldWriter& spec, Leftovers& left) {
  left.add(pipeline.processors);
  spec.list("processors", pipeline.processors, writeProcessorUse);
}

void writeExtensionPolicy(const ExtensionPolicy& policy, FieldWriter& spec, Leftovers& left) {
  left.add(policy.unsupported);
  left.add(policy.processors);
  writePolicyTargets(policy, spec, left);
  spec.list("processors", policy.processors, writeProcessorUse);
}

}  // namespace sluice::config
