#include "proxy/control/compile/processors/compile_processors.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace sluice::control {
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
      return {std::nullopt, {forbidden->reason, forbidden->message}};
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

class Refusing final : public processing::PreAuthProcessor {
 public:
  processing::Verdict process(processing::Call& /*call*/) const override {
    return processing::Verdict::fail("it cannot run");
  }
};

std::string nameOf(const config::PayloadProcessor& processor) {
  return objectName(holderOf(processor.meta), processor.meta.name);
}

bool targets(const config::PayloadProcessor& processor, const config::ObjectMeta& object) {
  const config::ObjectRef& target = processor.target;
  const bool sameKind = target.kind.empty() || (target.kind == object.kind && target.group == object.group);
  return sameKind && target.name == object.name && processor.meta.nameSpace == object.nameSpace;
}

bool sameSteps(const std::vector<processing::Step>& a, const std::vector<processing::Step>& b) {
  const auto all = [](const processing::Step& step) {
    return std::tie(step.processor, step.name, step.type, step.phase, step.scope, step.priority, step.failOpen,
                    step.preAuth, step.preRouting, step.timeout, step.body.mode, step.body.bound, step.body.edits,
                    step.body.decoded);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const processing::Step& one, const processing::Step& other) { return all(one) == all(other); });
}

}  // namespace

std::shared_ptr<const processing::Chain> chainOf(std::vector<processing::Step> steps) {
  return steps.empty() ? nullptr : std::make_shared<const processing::Chain>(std::move(steps));
}

processing::Step refusing(const Fault& fault, processing::Scope scope) {
  return {std::make_shared<const Refusing>(),
          fault.reason,
          std::string(config::PayloadProcessor::kKind),
          Phase::kRequestHeaders,
          scope,
          std::numeric_limits<std::int32_t>::min(),
          false,
          true};
}

const processing::Step* refusingStep(const processing::Chain* chain) {
  if (chain == nullptr) return nullptr;
  const std::span<const processing::Step> steps = chain->of(Phase::kRequestHeaders, processing::Round::kFirst);
  const bool found = !steps.empty() && dynamic_cast<const Refusing*>(steps.front().processor.get()) != nullptr;
  return found ? &steps.front() : nullptr;
}

bool same(const processing::Chain* a, const processing::Chain* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && sameSteps(a->all(), b->all());
}

namespace {

/// Returns "PayloadProcessor demo/guard: ".
std::string originOf(const config::ObjectMeta& meta) {
  return std::string(meta.kind) + " " + meta.qualifiedName() + ": ";
}

}  // namespace

Fault RefusedUse::named() const {
  if (origin.empty()) return fault;
  return summary(fault.reason, origin + fault.message);
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
  const auto meant = [&](const config::PayloadProcessor& each) { return targets(each, target); };
  const config::Objects<config::PayloadProcessor>& all = model_.all<config::PayloadProcessor>();
  return std::any_of(all.begin(), all.end(), meant) ||
         std::any_of(model_.rejected.begin(), model_.rejected.end(), [&](const config::Rejected& each) {
           const auto* legible = each.legible<config::PayloadProcessor>();
           return legible != nullptr && meant(*legible);
         });
}

CompiledUses ProcessorCompiler::targeting(const config::ObjectMeta& target, std::string_view section, const UsesOf& of,
                                          CompiledUses own) const {
  const auto isMeant = [&](const config::PayloadProcessor& each) {
    return targets(each, target) && (each.sectionName.empty() || each.sectionName == section);
  };
  CompiledUses result;
  // A processor that its schema refused would have applied to the target too, so it counts as one that fails closed.
  for (const config::Rejected& each : model_.rejected) {
    const auto* legible = each.legible<config::PayloadProcessor>();
    if (legible != nullptr && isMeant(*legible)) {
      result.refused.push_back(
          {nameOf(*legible), {}, summary(reason::kInvalid, each.message), false, originOf(legible->meta)});
    }
  }
  std::vector<const config::PayloadProcessor*> found;
  for (const config::PayloadProcessor& each : model_.all<config::PayloadProcessor>()) {
    if (isMeant(each)) found.push_back(&each);
  }
  const auto age = [](const config::ObjectMeta& meta) { return std::tie(meta.creationTimestamp, meta.name); };
  std::sort(found.begin(), found.end(), [&](const config::PayloadProcessor* a, const config::PayloadProcessor* b) {
    return std::pair(age(a->meta), a->meta.group) < std::pair(age(b->meta), b->meta.group);
  });
  const auto younger =
      std::find_if(found.begin(), found.end(), [&](const auto* each) { return age(target) < age(each->meta); });
  for (auto each = found.begin(); each != younger; ++each) result.append(compile(**each, of));
  result.append(std::move(own));
  for (auto each = younger; each != found.end(); ++each) result.append(compile(**each, of));
  return result;
}

CompiledUses ProcessorCompiler::compile(const config::PayloadProcessor& processor, const UsesOf& of) const {
  UsesOf its{holderOf(processor.meta), processor.meta.name, of.scope, of.exposure};
  its.preRouting = processor.phase == config::RoutingPhase::kPreRouting;
  const std::string name = nameOf(processor);
  CompiledUses result;
  if (auto wrong = alteringFault(processor.unsupported)) result.refused.push_back({name, {}, *std::move(wrong)});
  add(processor.processors, its, name, result);
  const std::string origin = originOf(processor.meta);
  for (RefusedUse& each : result.refused) each.origin = origin;
  for (ShieldedUse& each : result.shielded) each.refused.origin = origin;
  return result;
}

void ProcessorCompiler::add(const std::vector<config::ProcessorUse>& uses, const UsesOf& of,
                            const std::string& writtenIn, CompiledUses& result) const {
  for (const config::ProcessorUse& use : uses) {
    if (of.exposure == Exposure::kByRule) {
      addByRule(use, of, writtenIn, result);
      continue;
    }
    auto made = step(use, of);
    if (auto* ready = std::get_if<processing::Step>(&made)) {
      result.steps.push_back(std::move(*ready));
    } else {
      auto& refused = std::get<RefusedStep>(made);
      result.refused.push_back({writtenIn, use.name, std::move(refused.fault), refused.open});
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
  // Before a route is matched, a use that fails open cannot be left out for some rules alone.
  const bool early = of.preRouting && !exposed.refused.empty() && exposed.refused.front().open;
  if (kept.steps.empty() || early) return result.append(std::move(exposed));
  result.shielded.push_back({std::move(kept.steps.front()), std::move(exposed.refused.front())});
}

std::variant<processing::Step, ProcessorCompiler::RefusedStep> ProcessorCompiler::step(const config::ProcessorUse& use,
                                                                                       const UsesOf& of) const {
  const config::Admission admission = catalog_.admit(use);
  const auto refused = [&](std::string_view why, std::string message) {
    return RefusedStep{{std::string(why), std::move(message)}, admission.failOpen};
  };
  if (auto wrong = alteringFault(use.unsupported)) return RefusedStep{*std::move(wrong), admission.failOpen};
  const std::optional<Phase> phase = processing::phaseFrom(admission.phase);
  // The phase may come from the use's type, which no reader has checked.
  if (of.preRouting && phase && *phase > Phase::kRequestBody) {
    return refused(config::processor_reason::kUnsupportedPhase,
                   use.path + ".phase: must be request-headers or request-body before routing, but is " +
                       std::string(admission.phase) + ", the only one of its type");
  }
  if (admission.outcome != config::Admission::Outcome::kAdmitted) return refused(admission.reason, admission.message);
  const auto type = std::find_if(types_.begin(), types_.end(),
                                 [&](const processing::BuiltinType& each) { return each.type == use.type; });
  if (type == types_.end() || !phase) {
    return refused(reason::kUnsupportedExtensionType, use.path + ": type " + use.type + " has no engine here");
  }
  std::string owner(of.holder.kind);
  owner.append(" ").append(of.holder.nameSpace).append("/").append(of.name);
  owner.append(" of ").append(of.holder.group).append(of.place);
  const ModelSecrets secrets(model_, of.writer.value_or(of.holder));
  processing::Made made = makeProcessor(
      *type,
      {owner, use.name, *phase, admission.preAuth, admission.config, secrets, states_, of.exposure == Exposure::kSome},
      cache_);
  switch (made.state()) {
    case processing::LoadState::kActive:
      break;
    case processing::LoadState::kPending:
      return refused(reason::kExtensionPending, use.path + ": " + made.refusal.message);
    case processing::LoadState::kDegraded:
      return refused(reason::kExtensionUnavailable, use.path + ": " + made.refusal.message);
    case processing::LoadState::kError:
      return refused(made.refusal.reason, use.path + ".config: " + made.refusal.message);
  }
  processing::Step ready{std::move(made.processor), use.name,           use.type,          *phase,       of.scope,
                         admission.priority,        admission.failOpen, admission.preAuth, of.preRouting};
  if (admission.timeout) ready.timeout = *admission.timeout;
  ready.body = ready.processor->body();
  const bool mayChange =
      ready.body.mode == processing::BodyMode::kStreamed || ready.body.mode == processing::BodyMode::kBuffered;
  if (ready.preAuth && ready.scope == processing::Scope::kBackend && *phase == Phase::kRequestBody && mayChange) {
    return refused(config::processor_reason::kUnsupportedPreAuth,
                   use.path + ".preAuth: must not be true in the phase request-body of a Backend, because " + use.type +
                       " may change the body, which all Backends share until one is chosen");
  }
  const std::optional<std::uint64_t>& most = admission.type->entry.bodyBytes;
  if (most && (ready.body.bound == 0 || *most < ready.body.bound)) ready.body.bound = *most;
  return ready;
}

}  // namespace sluice::control
