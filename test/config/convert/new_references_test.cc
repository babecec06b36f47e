// Tests that references follow the objects that are converted, and no others.
#include "config/convert/new_references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "test/config/convert/converted.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NewReferences, LeadToTheCounterparts) {
  const Model model = convertedModel(
      object("gateway.networking.k8s.io/v1", "HTTPRoute", "r",
             "spec: {parentRefs: [{group: ainetworking.prototype.x-k8s.io, kind: EgressGateway, name: g}], rules: "
             "[{filters: [{type: PayloadProcessingRef, payloadProcessingRef: {name: a}}, {type: ExtensionRef, "
             "extensionRef: {group: ainetworking.prototype.x-k8s.io, kind: XPayloadProcessor, name: b}}], backendRefs: "
             "[{group: ainetworking.prototype.x-k8s.io, kind: Backend, name: x, namespace: n, port: 80}, {group: "
             "gateway.networking.x-k8s.io, kind: XBackend, name: y}, {name: service, port: 80}]}]}\n"));
  const HttpRoute& route = model.all<HttpRoute>().front();
  EXPECT_EQ(route.parentRefs.front().object.kind, Gateway::kKind);
  EXPECT_EQ(route.parentRefs.front().object.group, kGatewayGroup);
  const HttpRouteRule& rule = route.rules.front();
  for (const ProcessorFilter& each : rule.filters.processors) {
    EXPECT_EQ(std::get<ObjectRef>(each).group, kOwnGroup);
    EXPECT_EQ(std::get<ObjectRef>(each).kind, PayloadProcessingPipeline::kKind);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rule.backendRefs[i].object.group, kOwnGroup);
    EXPECT_EQ(rule.backendRefs[i].object.kind, Backend::kKind);
  }
  EXPECT_EQ(rule.backendRefs[0].object.nameSpace, "n");
  EXPECT_EQ(rule.backendRefs[2].object.group, "");
}

TEST(NewReferences, OfPoliciesNameTheirTargetsAnew) {
  const Model model = convertedModel(
      object("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "t",
             "spec: {targetRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: b}], validation: {hostname: "
             "a.test, wellKnownCACertificates: System}}\n"));
  EXPECT_EQ(model.all<BackendTlsPolicy>().front().targets.front().object.group, kOwnGroup);
}

constexpr const char* kResolver =
    "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {name: any, namespace: n}\n"
    "spec: {type: DynamicResolver}\n";

TEST(NewReferences, ToObjectsThatStayAreTheOldOnes) {
  const std::string route =
      object("gateway.networking.k8s.io/v1", "HTTPRoute", "r",
             "spec: {rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: any, namespace: n}, "
             "{group: gateway.envoyproxy.io, kind: Backend, name: any}]}]}\n");
  const Model model = loadText(convertText(route + kResolver).text).model;
  const auto& refs = model.all<HttpRoute>().front().rules.front().backendRefs;
  EXPECT_EQ(refs[0].object.group, kEnvoyGroup);
  EXPECT_EQ(refs[1].object.group, kOwnGroup) << "another object, which is not among these";
}

TEST(NewReferences, AreStillPermitted) {
  const std::string grant = object(
      "gateway.networking.k8s.io/v1beta1", "ReferenceGrant", "g",
      "spec: {from: [{group: gateway.envoyproxy.io, kind: EnvoyExtensionPolicy, namespace: a}, {group: "
      "gateway.networking.k8s.io, kind: PayloadProcessor, namespace: a}], to: [{group: gateway.envoyproxy.io, kind: "
      "Backend}, {group: gateway.networking.x-k8s.io, kind: XBackend}]}\n");
  const Model model = convertedModel(grant);
  const ReferenceGrant& renewed = model.all<ReferenceGrant>().front();
  ASSERT_EQ(renewed.from.size(), 1u) << "both are the same now";
  EXPECT_EQ(renewed.from.front().kind, PayloadProcessor::kKind);
  ASSERT_EQ(renewed.to.size(), 1u);
  EXPECT_EQ(renewed.to.front().group, kOwnGroup);
  const Model mixed = loadText(convertText(grant + kResolver).text).model;
  ASSERT_EQ(mixed.all<ReferenceGrant>().front().to.size(), 2u) << "one for the object that stays";
  EXPECT_EQ(mixed.all<ReferenceGrant>().front().to.front().group, kEnvoyGroup);
}

TEST(NewReferences, InTextsOfConfigMapsAreRenewedToo) {
  const std::string text = convertText(
                               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: catalog}\ndata:\n"
                               "  remote.yaml: |\n    # lost\n    extProc: {backendRefs: [{group: "
                               "gateway.envoyproxy.io, kind: Backend, name: b}]}\n"
                               "  other.yaml: |\n    # kept\n    type: a\n"
                               "  notes.txt: 'group: gateway.envoyproxy.io, kind: Backend'\n")
                               .text;
  EXPECT_THAT(text, HasSubstr("# kept"));
  EXPECT_THAT(text, Not(HasSubstr("# lost")));
  EXPECT_THAT(text, HasSubstr("group: gateway.envoyproxy.io, kind: Backend"));
  const Model model = loadText(text).model;
  EXPECT_THAT(model.all<ConfigMap>().front().data.at("remote.yaml").value, HasSubstr("\"sluice.dev\""));
}

}  // namespace
}  // namespace sluice::config
