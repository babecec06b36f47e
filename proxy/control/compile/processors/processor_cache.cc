#include "proxy/control/compile/processors/processor_cache.h"

#include <algorithm>
#include <utility>

namespace sluice::control {
namespace {

/// Compares two values without their positions.
bool sameValue(const content::Value& a, const content::Value& b) {
  const auto sameMember = [](const content::Member& one, const content::Member& other) {
    return one.key == other.key && sameValue(one.value, other.value);
  };
  return a.kind == b.kind && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), sameValue) &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(), sameMember);
}

bool sameAnswer(const processing::FoundSecret& a, const processing::FoundSecret& b) {
  if (a.bytes.has_value() != b.bytes.has_value()) return false;
  if (a.bytes) return a.bytes->reveal() == b.bytes->reveal();
  return a.refusal.reason == b.refusal.reason && a.refusal.message == b.refusal.message;
}

/// Passes lookups on and records them.
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
  processor.config = use.config;
  processor.made =
      type.make({use.owner, use.name, use.phase, use.preAuth, use.config, recording, use.states, use.exposed});
  return processor;
}

bool holds(const MadeProcessor& processor, const processing::Use& use) {
  const auto sameLookup = [&](const MadeProcessor::Lookup& each) {
    return sameAnswer(each.answer, use.secrets.find(each.nameSpace, each.name, each.key));
  };
  const processing::Awaited* awaited = processor.made.awaited.get();
  return (awaited == nullptr || !awaited->mayHaveCome()) && sameValue(processor.config, use.config) &&
         std::all_of(processor.lookups.begin(), processor.lookups.end(), sameLookup);
}

}  // namespace

processing::Made makeProcessor(const processing::BuiltinType& type, const processing::Use& use, ProcessorCache& cache) {
  const std::tuple key(std::string(use.owner), std::string(use.name), std::string(type.type), use.phase, use.preAuth,
                       use.exposed);
  const auto unchanged = [&](const MadeProcessor& before) { return holds(before, use); };
  return cache.get(key, unchanged, [&] { return makeAnew(type, use); }).made;
}

std::vector<AwaitingUse> awaitingUses(const ProcessorCache& cache) {
  std::vector<AwaitingUse> uses;
  cache.forEach([&](const auto& key, const MadeProcessor& each) {
    if (each.made.awaited == nullptr) return;
    const auto& [owner, name, type, phase, preAuth, exposed] = key;
    uses.push_back({owner + ": " + name + " (" + type + " in " + std::string(processing::phaseName(phase)) + ")",
                    each.made.state(), each.made.refusal.message, each.made.awaited});
  });
  return uses;
}

}  // namespace sluice::control
