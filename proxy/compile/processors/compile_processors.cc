#include "proxy/compile/processors/compile_processors.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "proxy/compile/destinations/extension_server.h"
#include "proxy/compile/ground/named_secrets.h"
#include "proxy/compile/policies/destination_traffic.h"
#include "proxy/compile/processors/fallbacks.h"
#include "proxy/compile/processors/server_ref.h"
#include "proxy/routing/backend_target.h"

namespace sluice::compile {
namespace {

using processing::Phase;

namespace reason = config::reason;

/// Looks up the Secrets of the model that one object may refer to.
class ModelSecrets final : public processing::SecretLookup {
 public:
  ModelSecrets(const config::Model& model, const Holder& holder) : model_(model), holder_(holder) {}

  processing::FoundSecret find(std::string_view nameSpace, std::string_view name, std::string_view key) const override {
    config::ObjectRef ref;
    ref.kind = config::SecretObject::kKind;
    ref.nameSpace = nameSpace;
    ref.name = name;
    if (auto forbidden = crossNamespaceFault(model_, ref, holder_)) {
      return {std::nullopt, {forbidden->reason, forbidden->text()}};
    }
    const auto refused = [&](const std::string& why) -> processing::FoundSecret {
      return {std::nullopt, {std::string(reason::kInvalidSecretRef), describe(ref, holder_.nameSpace) + ": " + why}};
    };
    const config::SecretObject* secret =
        model_.find<config::SecretObject>(targetNamespace(ref, holder_.nameSpace), name);
    if (secret == nullptr) return refused("it does not exist");
    if (!key.empty()) {
      const base::Secret* found = secret->find(std::string(key));
      return found != nullptr ? processing::FoundSecret{*found, {}} : refused("it has no " + std::string(key));
    }
    if (secret->data.size() == 1) return {secret->data.begin()->second, {}};
    return refused("it has " + std::to_string(secret->data.size()) + " keys, so the reference must name one");
  }

 private:
  const config::Model& model_;
  const Holder holder_;
};

/// Looks up the Backends and Services that one object may refer to.
class ModelTargets final : public processing::TargetLookup {
 public:
  ModelTargets(const ProcessorSources& sources, const Holder& holder) : sources_(sources), holder_(holder) {}

  processing::FoundBackend find(const content::Value& backendRef, bool http2) const override {
    if (namesExtensionServer(backendRef)) {
      BackendResult server = extensionServer(sources_.model, backendRef, holder_);
      return targetOf(http2 ? overGrpc(std::move(server), "service", {}) : std::move(server));
    }
    const config::BackendObjectReference ref = serverRefOf(backendRef);
    const BackendUse use = sources_.destinations.resolve(ref, holder_);
    BackendResult found = use.first();
    if (http2) {
      found = overGrpc(std::move(found), ref.object.path, describe(ref.object, holder_.nameSpace) + ": ");
    }
    return targetOf(governedDestination(std::move(found), use, holder_, sources_.traffic));
  }

 private:
  static processing::FoundBackend targetOf(BackendResult found) {
    if (!found) return {nullptr, {found.fault.reason, found.fault.text()}};
    return {std::make_shared<const routing::BackendTarget>(*std::move(found.value)), {}};
  }

  const ProcessorSources& sources_;
  const Holder holder_;
};

class Refusing final : public processing::PreAuthProcessor {
 public:
  processing::Verdict process(processing::Call& /*call*/) const override {
    return processing::Verdict::fail("it cannot run");
  }
};

std::string nameOf(const config::PayloadProcessor& processor) {
  return objectName(holderOf(processor.meta), processor.meta.name);
}

}  // namespace

processing::Step refusing(const Fault& fault, processing::Scope scope, std::string object) {
  processing::Step step{std::make_shared<const Refusing>(),
                        fault.reason,
                        std::string(config::PayloadProcessor::kKind),
                        Phase::kRequestHeaders,
                        scope,
                        std::numeric_limits<std::int32_t>::min(),
                        false,
                        true};
  step.object = std::move(object);
  return step;
}

const processing::Step* refusingStep(const processing::Chain* chain) {
  if (chain == nullptr) return nullptr;
  const std::span<const processing::Step> steps = chain->of(Phase::kRequestHeaders, processing::Round::kFirst);
  const bool found = !steps.empty() && dynamic_cast<const Refusing*>(steps.front().processor.get()) != nullptr;
  return found ? &steps.front() : nullptr;
}

namespace {

/// Returns "PayloadProcessor demo/guard: ".
std::string originOf(const config::ObjectMeta& meta) { return meta.title() + ": "; }

}  // namespace

CompiledUses ProcessorCompiler::compile(const std::vector<config::ProcessorUse>& uses, const UsesOf& of) const {
  CompiledUses result;
  add(uses, of, objectName(of.holder, of.name), result);
  return result;
}

CompiledUses ProcessorCompiler::compile(const std::vector<config::ProcessorFilter>& filters, const UsesOf& of) const {
  CompiledUses result;
  std::map<std::string, std::size_t> repeats;
  const auto at = [&](const std::string& filter) {
    UsesOf placed = of;
    placed.place += filter + " " + std::to_string(repeats[filter]++);
    return placed;
  };
  for (const config::ProcessorFilter& filter : filters) {
    if (const auto* uses = std::get_if<std::vector<config::ProcessorUse>>(&filter)) {
      add(*uses, at(", filter"), objectName(of.holder, of.name), result);
      continue;
    }
    const auto& ref = std::get<config::ObjectRef>(filter);
    const auto* pipeline =
        model_.find<config::PayloadProcessingPipeline>(ref.group, ref.kind, of.holder.nameSpace, ref.name);
    if (pipeline != nullptr) {
      const std::string name = objectName(holderOf(pipeline->meta), ref.name);
      UsesOf its = at(", " + name);
      its.writer = holderOf(pipeline->meta);
      CompiledUses uses;
      add(pipeline->processors, its, name, uses);
      for (RefusedUse& each : uses.refused) each.origin = originOf(pipeline->meta);
      result.append(std::move(uses));
    } else {
      result.refused.push_back(
          {objectName(of.holder, of.name), {}, absenceFault(reason::kInvalidExtensionRef, model_, ref, of.holder)});
    }
  }
  return result;
}

bool ProcessorCompiler::concern(const config::ObjectMeta& target) const {
  return extensions_.concern(target) || processors_.concern(target);
}

CompiledUses ProcessorCompiler::targeting(const config::ObjectMeta& target, const config::PolicySection& section,
                                          const UsesOf& of, CompiledUses own) const {
  CompiledUses result;
  bool ownIsAdded = false;
  const auto age = [](const config::ObjectMeta& meta) { return std::tie(meta.creationTimestamp, meta.name); };
  for (const auto* each : processors_.targeting(target, section)) {
    const config::PayloadProcessor& processor = *each->policy;
    if (each->rejected != nullptr) {
      // A processor that its schema refused would have applied too, so it is treated as one that fails closed.
      result.refused.push_back(
          {nameOf(processor), {}, summary(reason::kInvalid, each->rejected->message), false, originOf(processor.meta)});
      continue;
    }
    if (!ownIsAdded && age(target) < age(processor.meta)) {
      result.append(std::move(own));
      ownIsAdded = true;
    }
    result.append(compile(processor, of));
  }
  if (!ownIsAdded) result.append(std::move(own));
  return result;
}

CompiledUses ProcessorCompiler::compile(const config::PayloadProcessor& processor, const UsesOf& of) const {
  UsesOf its{holderOf(processor.meta), processor.meta.name, of.scope, of.exposure};
  its.preRouting = processor.phase == config::RoutingPhase::kPreRouting;
  return attached(processor, its);
}

template <typename Object>
CompiledUses ProcessorCompiler::attached(const Object& object, const UsesOf& its) const {
  const std::string name = objectName(holderOf(object.meta), object.meta.name);
  CompiledUses result;
  add(object.processors, its, name, result);
  const std::string origin = originOf(object.meta);
  for (RefusedUse& each : result.refused) each.origin = origin;
  for (ShieldedUse& each : result.shielded) each.refused.origin = origin;
  return result;
}

std::optional<CompiledUses> ProcessorCompiler::extending(const config::ObjectMeta& target, std::string_view section,
                                                         const UsesOf& of) const {
  const auto* const found = extensions_.find(target, {section});
  if (found == nullptr) return std::nullopt;
  const config::ObjectMeta& meta = found->policy->meta;
  if (found->rejected == nullptr) {
    CompiledUses uses = attached(*found->policy, {holderOf(meta), meta.name, of.scope, of.exposure});
    if (auto wrong = alteringFault(found->policy->unsupported)) {
      uses.refused.insert(uses.refused.begin(),
                          {objectName(holderOf(meta), meta.name), {}, *std::move(wrong), false, originOf(meta)});
    }
    return uses;
  }
  CompiledUses result;
  const Fault why = summary(reason::kInvalid, found->rejected->message);
  result.refused.push_back({objectName(holderOf(meta), meta.name), {}, why, false, originOf(meta)});
  return result;
}

namespace {

ServerLoss lossOf(const processing::Step& step) {
  if (step.fallback != nullptr) return ServerLoss::kReplaced;
  return step.failOpen ? ServerLoss::kSkipped : ServerLoss::kRefused;
}

}  // namespace

void ProcessorCompiler::add(const Uses& uses, const UsesOf& of, const std::string& writtenIn,
                            CompiledUses& result) const {
  for (const config::ProcessorUse& use : uses) {
    if (standsIn(use, uses)) continue;
    if (of.exposure == Exposure::kByRule) {
      addByRule(use, uses, of, writtenIn, result);
    } else {
      addUse(use, uses, of, writtenIn, result);
    }
  }
}

void ProcessorCompiler::addUse(const config::ProcessorUse& use, const Uses& list, const UsesOf& of,
                               const std::string& writtenIn, CompiledUses& result) const {
  CompiledUses standIn;
  if (const config::ProcessorUse* other = standInOf(use, list)) addUse(*other, list, of, writtenIn, standIn);
  auto made = steps(use, of);
  if (auto* refused = std::get_if<RefusedStep>(&made)) {
    RefusedUse why{writtenIn, use.name, std::move(refused->fault), refused->open, {}, std::move(refused->secrets)};
    return addRefused(use, of, refused->place, std::move(why), std::move(standIn), result);
  }
  auto& ready = std::get<std::vector<processing::Step>>(made);
  for (processing::Step& step : ready) {
    step.object = eventObject(writtenIn);
    step.health = states_.get<processing::UseHealth>(writtenIn + ": " + use.name,
                                                     [] { return std::make_shared<processing::UseHealth>(); });
  }
  if (auto wrong = setFallback(use, ready, standIn.steps)) {
    return addRefused(use, of, {}, {writtenIn, use.name, *std::move(wrong), false}, {}, result);
  }
  if (!ready.empty() && ready.front().server != nullptr) {
    const processing::Step& step = ready.front();
    servers_.note({writtenIn, use.name, use.path, lossOf(step), step.server, step.server->announced()});
  }
  for (RefusedUse& each : standIn.refused) each.open = true;  // it closes only requests for which it is needed
  standIn.steps = std::move(ready);
  result.append(std::move(standIn));
}

void ProcessorCompiler::addByRule(const config::ProcessorUse& use, const Uses& list, const UsesOf& of,
                                  const std::string& writtenIn, CompiledUses& result) const {
  const auto outcome = [&](Exposure exposure) {
    UsesOf assumed = of;
    assumed.exposure = exposure;
    CompiledUses compiled;
    addUse(use, list, assumed, writtenIn, compiled);
    return compiled;
  };
  CompiledUses exposed = outcome(Exposure::kSome);
  CompiledUses kept = exposed.refused.empty() ? CompiledUses() : outcome(Exposure::kNone);
  // Before a route is matched, a use that fails open cannot be left out for some of the rules only.
  const bool early = of.preRouting && !exposed.refused.empty() && exposed.refused.front().open;
  if (kept.steps.empty() || early || use.fallback) return result.append(std::move(exposed));
  result.shielded.push_back({std::move(kept.steps.front()), std::move(exposed.refused.front())});
}

namespace {

processing::Step stepOf(const config::ProcessorUse& use, const UsesOf& of, const config::Admission& admission,
                        std::shared_ptr<const processing::Processor> processor, Phase phase, bool authorizes) {
  const bool preAuth = admission.preAuth && phase <= Phase::kRequestBody;
  processing::Step step{std::move(processor), use.name,           use.type, phase,        of.scope,
                        admission.priority,   admission.failOpen, preAuth,  of.preRouting};
  if (admission.timeout) step.timeout = *admission.timeout;
  step.body = step.processor->body(phase);
  step.authorizes = authorizes;
  step.hidesClient = admission.preAuth;
  const std::optional<std::uint64_t>& most = admission.type->entry.bodyBytes;
  if (most && (step.body.bound == 0 || *most < step.body.bound)) step.body.bound = *most;
  return step;
}

/// Returns the set of phases in which a use may run.
std::uint8_t possiblePhases(const config::Admission& admission, bool preRouting) {
  if (!admission.spans) return processing::bitOf(*processing::phaseFrom(admission.phase));
  std::uint8_t phases = 0;
  for (const std::string_view name : admission.type->entry.phases) {
    const std::optional<Phase> phase = processing::phaseFrom(name);
    if (phase && (!preRouting || *phase <= Phase::kRequestBody)) phases |= processing::bitOf(*phase);
  }
  return phases;
}

/// Returns the phases of a use. If the use names none, they are `spanned`, the phases of its processor.
std::vector<Phase> phasesOf(const config::Admission& admission, std::span<const Phase> spanned, bool preRouting) {
  if (!admission.spans) return {*processing::phaseFrom(admission.phase)};
  const std::uint8_t possible = possiblePhases(admission, preRouting);
  std::vector<Phase> phases(spanned.begin(), spanned.end());
  std::erase_if(phases, [possible](Phase phase) { return (possible & processing::bitOf(phase)) == 0; });
  return phases;
}

/// Returns the place of a use that cannot run, as far as it is known.
RefusedPlace placeOf(const config::ProcessorUse& use, const config::Admission& admission, bool preRouting) {
  if (admission.outcome == config::Admission::Outcome::kAdmitted) {
    return {possiblePhases(admission, preRouting), admission.preAuth, admission.priority};
  }
  const std::optional<Phase> named = processing::phaseFrom(use.phase);
  const std::uint8_t phases = named ? processing::bitOf(*named) : std::uint8_t{0};
  return {phases, use.preAuth.value_or(false), use.priority.value_or(0)};
}

std::string ownerOf(const UsesOf& uses) {
  std::string owner(uses.holder.kind);
  owner.append(" ").append(uses.holder.nameSpace).append("/").append(uses.name);
  return owner.append(" of ").append(uses.holder.group).append(uses.place);
}

const processing::BuiltinType* builtinFor(const processing::BuiltinTypes& types, const config::CatalogEntry& entry) {
  const bool builtin = entry.engine == config::kBuiltinEngine;
  const auto found = std::find_if(types.begin(), types.end(), [&](const processing::BuiltinType& each) {
    return builtin ? each.type == entry.type : each.engine == entry.engine;
  });
  return found == types.end() ? nullptr : &*found;
}

}  // namespace

std::variant<std::vector<processing::Step>, ProcessorCompiler::RefusedStep> ProcessorCompiler::steps(
    const config::ProcessorUse& use, const UsesOf& of) const {
  const config::Admission admission = sources_.catalog.admit(use, model_.settings.limits);
  base::ObjectNames secrets = secretsNamedBy(use, model_, of.writer.value_or(of.holder));
  const auto refused = [&](std::string_view why, std::string field, std::string message) {
    return RefusedStep{fault(why, std::move(field), std::move(message)), admission.failOpen,
                       placeOf(use, admission, of.preRouting), secrets};
  };
  if (auto wrong = alteringFault(use.unsupported)) {
    return RefusedStep{*std::move(wrong), admission.failOpen, placeOf(use, admission, of.preRouting)};
  }
  const std::optional<Phase> named = processing::phaseFrom(admission.phase);
  // The phase may come from the type of the use, and no reader has checked that.
  if (of.preRouting && named && *named > Phase::kRequestBody) {
    return refused(config::processor_reason::kUnsupportedPhase, use.path + ".phase",
                   "must be request-headers or request-body before routing, but is " + std::string(admission.phase) +
                       ", the only one of its type");
  }
  if (admission.outcome != config::Admission::Outcome::kAdmitted) {
    return refused(admission.reason, admission.why.field, admission.why.message);
  }
  const processing::BuiltinType* type = builtinFor(sources_.types, admission.type->entry);
  if (type == nullptr || !(named || admission.spans)) {
    return refused(reason::kUnsupportedExtensionType, use.path, "type " + use.type + " has no engine here");
  }
  const processing::Made made = make(use, of, admission, *type, named.value_or(type->phases.front()));
  switch (made.state()) {
    case processing::LoadState::kActive:
      break;
    case processing::LoadState::kPending:
      return refused(reason::kExtensionPending, use.path, made.refusal.message);
    case processing::LoadState::kDegraded:
      if (!made.refusal.reason.empty()) return refused(made.refusal.reason, use.path + ".type", made.refusal.message);
      return refused(reason::kExtensionUnavailable, use.path, made.refusal.message);
    case processing::LoadState::kError:
      return refused(made.refusal.reason,
                     made.refusal.reason == reason::kUnsupportedExtensionType ? use.path + ".type" : use.configPath(),
                     made.refusal.message);
  }
  for (const auto& target : made.processor->targets()) {
    const routing::BackendPlan& server = *routing::planOf(*target);
    if (server.tls) secrets.insert(server.tls->secrets.begin(), server.tls->secrets.end());
  }
  const auto health = healthOf(*made.processor, use, of);
  std::vector<processing::Step> steps;
  for (const Phase phase : phasesOf(admission, made.processor->phases(), of.preRouting)) {
    processing::Step& step = steps.emplace_back(stepOf(use, of, admission, made.processor, phase, type->authorizes));
    step.server = health;
    step.secrets = secrets;
    step.number = numbers_.of(step.type, phase);
  }
  return steps;
}

std::shared_ptr<const processing::ServerHealth> ProcessorCompiler::healthOf(const processing::Processor& processor,
                                                                            const config::ProcessorUse& use,
                                                                            const UsesOf& of) const {
  if (processor.targets().empty()) return nullptr;
  std::string key = ownerOf(of) + ": " + use.name;
  for (const auto& target : processor.targets()) key += "|" + routing::planOf(*target)->identity.text();
  return states_.get<processing::ServerHealth>(key, [] { return std::make_shared<processing::ServerHealth>(); });
}

processing::Made ProcessorCompiler::make(const config::ProcessorUse& use, const UsesOf& of,
                                         const config::Admission& admission, const processing::BuiltinType& type,
                                         Phase phase) const {
  const std::string owner = ownerOf(of);
  const Holder writer = of.writer.value_or(of.holder);
  const ModelSecrets secrets(model_, writer);
  const ModelTargets targets(sources_, writer);
  const std::optional<config::Value>& engine = admission.type->entry.engineConfig;
  const base::LimitSettings& limits = model_.settings.limits;
  return makeProcessor(type,
                       {owner,
                        use.name,
                        phase,
                        possiblePhases(admission, of.preRouting),
                        admission.preAuth,
                        admission.config,
                        secrets,
                        targets,
                        states_,
                        of.exposure == Exposure::kSome,
                        engine ? &*engine : nullptr,
                        limits.processorContext,
                        limits.luaScriptBytes,
                        {limits.stepWork, std::min(std::max(limits.headerBytes, limits.requestLineBytes),
                                                   processing::WorkBounds().headBytes)},
                        use.type},
                       cache_);
}

}  // namespace sluice::compile
