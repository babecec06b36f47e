#include "proxy/routing/compile_processors.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

namespace sluice::routing {
namespace {

using processing::Phase;

namespace reason = config::reason;

/// The Secrets of the model that one object may refer to.
class Secrets final : public processing::SecretLookup {
 public:
  Secrets(const config::Model& model, const Holder& holder) : model_(model), holder_(holder) {}

  processing::FoundSecret find(std::string_view nameSpace, std::string_view name, std::string_view key) const override {
    config::ObjectRef ref;
    ref.kind = "Secret";
    ref.nameSpace = nameSpace;
    ref.name = name;
    if (auto forbidden = crossNamespaceFault(model_, ref, holder_)) {
      return {std::nullopt, {forbidden->reason, forbidden->message}};
    }
    const auto refused = [&](const std::string& why) -> processing::FoundSecret {
      return {std::nullopt, {std::string(reason::kInvalidSecretRef), describe(ref, holder_.nameSpace) + ": " + why}};
    };
    const config::SecretObject* secret = model_.findSecret(targetNamespace(ref, holder_.nameSpace), name);
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
  const Holder& holder_;
};

class Refusing final : public processing::PreAuthProcessor {
 public:
  processing::Verdict process(processing::Call& /*call*/) const override {
    return processing::Verdict::fail("it can not run");
  }
};

void append(CompiledUses& uses, CompiledUses more) {
  std::move(more.steps.begin(), more.steps.end(), std::back_inserter(uses.steps));
  std::move(more.closed.begin(), more.closed.end(), std::back_inserter(uses.closed));
  std::move(more.open.begin(), more.open.end(), std::back_inserter(uses.open));
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

CompiledUses ProcessorCompiler::compile(const std::vector<config::ProcessorUse>& uses, const UsesOf& of) const {
  CompiledUses result;
  add(uses, of, result);
  return result;
}

CompiledUses ProcessorCompiler::compile(const std::vector<config::ProcessorFilter>& filters, const UsesOf& of) const {
  CompiledUses result;
  for (const config::ProcessorFilter& filter : filters) {
    if (const auto* uses = std::get_if<std::vector<config::ProcessorUse>>(&filter)) {
      add(*uses, of, result);
      continue;
    }
    const auto& ref = std::get<config::ObjectRef>(filter);
    const config::PayloadProcessingPipeline* pipeline = model_.findPipeline(ref.group, of.holder.nameSpace, ref.name);
    if (pipeline != nullptr) {
      add(pipeline->processors, of, result);
    } else {
      result.closed.push_back({std::string(reason::kInvalidExtensionRef),
                               describe(ref, of.holder.nameSpace) + ": it does not exist or is not valid"});
    }
  }
  return result;
}

bool ProcessorCompiler::concern(std::string_view kind, const config::ObjectMeta& target) const {
  const auto meant = [&](const config::PayloadProcessor& each) {
    return each.target.kind == kind && each.meta.nameSpace == target.nameSpace && each.target.name == target.name;
  };
  return std::any_of(model_.payloadProcessors.begin(), model_.payloadProcessors.end(), meant) ||
         std::any_of(model_.rejected.begin(), model_.rejected.end(), [&](const config::Rejected& each) {
           return each.payloadProcessor && meant(*each.payloadProcessor);
         });
}

CompiledUses ProcessorCompiler::targeting(std::string_view kind, const config::ObjectMeta& target,
                                          std::string_view section, const UsesOf& of, CompiledUses own) const {
  const auto isMeant = [&](const config::PayloadProcessor& each) {
    return each.target.kind == kind && each.meta.nameSpace == target.nameSpace && each.target.name == target.name &&
           (each.sectionName.empty() || each.sectionName == section);
  };
  CompiledUses result;
  // What its schema refused would have guarded this too.
  for (const config::Rejected& each : model_.rejected) {
    if (each.payloadProcessor && isMeant(*each.payloadProcessor)) {
      result.closed.push_back({std::string(reason::kInvalid), each.message});
    }
  }
  std::vector<const config::PayloadProcessor*> found;
  for (const config::PayloadProcessor& each : model_.payloadProcessors) {
    if (isMeant(each)) found.push_back(&each);
  }
  const auto age = [](const config::ObjectMeta& meta) { return std::tie(meta.creationTimestamp, meta.name); };
  std::sort(found.begin(), found.end(), [&](const config::PayloadProcessor* a, const config::PayloadProcessor* b) {
    return std::pair(age(a->meta), std::string_view(a->group)) < std::pair(age(b->meta), std::string_view(b->group));
  });
  const auto younger =
      std::find_if(found.begin(), found.end(), [&](const auto* each) { return age(target) < age(each->meta); });
  for (auto each = found.begin(); each != younger; ++each) append(result, compile(**each, of));
  append(result, std::move(own));
  for (auto each = younger; each != found.end(); ++each) append(result, compile(**each, of));
  return result;
}

CompiledUses ProcessorCompiler::compile(const config::PayloadProcessor& processor, const UsesOf& of) const {
  const UsesOf its{{processor.group, config::PayloadProcessor::kKind, processor.meta.nameSpace},
                   processor.meta.name,
                   of.scope,
                   of.exposed};
  CompiledUses result;
  if (auto wrong = alteringFault(processor.unbuilt)) result.closed.push_back(*std::move(wrong));
  add(processor.processors, its, result);
  const std::string name = std::string(config::PayloadProcessor::kKind) + " " + processor.meta.qualifiedName() + ": ";
  for (auto* faults : {&result.closed, &result.open}) {
    for (Fault& each : *faults) each.message.insert(0, name);
  }
  return result;
}

void ProcessorCompiler::add(const std::vector<config::ProcessorUse>& uses, const UsesOf& of,
                            CompiledUses& result) const {
  for (const config::ProcessorUse& use : uses) {
    auto made = step(use, of);
    if (auto* ready = std::get_if<processing::Step>(&made)) {
      result.steps.push_back(std::move(*ready));
    } else {
      auto& refused = std::get<Refused>(made);
      (refused.open ? result.open : result.closed).push_back(std::move(refused.fault));
    }
  }
}

std::variant<processing::Step, ProcessorCompiler::Refused> ProcessorCompiler::step(const config::ProcessorUse& use,
                                                                                   const UsesOf& of) const {
  const config::Admission admission = catalog_.admit(use);
  const auto refused = [&](std::string_view why, std::string message) {
    return Refused{{std::string(why), std::move(message)}, admission.failOpen};
  };
  if (auto wrong = alteringFault(use.unbuilt)) return refused(wrong->reason, std::move(wrong->message));
  if (admission.outcome != config::Admission::Outcome::kAdmitted) return refused(admission.reason, admission.message);
  const auto type = std::find_if(types_.begin(), types_.end(),
                                 [&](const processing::BuiltinType& each) { return each.type == use.type; });
  const std::optional<Phase> phase = processing::phaseFrom(admission.phase);
  if (type == types_.end() || !phase) {
    return refused(reason::kUnsupportedExtensionType, use.path + ": type " + use.type + " has no engine here");
  }
  const std::string owner =
      std::string(of.holder.kind) + " " + std::string(of.holder.nameSpace) + "/" + std::string(of.name);
  const Secrets secrets(model_, of.holder);
  processing::Made made =
      type->make({owner, use.name, *phase, admission.preAuth, admission.config, secrets, states_, of.exposed});
  if (made.processor == nullptr) return refused(made.refusal.reason, use.path + ".config: " + made.refusal.message);
  processing::Step ready{std::move(made.processor), use.name,           use.type,         *phase, of.scope,
                         admission.priority,        admission.failOpen, admission.preAuth};
  if (admission.timeout) ready.timeout = *admission.timeout;
  ready.body = ready.processor->body();
  const std::optional<std::uint64_t>& most = admission.type->entry.bodyBytes;
  if (most && (ready.body.bound == 0 || *most < ready.body.bound)) ready.body.bound = *most;
  return ready;
}

}  // namespace sluice::routing
