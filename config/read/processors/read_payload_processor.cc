#include <algorithm>
#include <optional>

#include "config/ground/patterns.h"
#include "config/read/object_kinds.h"
#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/read/stray_target.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::string_view kListenerSet = "ListenerSet";
constexpr Choice<RoutingPhase> kRoutingPhases[] = {{"PreRouting", RoutingPhase::kPreRouting},
                                                   {"PostRouting", RoutingPhase::kPostRouting}};

bool isListenerSet(const ObjectRef& ref) { return ref.group == kGatewayGroup && ref.kind == kListenerSet; }

bool acceptsProcessors(const ObjectRef& ref) {
  return isKindOf<Gateway>(ref.group, ref.kind) || isKindOf<HttpRoute>(ref.group, ref.kind) ||
         isKindOf<GrpcRoute>(ref.group, ref.kind) || isKindOf<Backend>(ref.group, ref.kind) || isListenerSet(ref);
}

/// Reads group and kind. The default group is that of Gateway API, and most Backends have another one.
void readTargetKind(FieldReader& reader, PolicyTarget& target) {
  reader.require("kind");
  readObjectRef(reader, target.object, {kGatewayGroup, ""}, false);
  const ObjectRef& object = target.object;
  const Value* group = reader.find("group");
  const bool isBackend = object.kind == Backend::kKind;
  target.groupLegible =
      group == nullptr ? !isBackend : group->isString() && (group->text.empty() || isGroup(group->text));
  if (!reader.isLegible()) return;
  if (group == nullptr && isBackend) {
    reader.error("group", "is required for a Backend, such as " + std::string(kOwnGroup));
  } else if (!acceptsProcessors(object)) {
    reader.error("kind", "must be Gateway, HTTPRoute or GRPCRoute of " + std::string(kGatewayGroup) +
                             ", EgressGateway of " + std::string(kPrototypeGroup) + ", or a Backend, but is " +
                             base::quote(target.targetKind().text()) + nearestTargetKind(target.targetKind()));
  }
}

void readTarget(FieldReader reader, PayloadProcessor& processor) {
  PolicyTarget target;
  readTargetKind(reader, target);
  reader.read("sectionName", target.sectionName, rule::kSectionName);
  if (isListenerSet(target.object)) reader.unsupported("kind", "kind ListenerSet is not supported");
  reader.finish();
  if (!target.object.name.empty()) processor.targets.push_back(std::move(target));
}

/// Reads `targetRef`, and `targetRefs` as in other policies. All entries are targets.
void readTargets(FieldReader& spec, PayloadProcessor& processor) {
  if (!spec.has("targetRefs")) spec.require("targetRef");
  if (spec.has("targetRef")) readTarget(spec.map("targetRef"), processor);
  for (const Item& item : spec.listOfSome("targetRefs", kMaxPolicyTargets)) readTarget(spec.map(item), processor);
}

/// Checks that a processor that runs before routing targets only Gateways (GEP-5091) and uses only the phases that end
/// before a route is matched.
void checkPhase(FieldReader& spec, PayloadProcessor& processor) {
  if (processor.phase != RoutingPhase::kPreRouting) return;
  const auto late = std::find_if(processor.targets.begin(), processor.targets.end(), [](const PolicyTarget& each) {
    const ObjectRef& object = each.object;
    return acceptsProcessors(object) && !isKindOf<Gateway>(object.group, object.kind) && !isListenerSet(object);
  });
  if (late != processor.targets.end()) spec.error("phase", "must not be PreRouting for a " + late->object.kind);
  for (ProcessorUse& use : processor.processors) {
    const bool edits = use.type == processor_type::kInProcess && use.config;
    if (const std::optional<Value> response = edits ? use.config->find("response") : std::nullopt) {
      use.unsupported.push_back(UnsupportedField{use.path + ".inProcess.response", response->position,
                                                 "edits of responses are not supported before routing", true});
    }
    if (use.phase.empty() || use.phase == "request-headers" || use.phase == "request-body") continue;
    spec.context().error(use.position, use.path + ".phase",
                         "must be request-headers or request-body before routing, but is " + base::quote(use.phase));
  }
}

void readProcessors(FieldReader& spec, const ObjectMeta& meta, std::vector<ProcessorUse>& uses) {
  const std::size_t errors = spec.context().errors();
  spec.require("processors");
  if (meta.group == kNetworkingGroup) {
    readNetworkingUses(spec, uses);
  } else {
    readProcessorUses(spec, "processors", uses);
  }
  if (uses.empty() && spec.context().errors() == errors) spec.error("processors", "must have at least one item");
}

}  // namespace

void readPayloadProcessor(FieldReader& spec, PayloadProcessor& processor) {
  if (spec.given()) readTargets(spec, processor);
  spec.read("phase", processor.phase, kRoutingPhases);
  readProcessors(spec, processor.meta, processor.processors);
  checkPhase(spec, processor);
}

void readPipeline(FieldReader& spec, PayloadProcessingPipeline& pipeline) {
  if (spec.given()) readProcessors(spec, pipeline.meta, pipeline.processors);
}

}  // namespace sluice::config
