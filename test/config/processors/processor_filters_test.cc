#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kReference =
    "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: p}}";
const std::string kInline = "{type: PayloadProcessing, payloadProcessing: [{name: a, type: a.b/K:v1}]}";

/// These tests run for every kind of route.
class ProcessorFilters : public ::testing::TestWithParam<const char*> {
 protected:
  static Configuration load(const std::string& rule) {
    return loadText(object("gateway.networking.k8s.io/v1", GetParam(), "r", "spec:\n  rules:\n  - {" + rule + "}\n"));
  }
  static std::vector<std::string> problemsOf(const std::string& filters) {
    return rendered(load("filters: [" + filters + "]").problems);
  }
  static RouteRule ruleOf(const std::string& rule) {
    const Configuration configuration = load(rule);
    EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << rule;
    if (!configuration.model.all<HttpRoute>().empty()) return configuration.model.all<HttpRoute>()[0].rules.at(0);
    if (!configuration.model.all<GrpcRoute>().empty()) return configuration.model.all<GrpcRoute>()[0].rules.at(0);
    return {};
  }
};

INSTANTIATE_TEST_SUITE_P(OfEveryKind, ProcessorFilters, ::testing::Values("HTTPRoute", "GRPCRoute"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(ProcessorFilters, ReferToAPipeline) {
  const RouteRule rule = ruleOf("filters: [" + kReference + "]");
  ASSERT_EQ(rule.filters.processors.size(), 1u);
  const auto* ref = std::get_if<ObjectRef>(&rule.filters.processors[0]);
  ASSERT_NE(ref, nullptr);
  EXPECT_EQ(ref->group, kOwnGroup);
  EXPECT_EQ(ref->kind, PayloadProcessingPipeline::kKind);
  EXPECT_EQ(ref->name, "p");
  EXPECT_EQ(ref->path, "spec.rules[0].filters[0].extensionRef");
}

TEST_P(ProcessorFilters, KeepTheirOrder) {
  const RouteRule rule = ruleOf(
      "filters: [" + kReference + ", " + kInline +
      ", {type: RequestHeaderModifier, requestHeaderModifier: {remove: [a]}}, {type: ExtensionRef, extensionRef: "
      "{group: gateway.networking.k8s.io, kind: PayloadProcessingPipeline, name: q}}, " +
      kReference + "]");
  ASSERT_EQ(rule.filters.processors.size(), 4u);
  EXPECT_EQ(std::get<ObjectRef>(rule.filters.processors[0]).name, "p");
  EXPECT_EQ(std::get<std::vector<ProcessorUse>>(rule.filters.processors[1]).at(0).name, "a");
  EXPECT_EQ(std::get<ObjectRef>(rule.filters.processors[2]).name, "q");
  EXPECT_EQ(std::get<ObjectRef>(rule.filters.processors[2]).group, kGatewayGroup);
  EXPECT_EQ(std::get<ObjectRef>(rule.filters.processors[3]).name, "p");
}

TEST_P(ProcessorFilters, AreReadFromBackendRefsToo) {
  const RouteRule rule = ruleOf("backendRefs: [{name: s, port: 80, filters: [" + kReference + ", " + kInline + "]}]");
  EXPECT_THAT(rule.filters.processors, IsEmpty());
  EXPECT_EQ(rule.backendRefs.at(0).filters.processors.size(), 2u);
}

TEST_P(ProcessorFilters, ReadTheProposalsInlineForm) {
  const RouteRule rule = ruleOf(
      "filters: [{type: PayloadProcessing, payloadProcessing: [{name: a, backendRefs: [{kind: Service, name: s}], "
      "config: {timeout: 500ms, failureMode: open}, context: {k: v}}, {name: b, type: InProcess, inProcess: {request: "
      "{removeHeaders: [x]}}}]}]");
  ASSERT_EQ(rule.filters.processors.size(), 1u);
  const auto& uses = std::get<std::vector<ProcessorUse>>(rule.filters.processors[0]);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].type, processor_type::kExtProc);
  EXPECT_EQ(uses[0].failOpen, true);
  EXPECT_EQ(uses[0].path, "spec.rules[0].filters[0].payloadProcessing[0]");
  EXPECT_EQ(uses[1].type, processor_type::kHeaderModifier);
}

TEST_P(ProcessorFilters, ReadTheProposalsReference) {
  const RouteRule rule = ruleOf("filters: [{type: PayloadProcessingRef, payloadProcessingRef: {name: p}}]");
  ASSERT_EQ(rule.filters.processors.size(), 1u);
  const ObjectRef& ref = std::get<ObjectRef>(rule.filters.processors[0]);
  EXPECT_EQ(ref.group, kGatewayGroup);
  EXPECT_EQ(ref.kind, PayloadProcessingPipeline::kKind);
  EXPECT_THAT(problemsOf("{type: PayloadProcessingRef, payloadProcessingRef: {kind: Service, name: p}}"),
              ElementsAre(EndsWith("kind: must be that of a PayloadProcessingPipeline")));
}

TEST_P(ProcessorFilters, LeaveOtherExtensionsUnsupported) {
  for (const char* ref : {"{group: a.b, kind: PayloadProcessingPipeline, name: p}",
                          "{group: sluice.dev, kind: Backend, name: p}", "{group: '', kind: ConfigMap, name: p}"}) {
    const RouteRule rule = ruleOf("filters: [{type: ExtensionRef, extensionRef: " + std::string(ref) + "}]");
    EXPECT_THAT(rule.filters.processors, IsEmpty()) << ref;
    ASSERT_EQ(rule.unsupported.size(), 1u) << ref;
    EXPECT_EQ(rule.unsupported[0].message, "filter ExtensionRef is not supported");
    EXPECT_TRUE(rule.unsupported[0].altersTraffic);
  }
}

TEST_P(ProcessorFilters, AreChecked) {
  EXPECT_THAT(problemsOf("{type: ExtensionRef}"),
              ElementsAre(EndsWith("extensionRef: is required when type is ExtensionRef")));
  EXPECT_THAT(problemsOf("{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline}}"),
              ElementsAre(EndsWith("extensionRef.name: is required")));
  EXPECT_THAT(problemsOf("{type: ExtensionRef, extensionRef: {kind: PayloadProcessingPipeline, name: p}}"),
              ElementsAre(EndsWith("extensionRef.group: is required")));
  EXPECT_THAT(problemsOf("{type: PayloadProcessing}"),
              ElementsAre(EndsWith("payloadProcessing: is required when type is PayloadProcessing")));
  EXPECT_THAT(problemsOf("{type: PayloadProcessing, payloadProcessing: []}"),
              ElementsAre(EndsWith("payloadProcessing: must have at least one item")));
  EXPECT_THAT(problemsOf("{type: PayloadProcessing, payloadProcessing: [{name: a, type: a.b/K:v1, phase: x}]}"),
              ElementsAre(HasSubstr("filters[0].payloadProcessing[0].phase: must be request-headers")));
  EXPECT_THAT(problemsOf("{type: PayloadProcessing, payloadProcessing: [{name: a, type: a.b/K:v1}], extensionRef: "
                         "{group: a.b, kind: K, name: n}}"),
              ElementsAre(EndsWith("extensionRef: must not be given when type is PayloadProcessing")));
}

}  // namespace
}  // namespace sluice::config
