#include "proxy/control/compile/status/processor_status.h"

#include <algorithm>
#include <utility>

#include "proxy/control/compile/backends/compile_backend.h"
#include "proxy/control/compile/processors/refused_uses.h"
#include "proxy/control/compile/processors/server_ref.h"
#include "proxy/control/compile/status/attachment.h"
#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/refused_objects.h"
#include "proxy/control/compile/status/use_conditions.h"

namespace sluice::control {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

Attachment attachmentOf(const config::PayloadProcessor& processor) {
  return {processor.target, processor.meta.nameSpace, processor.sectionName};
}

std::optional<Fault> unattached(const config::Model& model, const config::PayloadProcessor& processor,
                                const FoundTarget& target) {
  if (auto unsupported = alteringFault(processor.unsupported)) return unsupported;
  return targetFault(model, target, attachmentOf(processor), holderOf(processor.meta), "nothing is attached");
}

/// Returns ResolvedRefs of an XPayloadProcessor, whether or not a route refers to it.
std::vector<config::Condition> resolvedRefs(const config::PayloadProcessingPipeline& pipeline,
                                            const StatusSources& sources) {
  std::vector<Fault> faults;
  const Holder holder = holderOf(pipeline.meta);
  for (const config::ProcessorUse& use : pipeline.processors) {
    const config::Value* refs = use.config ? use.config->find("backendRefs") : nullptr;
    if (refs == nullptr) continue;
    for (const config::Value& each : refs->items) {
      config::BackendObjectReference ref = serverRefOf(each);
      ref.object.path = use.path + ".backendRef";
      const BackendResult found =
          overGrpc(sources.backends.resolve(ref, holder).first(), describe(ref.object, holder.nameSpace));
      if (!found) faults.push_back(found.fault);
    }
  }
  return Conditions(pipeline.meta).check(condition_type::kResolvedRefs, joined(faults)).take();
}

config::ObjectStatus rejectedProcessor(const config::Rejected& rejected) {
  const auto* legible = rejected.legible<config::PayloadProcessor>();
  if (legible == nullptr) {
    return rejectedStatus(rejected, "it cannot be read what it targets, so nothing is refused for it");
  }
  if (legible->target.kind.empty()) {
    return rejectedStatus(
        rejected, "every Gateway and route of its namespace with the name " + legible->target.name + " answers 500");
  }
  const Fault why = summary(reason::kInvalid, rejected.message);
  config::ObjectStatus status = statusOf(rejected);
  status.parents.push_back(
      ancestorOf(attachmentOf(*legible), Conditions(rejected.generation).bad(condition_type::kAccepted, why).take()));
  return status;
}

}  // namespace

std::vector<config::Condition> processorConditions(const config::ObjectMeta& meta,
                                                   const std::optional<Fault>& unaccepted,
                                                   const StatusSources& sources) {
  const std::string name = objectName(holderOf(meta), meta.name);
  const std::vector<AskedServer> servers = sources.servers.in(name);
  std::vector<RefusedUse> refused = sources.refusedUses.in(name);
  std::erase_if(refused, [](const RefusedUse& each) { return each.use.empty(); });
  Conditions conditions(meta);
  conditions.check(condition_type::kAccepted, both(unaccepted, keptFault(sources.model, meta)));
  if (const auto why = both(degradation(refused), awayFault(servers))) {
    conditions.troubled(condition_type::kDegraded, *why);
  }
  noteOnce(refused, awayUses(servers));
  addUseConditions(refused, conditions);
  addServerConditions(servers, conditions, kMostUseConditions);
  return conditions.take();
}

void payloadProcessorStatuses(const StatusSources& sources, Statuses& statuses) {
  for (const config::PayloadProcessor& each : sources.model.all<config::PayloadProcessor>()) {
    const FoundTarget target = findTarget(sources.model, sources.gateways, attachmentOf(each));
    if (!target.ours) continue;
    statuses.emplace_back(statusOf(each.meta))
        .parents.push_back(ancestorOf(
            attachmentOf(each), processorConditions(each.meta, unattached(sources.model, each, target), sources)));
  }
  forEachRefused<config::PayloadProcessor>(
      sources.model, [&](const config::Rejected& each) { statuses.push_back(rejectedProcessor(each)); });
}

void pipelineStatuses(const StatusSources& sources, Statuses& statuses) {
  for (const config::PayloadProcessingPipeline& each : sources.model.all<config::PayloadProcessingPipeline>()) {
    std::vector<config::Condition>& conditions = statuses.emplace_back(statusOf(each.meta)).conditions;
    conditions = processorConditions(each.meta, std::nullopt, sources);
    if (each.meta.kind != config::PayloadProcessingPipeline::kRemoteKind) continue;
    for (config::Condition& resolved : resolvedRefs(each, sources)) {
      conditions.insert(conditions.begin() + 1, std::move(resolved));
    }
  }
  forEachRefused<config::PayloadProcessingPipeline>(
      sources.model, [&](const config::Rejected& each) { statuses.push_back(rejectedStatus(each)); });
}

}  // namespace sluice::control
