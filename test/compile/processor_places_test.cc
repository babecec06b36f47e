// Tests the owner for which a processor is made. Its state is kept by owner and name.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

/// Remembers the owner for which it was made. A budget is found again by the owner and its name.
class OwnerRecordingProcessor final : public processing::PreAuthProcessor {
 public:
  explicit OwnerRecordingProcessor(std::string_view from) : owner(from) {}
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }
  const std::string owner;
};

processing::BuiltinTypes types() {
  processing::BuiltinTypes types = test::processorTypes();
  types.front().make = [](const processing::Use& use) {
    return processing::Made{std::make_shared<const OwnerRecordingProcessor>(use.owner), {}};
  };
  return types;
}

void collect(const processing::Chain* chain, std::vector<std::string>& owners) {
  if (chain == nullptr) return;
  for (const processing::Step& step : chain->all()) {
    owners.push_back(static_cast<const OwnerRecordingProcessor&>(*step.processor).owner);
  }
}

/// Returns the owners in a route with these rules: for each rule its own owner, then those of its weighted backends.
std::vector<std::string> owners(const std::string& rules, const std::vector<std::string_view>& more = {}) {
  const std::string route =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: route}\nspec:\n  parentRefs: "
      "[{name: egress}]\n  rules: [" +
      rules + "]\n";
  std::vector<std::string_view> documents = {kClass, kGateway, kBackend, route};
  documents.insert(documents.end(), more.begin(), more.end());
  const World world(documents, nullptr, types());
  std::vector<std::string> found;
  for (const char* path : {"/a", "/b"}) {
    const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", path));
    if (rule == nullptr) continue;
    collect(rule->chain.get(), found);
    for (const routing::WeightedBackend& backend : rule->backends) collect(backend.chain.get(), found);
  }
  return found;
}

std::size_t distinct(const std::vector<std::string>& owners) {
  return std::set<std::string>(owners.begin(), owners.end()).size();
}

constexpr const char* kInline =
    "{type: PayloadProcessing, payloadProcessing: [{name: a, type: 'sluice.dev/Test:v1', phase: request-headers}]}";
constexpr const char* kPipelineRef =
    "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: q}}";
constexpr const char* kReferredPipeline =
    "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {name: q}\nspec: {processors: [{name: "
    "a, type: 'sluice.dev/Test:v1', phase: request-headers}]}\n";

std::string ruleAt(const std::string& path, const std::string& fields, const std::string& backendFields = {}) {
  const std::string backend =
      "{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080" + backendFields + "}";
  return "{" + fields + "matches: [{path: {value: " + path + "}}], backendRefs: [" + backend + ", " + backend + "]}, ";
}
std::string filtersField(const std::string& list) { return "filters: [" + list + "], "; }

TEST(ProcessorPlaces, DifferBetweenRulesAndBetweenWeightedBackends) {
  EXPECT_EQ(distinct(owners(ruleAt("/a", filtersField(kInline)) + ruleAt("/b", filtersField(kInline)))), 2U);
  EXPECT_EQ(distinct(owners(ruleAt("/a", "", ", " + ("filters: [" + std::string(kInline) + "]")))), 2U)
      << "one backend twice";
}

TEST(ProcessorPlaces, DifferBetweenFiltersAndPipelines) {
  const std::string both = std::string(kInline) + ", " + kPipelineRef;
  EXPECT_EQ(distinct(owners(ruleAt("/a", filtersField(both)), {kReferredPipeline})), 2U);
  EXPECT_EQ(distinct(owners(ruleAt("/a", filtersField(kPipelineRef)) + ruleAt("/b", filtersField(kPipelineRef)),
                            {kReferredPipeline})),
            2U);
  const std::string second = with(kReferredPipeline, "name: q}", "name: r}");
  const std::string refs = std::string(kPipelineRef) + ", " + with(kPipelineRef, "name: q}", "name: r}");
  EXPECT_EQ(distinct(owners(ruleAt("/a", filtersField(refs)), {kReferredPipeline, second})), 2U);
}

TEST(ProcessorPlaces, AreTheSameForAllOfAPayloadProcessorsTarget) {
  const std::string processor =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n  targetRef: {group: "
      "gateway.networking.k8s.io, kind: HTTPRoute, name: route}\n  processors: [{name: a, type: 'sluice.dev/Test:v1', "
      "phase: request-headers}]\n";
  const std::vector<std::string> found = owners(ruleAt("/a", "") + ruleAt("/b", ""), {processor});
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(distinct(found), 1U);
}

TEST(ProcessorPlaces, StayTheSameWhileOtherPartsChange) {
  const auto before = owners(ruleAt("/a", "name: main, " + filtersField(kInline)));
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(owners(ruleAt("/c", "") + ruleAt("/a", "name: main, " + filtersField(kInline))), before)
      << "of a rule with a name, wherever it stands";
  EXPECT_EQ(
      owners(ruleAt(
          "/a", "name: main, " + filtersField("{type: RequestHeaderModifier, requestHeaderModifier: {remove: [x]}}, " +
                                              std::string(kInline)))),
      before)
      << "filters of other types do not count";
  EXPECT_EQ(owners(ruleAt("/a", "name: main, timeouts: {request: 1s}, " + filtersField(kInline))), before);
  const auto unnamed = owners(ruleAt("/a", filtersField(kInline)));
  EXPECT_EQ(owners(ruleAt("/a", filtersField(kInline)) + ruleAt("/b", "")), unnamed);
}

}  // namespace
}  // namespace sluice::compile
