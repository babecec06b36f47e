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
  ModelTargets(const config::Model& model, const DestinationCatalog& destinations, const Holder& holder)
      : model_(model), destinations_(destinations), holder_(holder) {}

  processing::FoundBackend find(const content::Value& backendRef, bool http2) const override {
    if (namesExtensionServer(backendRef)) {
      return targetOf(http2 ? overGrpc(extensionServer(model_, backendRef, holder_), "service", {})
                            : extensionServer(model_, backendRef, holder_));
    }
    const config::BackendObjectReference ref = serverRefOf(backendRef);
    BackendResult found = destinations_.resolve(ref, holder_).first();
    if (http2) {
      found = overGrpc(std::move(found), ref.object.path, describe(ref.object, holder_.nameSpace) + ": ");
    }
    return targetOf(std::move(found));
  }

 private:
  static processing::FoundBackend targetOf(BackendResult found) {
    if (!found) return {nullptr, {found.fault.reason, found.fault.text()}};
    return {std::make_shared<const routing::BackendTarget>(*std::move(found.value)), {}};
  }

  const config::Model& model_;
  const DestinationCatalog& destinations_;
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

Fault RefusedUse::named() const {
  if (origin.empty()) return fault;
  return summary(fault.reason, origin + fault.text());
}

std::string eventObject(std::string_view objectName) {
  const std::size_t dot = std::min(objectName.find('.'), objectName.size());
  const std::size_t space = std::min(objectName.find(' '), objectName.size());
  return std::string(objectName.substr(0, dot)) + std::string(objectName.substr(space));
}

std::string objectName(const Holder& object, std::string_view name) {
  std::string text = std::string(object.kind) + "." + std::string(object.group) + " ";
  if (!object.nameSpace.empty()) text.append(object.nameSpace).append("/");
  return text.append(name);
}

void CompiledUses::append(CompiledUses more) {
  std::move(more.steps.begin(), more.steps.end(), std::back_inserter(steps));
  std::move(more.refused.begin(), more.refused.end(), std::back_inserter(refused));
  std::move(more.shielded.begin(), more.shielded.end(), std::back_inserter(shielded));
}

void CompiledUses::forgetOpen() {
  std::erase_if(refused, [](const RefusedUse& each) { return each.open; });
}

std::vector<Fault> CompiledUses::faults(bool open) const {
  std::vector<Fault> result;
  for (const RefusedUse& each : refused) {
    if (each.open == open) result.push_back(each.named());
  }
  return result;
}

bool operator==(const CompiledUses& a, const CompiledUses& b) {
  return a.refused == b.refused && sameSteps(a.steps, b.steps);
}

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

void ProcessorCompiler::add(const std::vector<config::ProcessorUse>& uses, const UsesOf& of,
                            const std::string& writtenIn, CompiledUses& result) const {
  for (const config::ProcessorUse& use : uses) {
    if (of.exposure == Exposure::kByRule) {
      addByRule(use, of, writtenIn, result);
      continue;
    }
    auto made = steps(use, of);
    if (auto* ready = std::get_if<std::vector<processing::Step>>(&made)) {
      if (!ready->empty() && ready->front().server != nullptr) {
        const processing::Step& step = ready->front();
        servers_.note({writtenIn, use.name, use.path, step.failOpen, step.server, step.server->announced()});
      }
      for (processing::Step& step : *ready) {
        step.object = eventObject(writtenIn);
        step.health = states_.get<processing::UseHealth>(writtenIn + ": " + use.name,
                                                         [] { return std::make_shared<processing::UseHealth>(); });
        result.steps.push_back(std::move(step));
      }
    } else {
      auto& refused = std::get<RefusedStep>(made);
      result.refused.push_back(
          {writtenIn, use.name, std::move(refused.fault), refused.open, {}, std::move(refused.secrets)});
    }
  }
}

void ProcessorCompiler::addByRule(const config::ProcessorUse& use, const UsesOf& of, const std::string& writtenIn,
                                  CompiledUses& result) const {
  const auto outcome = [&](Exposure exposure) {
    UsesOf assumed = of;
    assumed.exposure = exposure;
    CompiledUses compiled;
    add({use}, assumed, writtenIn, compiled);
    return compiled;
  };
  CompiledUses exposed = outcome(Exposure::kSome);
  CompiledUses kept = exposed.refused.empty() ? CompiledUses() : outcome(Exposure::kNone);
  // Before a route is matched, a use that fails open cannot be left out for some of the rules only.
  const bool early = of.preRouting && !exposed.refused.empty() && exposed.refused.front().open;
  if (kept.steps.empty() || early) return result.append(std::move(exposed));
  result.shielded.push_back({std::move(kept.steps.front()), std::move(exposed.refused.front())});
}

namespace {

/// Returns true for a step of a Backend that may change the request body before authentication. The Backend is chosen
/// only after authentication.
bool changesSharedBody(const processing::Step& step) {
  const bool mayChange =
      step.body.mode != processing::BodyMode::kNone && step.body.mode != processing::BodyMode::kInspected;
  return step.preAuth && step.scope == processing::Scope::kBackend && step.phase == Phase::kRequestBody && mayChange;
}

processing::Step stepOf(const config::ProcessorUse& use, const UsesOf& of, const config::Admission& admission,
                        std::shared_ptr<const processing::Processor> processor, Phase phase, bool authorizes) {
  const bool preAuth = admission.preAuth && phase <= Phase::kRequestBody;
  processing::Step step{std::move(processor), use.name,           use.type, phase,        of.scope,
                        admission.priority,   admission.failOpen, preAuth,  of.preRouting};
  if (admission.timeout) step.timeout = *admission.timeout;
  step.body = step.processor->body(phase);
  step.authorizes = authorizes;
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

std::string ownerOf(const UsesOf& uses) {
  std::string owner(uses.holder.kind);
  owner.append(" ").append(uses.holder.nameSpace).append("/").append(uses.name);
  return owner.append(" of ").append(uses.holder.group).append(uses.place);
}

const processing::BuiltinType* builtinFor(const processing::BuiltinTypes& types, const config::CatalogEntry& entry) {
  const bool builtin = entry.engine == config::ProcessorEngine::kBuiltin;
  const auto found = std::find_if(types.begin(), types.end(), [&](const processing::BuiltinType& each) {
    return builtin ? each.type == entry.type : each.engine == config::engineName(entry.engine);
  });
  return found == types.end() ? nullptr : &*found;
}

}  // namespace

std::variant<std::vector<processing::Step>, ProcessorCompiler::RefusedStep> ProcessorCompiler::steps(
    const config::ProcessorUse& use, const UsesOf& of) const {
  const config::Admission admission = sources_.catalog.admit(use);
  base::ObjectNames secrets = secretsNamedBy(use, model_, of.writer.value_or(of.holder));
  const auto refused = [&](std::string_view why, std::string field, std::string message) {
    return RefusedStep{fault(why, std::move(field), std::move(message)), admission.failOpen, secrets};
  };
  if (auto wrong = alteringFault(use.unsupported)) return RefusedStep{*std::move(wrong), admission.failOpen};
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
      return refused(reason::kExtensionUnavailable, use.path, made.refusal.message);
    case processing::LoadState::kError:
      return refused(made.refusal.reason, use.configPath(), made.refusal.message);
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
    if (changesSharedBody(step)) {
      return refused(config::processor_reason::kUnsupportedPreAuth, use.path + ".preAuth",
                     "must not be true in the phase request-body of a Backend, because " + use.type +
                         " may change the body, which all Backends share until one is chosen");
    }
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
  const ModelTargets targets(model_, sources_.destinations, writer);
  const std::optional<config::Value>& engine = admission.type->entry.engineConfig;
  return makeProcessor(type,
                       {owner, use.name, phase, possiblePhases(admission, of.preRouting), admission.preAuth,
                        admission.config, secrets, targets, states_, of.exposure == Exposure::kSome,
                        engine ? &*engine : nullptr, model_.settings.limits.processorContext},
                       cache_);
}

}  // namespace sluice::compile
