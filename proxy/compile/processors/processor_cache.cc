#include "proxy/compile/processors/processor_cache.h"

#include <algorithm>
#include <utility>

#include "proxy/compile/destinations/backend_cache.h"
#include "proxy/routing/backend_target.h"

namespace sluice::compile {
namespace {

bool sameAnswer(const processing::FoundSecret& a, const processing::FoundSecret& b) {
  if (a.bytes.has_value() != b.bytes.has_value()) return false;
  if (a.bytes) return a.bytes->reveal() == b.bytes->reveal();
  return a.refusal.reason == b.refusal.reason && a.refusal.message == b.refusal.message;
}

/// The identity of a plan decides where requests go. The Secrets that it was made from decide who may send them.
bool sameAnswer(const processing::FoundBackend& a, const processing::FoundBackend& b) {
  if (a.target != nullptr && b.target != nullptr) {
    const routing::BackendPlan& one = *routing::planOf(*a.target);
    const routing::BackendPlan& other = *routing::planOf(*b.target);
    return one.identity == other.identity && sameSecrets(one, other);
  }
  return a.target == b.target && a.refusal.reason == b.refusal.reason && a.refusal.message == b.refusal.message;
}

class RecordingTargetLookup final : public processing::TargetLookup {
 public:
  RecordingTargetLookup(const processing::TargetLookup& asked, std::vector<MadeProcessor::TargetFound>& found)
      : asked_(asked), found_(found) {}

  processing::FoundBackend find(const content::Value& backendRef, bool http2) const override {
    return found_.emplace_back(MadeProcessor::TargetFound{backendRef, http2, asked_.find(backendRef, http2)}).answer;
  }

 private:
  const processing::TargetLookup& asked_;
  std::vector<MadeProcessor::TargetFound>& found_;
};

/// Forwards lookups and records their results.
class RecordingSecretLookup final : public processing::SecretLookup {
 public:
  RecordingSecretLookup(const processing::SecretLookup& asked, std::vector<MadeProcessor::Lookup>& lookups)
      : asked_(asked), lookups_(lookups) {}

  processing::FoundSecret find(std::string_view nameSpace, std::string_view name, std::string_view key) const override {
    processing::FoundSecret answer = asked_.find(nameSpace, name, key);
    lookups_.push_back({std::string(nameSpace), std::string(name), std::string(key), answer});
    return answer;
  }

 private:
  const processing::SecretLookup& asked_;
  std::vector<MadeProcessor::Lookup>& lookups_;
};

MadeProcessor makeAnew(const processing::BuiltinType& type, const processing::Use& use) {
  MadeProcessor processor;
  const RecordingSecretLookup recording(use.secrets, processor.lookups);
  const RecordingTargetLookup targets(use.targets, processor.targets);
  processor.config = use.config;
  if (use.engine != nullptr) processor.engine = *use.engine;
  processor.mostContext = use.mostContext;
  processor.mostScript = use.mostScript;
  processor.work = use.work;
  processor.made =
      type.make({use.owner, use.name, use.phase, use.phases, use.preAuth, use.config, recording, targets, use.states,
                 use.exposed, use.engine, use.mostContext, use.mostScript, use.work, use.type});
  return processor;
}

bool holds(const MadeProcessor& processor, const processing::Use& use) {
  const auto sameLookup = [&](const MadeProcessor::Lookup& each) {
    return sameAnswer(each.answer, use.secrets.find(each.nameSpace, each.name, each.key));
  };
  const auto sameTarget = [&](const MadeProcessor::TargetFound& each) {
    return sameAnswer(each.answer, use.targets.find(each.backendRef, each.http2));
  };
  const processing::Awaited* awaited = processor.made.awaited.get();
  return (awaited == nullptr || !awaited->mayHaveCome()) && processor.mostContext == use.mostContext &&
         processor.mostScript == use.mostScript && processor.work == use.work && processor.config == use.config &&
         (use.engine == nullptr ? processor.engine.isNull() : processor.engine == *use.engine) &&
         std::all_of(processor.targets.begin(), processor.targets.end(), sameTarget) &&
         std::all_of(processor.lookups.begin(), processor.lookups.end(), sameLookup);
}

}  // namespace

processing::Made makeProcessor(const processing::BuiltinType& type, const processing::Use& use, ProcessorCache& cache) {
  const std::tuple key(std::string(use.owner), std::string(use.name), std::string(use.type), use.phase, use.phases,
                       use.preAuth, use.exposed);
  const auto unchanged = [&](const MadeProcessor& before) { return holds(before, use); };
  return cache.get(key, unchanged, [&] { return makeAnew(type, use); }).made;
}

std::vector<AwaitingUse> awaitingUses(const ProcessorCache& cache) {
  std::vector<AwaitingUse> uses;
  cache.forEach([&](const auto& key, const MadeProcessor& each) {
    if (each.made.awaited == nullptr) return;
    const auto& [owner, name, type, phase, phases, preAuth, exposed] = key;
    uses.push_back({owner + ": " + name + " (" + type + " in " + std::string(processing::phaseName(phase)) + ")",
                    each.made.state(), each.made.refusal.message, each.made.awaited});
  });
  return uses;
}

}  // namespace sluice::compile
