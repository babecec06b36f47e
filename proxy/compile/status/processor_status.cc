#include "proxy/compile/status/processor_status.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/read/object_kinds.h"
#include "config/read/stray_target.h"
#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/ground/references.h"
#include "proxy/compile/policies/destination_traffic.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/processors/server_ref.h"
#include "proxy/compile/status/attachment.h"
#include "proxy/compile/status/policy_ancestors.h"
#include "proxy/compile/status/refused_objects.h"
#include "proxy/compile/status/use_conditions.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

/// Returns the ancestors of a processor: its targets, unless they belong to another controller. `conditionsOf(target,
/// found)` returns the conditions for one of them.
template <typename ConditionsOf>
std::vector<config::ParentStatus> processorAncestors(const config::PayloadProcessor& processor,
                                                     const StatusSources& sources, ConditionsOf conditionsOf) {
  std::vector<config::ParentStatus> ancestors;
  for (const config::PolicyTarget& each : processor.targets) {
    config::ObjectRef ref = each.object;
    ref.kind = meantKind(sources.model, ref, processor.meta.nameSpace);
    const Attachment to{ref, processor.meta.nameSpace, each.sectionName};
    const FoundTarget found = findTarget(sources.model, sources.gateways, to);
    if (!found.ours || ancestors.size() == kMostAncestors) continue;
    const Attachment written{each.object, processor.meta.nameSpace, each.sectionName};
    ancestors.push_back(ancestorOf(written, conditionsOf(written, found)));
  }
  return ancestors;
}

/// Returns ResolvedRefs of an XPayloadProcessor, whether or not a route refers to it.
std::vector<config::Condition> resolvedRefs(const config::PayloadProcessingPipeline& pipeline,
                                            const StatusSources& sources) {
  std::vector<Fault> faults;
  const Holder holder = holderOf(pipeline.meta);
  for (const config::ProcessorUse& use : pipeline.processors) {
    const std::optional<config::Value> refs = use.config ? use.config->find("backendRefs") : std::nullopt;
    if (!refs) continue;
    for (const config::Value& each : refs->items) {
      config::BackendObjectReference ref = serverRefOf(each);
      ref.object.path = use.path + ".backendRef";
      const BackendUse server = sources.backends.resolve(ref, holder);
      BackendResult found = overGrpc(server.first(), ref.object.path, describe(ref.object, holder.nameSpace) + ": ");
      found = governedDestination(std::move(found), server, holder, sources.traffic);
      if (!found) faults.push_back(found.fault);
    }
  }
  return Conditions(pipeline.meta).check(condition_type::kResolvedRefs, joined(faults)).take();
}

config::ObjectStatus rejectedProcessor(const config::Rejected& rejected, const StatusSources& sources) {
  const auto* legible = rejected.legible<config::PayloadProcessor>();
  if (legible == nullptr) {
    return rejectedStatus(rejected, "its targets cannot be read, so no requests are refused for it");
  }
  const auto& targets = legible->targets;
  const auto illegible = std::find_if(targets.begin(), targets.end(), [](const config::PolicyTarget& each) {
    return each.object.kind.empty() || config::isStray(each.targetKind());
  });
  if (illegible != targets.end()) {
    return rejectedStatus(rejected, closedNamesakes(*illegible));
  }
  const Fault why = summary(reason::kInvalid, rejected.message);
  config::ObjectStatus status = statusOf(rejected);
  status.parents = processorAncestors(*legible, sources, [&](const Attachment&, const FoundTarget&) {
    return Conditions(rejected.generation).bad(condition_type::kAccepted, why).take();
  });
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
    const auto conditionsOf = [&](const Attachment& to, const FoundTarget& found) {
      const bool known = config::findObjectKind(to.object.group, to.object.kind) != nullptr;
      return processorConditions(each.meta,
                                 known
                                     ? targetFault(sources.model, found, to, holderOf(each.meta), "nothing is attached")
                                     : alteringFault(each.unsupported),
                                 sources);
    };
    std::vector<config::ParentStatus> ancestors = processorAncestors(each, sources, conditionsOf);
    if (!ancestors.empty()) statuses.emplace_back(statusOf(each.meta)).parents = std::move(ancestors);
  }
  forEachRefused<config::PayloadProcessor>(
      sources.model, [&](const config::Rejected& each) { statuses.push_back(rejectedProcessor(each, sources)); });
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

}  // namespace sluice::compile
