// Tests the reader of Envoy Gateway's EnvoyExtensionPolicy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kRouteTarget = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], ";
const std::string kOneServer = "backendRefs: [{name: guard, port: 9002}]";

Configuration loadExtensions(const std::string& spec) {
  return loadText(object("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy", "p", "spec: {" + spec + "}\n"));
}

ProcessorUse extensionOf(const std::string& fields) {
  const Configuration configuration = loadExtensions(kRouteTarget + "extProc: [{" + kOneServer + fields + "}]");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << fields;
  const ExtensionPolicy* policy = configuration.model.find<ExtensionPolicy>("default", "p");
  if (policy == nullptr || policy->processors.size() != 1) return {};
  return policy->processors.front();
}

/// Returns the config without the servers as text like JSON.
std::string settingsOf(const Value& value) {
  std::string text = value.text;
  for (const Value& item : value.items) text += settingsOf(item) + ",";
  for (const Member& member : value.members) {
    if (member.key != "backendRefs") text += member.key + "=" + settingsOf(member.value) + " ";
  }
  return text;
}

constexpr const char* kSkipAll =
    "processingMode=requestHeaders=Skip requestBody=Skip responseHeaders=Skip responseBody=Skip  ";

TEST(ExtensionPolicies, AreUsesOfTheirServersWithTheDefaultsOfTheApi) {
  const ProcessorUse use = extensionOf("");
  EXPECT_EQ(use.name, "ext-proc-0");
  EXPECT_EQ(use.type, processor_type::kExtProc);
  EXPECT_EQ(use.failOpen, false);
  EXPECT_EQ(use.timeout, std::chrono::milliseconds(200));
  EXPECT_EQ(settingsOf(use.config->unpacked()), kSkipAll) << "the server gets nothing unless the policy says so";
  EXPECT_EQ(use.config->find("backendRefs")->items.at(0).find("name")->text, "guard");
  EXPECT_THAT(use.unsupported, IsEmpty());
}

TEST(ExtensionPolicies, SendTheHeadersOfTheWaysThatTheyMention) {
  EXPECT_EQ(settingsOf(extensionOf(", processingMode: {request: {}}").config->unpacked()),
            "processingMode=requestHeaders=Send requestBody=Skip responseHeaders=Skip responseBody=Skip  ");
  EXPECT_EQ(
      settingsOf(extensionOf(", processingMode: {request: {body: Buffered}, response: {body: BufferedPartial}}")
                     .config->unpacked()),
      "processingMode=requestHeaders=Send requestBody=Buffered responseHeaders=Send responseBody=BufferedPartial  ");
  EXPECT_EQ(settingsOf(extensionOf(", processingMode: {response: {body: FullDuplexStreamed}}").config->unpacked()),
            "processingMode=requestHeaders=Skip requestBody=Skip responseHeaders=Send "
            "responseBody=FullDuplexStreamed responseTrailers=Send  ")
      << "such a server gets trailers too";
}

TEST(ExtensionPolicies, HaveEverySettingOfTheApi) {
  const ProcessorUse use = extensionOf(
      ", messageTimeout: 1s, failOpen: true, shadowMode: true, statusOnError: 503, processingMode: {allowModeOverride: "
      "true, request: {attributes: [request.path, source.address]}, response: {attributes: [response.code]}}");
  EXPECT_EQ(use.timeout, std::chrono::seconds(1));
  EXPECT_EQ(use.failOpen, true);
  EXPECT_EQ(settingsOf(use.config->unpacked()),
            "requestAttributes=request.path,source.address, responseAttributes=response.code, processingMode="
            "requestHeaders=Send requestBody=Skip responseHeaders=Send responseBody=Skip  allowModeOverride=true "
            "observabilityMode=true statusOnError=503 ");
}

TEST(ExtensionPolicies, RememberWhatIsNotSupportedOfAServer) {
  for (const char* fields : {", backendSettings: {http2: {}}", ", metadata: {accessibleNamespaces: [a]}",
                             ", metadata: {writableNamespaces: [a]}"}) {
    const ProcessorUse use = extensionOf(fields);
    ASSERT_EQ(use.unsupported.size(), 1U) << fields;
    EXPECT_TRUE(use.unsupported[0].altersTraffic);
    EXPECT_THAT(use.unsupported[0].path, HasSubstr("spec.extProc[0]."));
  }
  EXPECT_THAT(extensionOf(", metadata: {accessibleNamespaces: []}").unsupported, IsEmpty());
}

TEST(ExtensionPolicies, RememberExtensionsOfOtherTypes) {
  for (const char* field : {"wasm: [{name: w}]", "lua: [{type: Inline}]", "dynamicModules: [{name: d}]",
                            "backends: [{name: b}]", "mergeType: StrategicMerge"}) {
    const Configuration configuration = loadExtensions(kRouteTarget + field);
    ASSERT_EQ(configuration.model.all<ExtensionPolicy>().size(), 1U) << field;
    EXPECT_EQ(configuration.model.all<ExtensionPolicy>()[0].unsupported.size(), 1U) << field;
  }
}

TEST(ExtensionPolicies, HaveTargetsAndSelectors) {
  const Configuration configuration = loadExtensions(
      "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g, sectionName: web}, targetSelectors: "
      "[{kind: "
      "GRPCRoute, matchLabels: {a: b}}]");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const ExtensionPolicy& policy = configuration.model.all<ExtensionPolicy>().at(0);
  EXPECT_EQ(policy.targets.at(0).sectionName, "web");
  EXPECT_EQ(policy.selectors.size(), 1U);
  EXPECT_THAT(policy.processors, IsEmpty()) << "it may stand for no processors at all";
}

TEST(ExtensionPolicies, AreRefusedWithTheirTargetsLegible) {
  for (const auto& [spec, message] : {
           std::pair(kRouteTarget + "extProc: [{}]", "spec.extProc[0].backendRefs: is required"),
           std::pair(kRouteTarget + "extProc: [{backendRefs: []}]", "backendRefs: must have at least one item"),
           std::pair(kRouteTarget + "extProc: [{" + kOneServer + ", statusOnError: 399}]", "statusOnError"),
           std::pair(kRouteTarget + "extProc: [{" + kOneServer + ", processingMode: {request: {body: Skip}}}]", "body"),
           std::pair(kRouteTarget + "extProc: [{" + kOneServer +
                         ", failOpen: true, processingMode: {request: {body: FullDuplexStreamed}}}]",
                     "must not be FullDuplexStreamed if failOpen is true"),
           std::pair(kRouteTarget + "surprise: 1", "spec.surprise"),
       }) {
    const Configuration configuration = loadExtensions(spec);
    EXPECT_THAT(rendered(configuration.problems), Contains(HasSubstr(message))) << spec;
    ASSERT_EQ(configuration.model.rejected.size(), 1U) << spec;
    const auto* legible = configuration.model.rejected[0].legible<ExtensionPolicy>();
    ASSERT_NE(legible, nullptr) << spec;
    EXPECT_EQ(legible->targets.at(0).object.name, "r");
  }
}

TEST(ExtensionPolicies, SelectWhatHasRules) {
  for (const char* kind : {"group: '', kind: Service", "group: sluice.dev, kind: Backend"}) {
    const Configuration configuration =
        loadExtensions("targetSelectors: [{" + std::string(kind) + ", matchLabels: {a: b}}]");
    EXPECT_THAT(rendered(configuration.problems),
                ElementsAre(HasSubstr("spec.targetSelectors[0].kind: must be Gateway, HTTPRoute or GRPCRoute")))
        << kind;
    const auto* legible = configuration.model.rejected.at(0).legible<ExtensionPolicy>();
    ASSERT_NE(legible, nullptr) << kind;
    EXPECT_EQ(legible->selectors.size(), 1U) << kind;
  }
  EXPECT_THAT(rendered(loadExtensions("targetSelectors: [{kind: HTTPRout, matchLabels: {a: b}}]").problems),
              ElementsAre(HasSubstr("spec.targetSelectors[0].kind: is no kind that policies can be for; did you mean "
                                    "HTTPRoute of gateway.networking.k8s.io?")));
}

TEST(ExtensionPolicies, AreOfferedNoKindInPlaceOfOneThatExists) {
  EXPECT_THAT(rendered(loadExtensions("targetRefs: [{group: '', kind: Service, name: s}]").problems),
              ElementsAre(EndsWith("must be Gateway, HTTPRoute or GRPCRoute of gateway.networking.k8s.io, but is "
                                   "\"Service\"")));
  EXPECT_THAT(rendered(loadExtensions("targetRefs: [{group: sluice.dev, kind: Backend, name: b}]").problems),
              ElementsAre(EndsWith("but is \"Backend.sluice.dev\"")));
}

TEST(ExtensionPolicies, TargetWhatHasRules) {
  EXPECT_THAT(rendered(loadExtensions("targetRefs: [{group: '', kind: Service, name: s}]").problems),
              ElementsAre(HasSubstr("spec.targetRefs[0].kind: must be Gateway, HTTPRoute or GRPCRoute")));
  EXPECT_THAT(
      rendered(loadExtensions("targetRefs: [{group: gateway.networking.k8s.io, kind: TCPRoute, name: t}]").problems),
      IsEmpty())
      << "the API allows it";
  EXPECT_THAT(rendered(loadExtensions("extProc: []").problems), ElementsAre(HasSubstr("spec.targetRefs: is required")));
}

}  // namespace
}  // namespace sluice::config
