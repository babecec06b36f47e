#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "config/read/stray_target.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOwnVersion = "sluice.dev/v1alpha1";
constexpr const char* kProposedVersion = "gateway.networking.k8s.io/v1alpha1";
const std::string kUses = "processors: [{name: a, type: a.b/K:v1}]";

Configuration loadProcessor(const std::string& spec, const char* version = kOwnVersion) {
  return loadText(object(version, "PayloadProcessor", "p", "spec: {" + spec + "}\n"));
}

std::vector<std::string> errorsOf(const std::string& spec) {
  std::vector<std::string> errors;
  for (const Problem& problem : loadProcessor(spec).problems) {
    if (problem.severity == Severity::kError) errors.push_back(render(problem));
  }
  return errors;
}

TEST(PayloadProcessor, AttachesUsesToItsTarget) {
  for (const char* kind : {"Gateway", "HTTPRoute", "GRPCRoute"}) {
    const Configuration configuration =
        loadProcessor("targetRef: {group: gateway.networking.k8s.io, kind: " + std::string(kind) +
                      ", name: t, sectionName: s}, " + kUses);
    ASSERT_FALSE(hasErrors(configuration.problems)) << kind;
    ASSERT_EQ(configuration.model.all<PayloadProcessor>().size(), 1u);
    const PayloadProcessor& processor = configuration.model.all<PayloadProcessor>()[0];
    EXPECT_EQ(processor.meta.group, kOwnGroup);
    ASSERT_EQ(processor.targets.size(), 1u);
    EXPECT_EQ(processor.targets[0].object.group, kGatewayGroup);
    EXPECT_EQ(processor.targets[0].object.kind, kind);
    EXPECT_EQ(processor.targets[0].object.name, "t");
    EXPECT_EQ(processor.targets[0].object.path, "spec.targetRef");
    EXPECT_EQ(processor.targets[0].sectionName, "s");
    EXPECT_FALSE(processor.phase);
    EXPECT_EQ(processor.processors.at(0).type, "a.b/K:v1");
    EXPECT_THAT(processor.unsupported, IsEmpty());
    EXPECT_EQ(configuration.model.find<PayloadProcessor>(kOwnGroup, PayloadProcessor::kKind, "default", "p"),
              &processor);
    EXPECT_EQ(configuration.model.find<PayloadProcessor>(kGatewayGroup, PayloadProcessor::kKind, "default", "p"),
              nullptr);
  }
}

TEST(PayloadProcessor, LoadsTheProposalsExampleUnchanged) {
  const Configuration configuration = loadText(R"(
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: PayloadProcessor
metadata:
  name: model-header-setter
spec:
  targetRef:
    group: gateway.networking.k8s.io
    kind: Gateway
    name: ai-gateway
    sectionName: http
  phase: PreRouting
  processors:
  - name: extract-model
    type: InProcess
    failureMode: FailClosed
    timeout: "500ms"
    inProcess:
      request:
        setHeaders:
        - name: X-Gateway-Model-Name
          value: 'json(request.body).model'
        removeHeaders: []
)");
  ASSERT_FALSE(hasErrors(configuration.problems));
  const PayloadProcessor& processor = configuration.model.all<PayloadProcessor>().at(0);
  EXPECT_EQ(processor.meta.group, kGatewayGroup);
  EXPECT_EQ(processor.phase, RoutingPhase::kPreRouting);
  EXPECT_EQ(processor.processors.at(0).unsupported.size(), 0u);
  EXPECT_EQ(processor.processors[0].type, processor_type::kInProcess);
  EXPECT_EQ(processor.processors[0].failOpen, false);
}

TEST(PayloadProcessor, RemembersThatResponsesAreNotEditedBeforeRouting) {
  const std::string rest =
      "targetRef: {kind: Gateway, name: t}, processors: [{name: a, type: InProcess, inProcess: "
      "{response: {removeHeaders: [server]}}}]";
  const Configuration early = loadProcessor("phase: PreRouting, " + rest);
  ASSERT_FALSE(hasErrors(early.problems));
  const ProcessorUse& use = early.model.all<PayloadProcessor>().at(0).processors.at(0);
  ASSERT_EQ(use.unsupported.size(), 1u);
  EXPECT_EQ(use.unsupported[0].path, "spec.processors[0].inProcess.response");
  const Configuration late = loadProcessor("phase: PostRouting, " + rest);
  EXPECT_EQ(late.model.all<PayloadProcessor>().at(0).processors.at(0).unsupported.size(), 0u);
}

TEST(PayloadProcessor, RemembersThatListenerSetsAreUnsupported) {
  const Configuration configuration =
      loadProcessor("targetRef: {kind: ListenerSet, name: t}, phase: PreRouting, " + kUses);
  ASSERT_FALSE(hasErrors(configuration.problems));
  const PayloadProcessor& processor = configuration.model.all<PayloadProcessor>().at(0);
  ASSERT_EQ(processor.unsupported.size(), 1u);
  EXPECT_EQ(processor.unsupported[0].path, "spec.targetRef.kind");
}

TEST(PayloadProcessor, RequiresATargetOfAKindThatAcceptsProcessors) {
  EXPECT_THAT(errorsOf(kUses), ElementsAre(EndsWith("spec.targetRef: is required")));
  EXPECT_THAT(errorsOf("targetRef: {name: t}, " + kUses), ElementsAre(EndsWith("targetRef.kind: is required")));
  EXPECT_THAT(errorsOf("targetRef: {kind: Gateway}, " + kUses), ElementsAre(EndsWith("targetRef.name: is required")));
  EXPECT_THAT(errorsOf("targetRef: {kind: Backend, name: t}, " + kUses),
              ElementsAre(HasSubstr("group: is required for a Backend, such as sluice.dev")));
  EXPECT_THAT(errorsOf("targetRef: {group: '', kind: Service, name: t}, " + kUses),
              ElementsAre(EndsWith("kind: must be Gateway, HTTPRoute or GRPCRoute of gateway.networking.k8s.io, "
                                   "EgressGateway of ainetworking.prototype.x-k8s.io, or a Backend, but is "
                                   "\"Service\"")));
  EXPECT_THAT(errorsOf("targetRef: {group: a.b, kind: Gateway, name: t}, " + kUses),
              ElementsAre(AllOf(HasSubstr("kind: must be Gateway"), HasSubstr("did you mean Gateway of gateway."))));
  EXPECT_THAT(errorsOf("targetRef: {kind: HTTPRout, name: t}, " + kUses),
              ElementsAre(EndsWith("but is \"HTTPRout.gateway.networking.k8s.io\"; did you mean HTTPRoute of "
                                   "gateway.networking.k8s.io?")));
  EXPECT_THAT(errorsOf("targetRefs: [], " + kUses), ElementsAre(EndsWith("targetRefs: must have at least one item")));
  EXPECT_THAT(errorsOf("targetRef: {kind: Gateway, name: t, namespace: n}, " + kUses),
              ElementsAre(HasSubstr("namespace: unknown field")));
}

TEST(PayloadProcessor, MayHaveSeveralTargets) {
  const Configuration configuration = loadProcessor(
      "targetRef: {kind: Gateway, name: a}, targetRefs: [{kind: HTTPRoute, name: b, sectionName: s}, {group: "
      "sluice.dev, "
      "kind: Backend, name: c}], " +
      kUses);
  ASSERT_FALSE(hasErrors(configuration.problems));
  const std::vector<PolicyTarget>& targets = configuration.model.all<PayloadProcessor>().at(0).targets;
  ASSERT_EQ(targets.size(), 3u);
  EXPECT_EQ(targets[0].object.path, "spec.targetRef");
  EXPECT_EQ(targets[1].object.path, "spec.targetRefs[0]");
  EXPECT_EQ(targets[1].sectionName, "s");
  EXPECT_EQ(targets[2].object.kind, "Backend");
  EXPECT_EQ(targets[2].object.group, kOwnGroup);
}

TEST(PayloadProcessor, RunsBeforeRoutingForGatewaysOnly) {
  EXPECT_THAT(errorsOf("targetRef: {kind: Gateway, name: t}, phase: PreRouting, " + kUses), IsEmpty());
  for (const char* kind : {"HTTPRoute", "GRPCRoute"}) {
    const std::string target = "targetRef: {kind: " + std::string(kind) + ", name: t}, ";
    EXPECT_THAT(errorsOf(target + "phase: PreRouting, " + kUses),
                ElementsAre(HasSubstr("phase: must not be PreRouting for a " + std::string(kind))));
    EXPECT_THAT(errorsOf(target + "phase: PostRouting, " + kUses), IsEmpty());
  }
  EXPECT_THAT(errorsOf("targetRefs: [{kind: Gateway, name: t}, {group: sluice.dev, kind: Backend, name: b}], phase: "
                       "PreRouting, " +
                       kUses),
              ElementsAre(HasSubstr("phase: must not be PreRouting for a Backend")));
  EXPECT_THAT(errorsOf("targetRef: {kind: Gateway, name: t}, phase: Routing, " + kUses),
              ElementsAre(HasSubstr("phase: must be PreRouting or PostRouting")));
}

TEST(PayloadProcessor, RefusesLaterPhasesBeforeRouting) {
  const auto errors = [](const std::string& routing, const std::string& phase) {
    return errorsOf("targetRef: {kind: Gateway, name: t}, phase: " + routing +
                    ", processors: [{name: a, type: a.b/K:v1, phase: " + phase + "}]");
  };
  EXPECT_THAT(errors("PreRouting", "request-headers"), IsEmpty());
  EXPECT_THAT(errors("PreRouting", "request-body"), IsEmpty());
  EXPECT_THAT(errors("PreRouting", "connect"),
              ElementsAre(HasSubstr("processors[0].phase: must be request-headers or request-body before routing")));
  EXPECT_THAT(errors("PreRouting", "response-body"), ElementsAre(HasSubstr("before routing")));
  EXPECT_THAT(errors("PostRouting", "response-body"), IsEmpty());
}

TEST(PayloadProcessor, RequiresProcessors) {
  const std::string target = "targetRef: {kind: Gateway, name: t}";
  EXPECT_THAT(errorsOf(target), ElementsAre(EndsWith("spec.processors: is required")));
  EXPECT_THAT(errorsOf(target + ", processors: []"), ElementsAre(EndsWith("must have at least one item")));
  const auto many = [](int count) {
    std::string uses;
    for (int i = 0; i < count; ++i) uses += "{name: n" + std::to_string(i) + ", type: a.b/K:v1}, ";
    return ", processors: [" + uses + "]";
  };
  EXPECT_THAT(errorsOf(target + many(64)), IsEmpty());
  EXPECT_THAT(errorsOf(target + many(65)), ElementsAre(HasSubstr("at most 64 are allowed")));
}

TEST(RejectedPayloadProcessor, KeepsItsLegibleTarget) {
  const Configuration configuration =
      loadProcessor("targetRef: {kind: HTTPRoute, name: t, sectionName: s}, processors: [{name: a, type: wrong}]");
  EXPECT_TRUE(configuration.model.all<PayloadProcessor>().empty());
  const Rejected* rejected = configuration.model.findRejected(kOwnGroup, "PayloadProcessor", "default", "p");
  ASSERT_NE(rejected, nullptr);
  ASSERT_NE(rejected->legible<PayloadProcessor>(), nullptr);
  EXPECT_EQ(rejected->legible<PayloadProcessor>()->targets.at(0).object.name, "t");
  EXPECT_EQ(rejected->legible<PayloadProcessor>()->targets.at(0).sectionName, "s");
}

TEST(RejectedPayloadProcessor, ClaimsNothingIfItsTargetIsNotLegible) {
  for (const char* spec :
       {"processors: [{name: a, type: a.b/K:v1}]", "targetRef: Gateway, processors: [{name: a, type: a.b/K:v1}]",
        "targetRef: {kind: Gateway, nam: t}, processors: [{name: a, type: a.b/K:v1}]"}) {
    const Configuration configuration = loadProcessor(spec);
    const Rejected* rejected = configuration.model.findRejected(kOwnGroup, "PayloadProcessor", "default", "p");
    ASSERT_NE(rejected, nullptr) << spec;
    EXPECT_EQ(rejected->legible<PayloadProcessor>(), nullptr) << spec;
  }
}

TEST(RejectedPayloadProcessor, MeansTheWholeTargetIfTheSectionIsNotLegible) {
  for (const char* section : {"sectionNam: s", "sectionName: 'Not one'"}) {
    const Configuration configuration =
        loadProcessor("targetRef: {kind: Gateway, name: t, " + std::string(section) + "}, " + kUses);
    const auto* legible = configuration.model.rejected.at(0).legible<PayloadProcessor>();
    ASSERT_NE(legible, nullptr) << section;
    EXPECT_EQ(legible->targets.at(0).object.kind, "Gateway") << section;
    EXPECT_EQ(legible->targets.at(0).sectionName, "") << section;
  }
}

TEST(RejectedPayloadProcessor, MeansAnyKindOfThatNameIfTheKindIsNotLegibleOrUnknown) {
  const auto target = [](const std::string& kind) {
    const Configuration configuration = loadProcessor("targetRef: {" + kind + ", name: t}, " + kUses);
    const auto* legible = configuration.model.rejected.at(0).legible<PayloadProcessor>();
    EXPECT_NE(legible, nullptr) << kind;
    return legible == nullptr ? PolicyTarget() : legible->targets.at(0);
  };
  for (const char* kind : {"kind: HttpRoute", "kind: Service", "group: a.test, kind: HTTPRoute"}) {
    EXPECT_TRUE(isStray(target(kind).targetKind())) << kind;
    EXPECT_EQ(target(kind).object.name, "t") << kind;
  }
  EXPECT_EQ(target("knd: HTTPRoute").object.kind, "");
  EXPECT_FALSE(isStray(target("group: '', kind: Service").targetKind()));
  EXPECT_FALSE(isStray(target("group: multicluster.x-k8s.io, kind: ServiceImport").targetKind()))
      << "that is for another gateway";
  EXPECT_TRUE(isStray(target("group: gateway.networking.k8s.io, kind: ServiceImport").targetKind()))
      << "no group of ours has it";
  EXPECT_FALSE(target("kind: Backend").groupLegible) << "Backends of all groups are meant";
}

TEST(RejectedPayloadProcessor, LeavesItsPreviousVersionInService) {
  const auto text = [](const std::string& rest) {
    return std::vector<SourceText>{
        {"a.yaml", object(kOwnVersion, "PayloadProcessor", "p",
                          "spec: {targetRef: {kind: Gateway, name: t}, " + kUses + rest + "}\n")}};
  };
  const Configuration good = loadTexts(text(""), base::Secret());
  const Configuration bad = loadTexts(text(", surprise: 1"), base::Secret(), &good.model);
  EXPECT_EQ(bad.model.all<PayloadProcessor>().size(), 1u);
  ASSERT_EQ(bad.model.kept.size(), 1u);
  EXPECT_EQ(bad.model.kept[0].legible<PayloadProcessor>(), nullptr);
}

TEST(PayloadProcessingPipeline, LoadsTheProposalsExampleUnchanged) {
  const Configuration configuration = loadText(R"(
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: PayloadProcessingPipeline
metadata:
  name: prompt-injection-protection
spec:
  processors:
  - name: malicious-prompt-prevention
    backendRefs:
    - kind: Service
      name: sql-injection-scanner
    config:
      timeout: "250ms"
      failureMode: open
      context:
        tenant_id: "customer-a"
)");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const PayloadProcessingPipeline* pipeline = configuration.model.find<PayloadProcessingPipeline>(
      kGatewayGroup, PayloadProcessingPipeline::kKind, "default", "prompt-injection-protection");
  ASSERT_NE(pipeline, nullptr);
  EXPECT_EQ(pipeline->processors.at(0).failOpen, true);
  EXPECT_EQ(configuration.model.find<PayloadProcessingPipeline>(kOwnGroup, PayloadProcessingPipeline::kKind, "default",
                                                                "prompt-injection-protection"),
            nullptr);
}

TEST(PayloadProcessingPipeline, RequiresProcessors) {
  const auto problems = [](const std::string& rest) {
    return rendered(loadText(object(kOwnVersion, "PayloadProcessingPipeline", "p", rest)).problems);
  };
  EXPECT_THAT(problems(""), ElementsAre(EndsWith("spec: is required")));
  EXPECT_THAT(problems("spec: {}\n"), ElementsAre(EndsWith("spec.processors: is required")));
  EXPECT_THAT(problems("spec: {processors: []}\n"), ElementsAre(EndsWith("must have at least one item")));
  EXPECT_THAT(problems("spec: {processor: []}\n"),
              ElementsAre(EndsWith("spec.processors: is required"), HasSubstr("did you mean processors?")));
}

TEST(PayloadProcessingPipeline, IsDistinguishedFromOthersOfOneNameByItsGroup) {
  const auto pipeline = [](const char* version, const std::string& use) {
    return object(version, "PayloadProcessingPipeline", "p",
                  "spec: {processors: [{name: " + use + ", type: a.b/K:v1}]}\n");
  };
  const Configuration configuration =
      loadText(pipeline(kOwnVersion, "own") + "---\n" + pipeline(kProposedVersion, "proposed"));
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  EXPECT_EQ(
      configuration.model.find<PayloadProcessingPipeline>(kOwnGroup, PayloadProcessingPipeline::kKind, "default", "p")
          ->processors.at(0)
          .name,
      "own");
  EXPECT_EQ(configuration.model
                .find<PayloadProcessingPipeline>(kGatewayGroup, PayloadProcessingPipeline::kKind, "default", "p")
                ->processors.at(0)
                .name,
            "proposed");
}

}  // namespace
}  // namespace sluice::config
