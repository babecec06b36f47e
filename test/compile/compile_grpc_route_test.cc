#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::RequestMaker;
using test::with;
using test::World;

constexpr std::string_view kRpc = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: rpc, generation: 7}
spec:
  parentRefs: [{name: egress}]
  rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]
)";

std::string matching(const std::string& match) {
  return with(kRpc, "rules: [{", "rules: [{matches: [" + match + "], ");
}

const routing::Rule* call(const World& world, const std::string& path, RequestMaker::Fields fields = {}) {
  return world.rule(RequestMaker("POST", "a.test", path, fields));
}

/// Returns the status of the rule's local reply; 0 if the rule has a Backend.
int failureOf(const routing::Rule* rule) {
  if (rule == nullptr) return 404;
  if (rule->failure) return rule->failure->status;
  const routing::WeightedBackend* weighted = rule->choose(0);
  if (weighted == nullptr) return rule->withoutBackend().status;
  return weighted->failure ? weighted->failure->status : 0;
}

TEST(CompileGrpcRoute, AttachesAndSendsCallsToItsBackendOverHttp2) {
  const World world({kClass, kGateway, kBackend, kRpc});
  EXPECT_EQ(world.condition("GRPCRoute", "rpc", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("GRPCRoute", "rpc", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(world.status("GRPCRoute", "rpc")->parents.front().conditions.front().observedGeneration, 7);
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
  const routing::Rule* rule = call(world, "/a.B/Get");
  ASSERT_NE(rule, nullptr);
  EXPECT_TRUE(rule->grpc);
  EXPECT_EQ(rule->route, "default/rpc");
  EXPECT_EQ(rule->choose(0)->backend->protocol, routing::UpstreamProtocol::kHttp2);
  ASSERT_EQ(world.snapshot().backends.size(), 1U);
  EXPECT_EQ(world.snapshot().backends.front()->protocol, routing::UpstreamProtocol::kHttp2);
}

TEST(CompileGrpcRoute, SharesABackendWithHttpRoutesByAnotherIdentity) {
  const World world({kClass, kGateway, kBackend, with(kRpc, "spec:", "spec:\n  hostnames: [rpc.test]"),
                     with(kRoute, "spec:", "spec:\n  hostnames: [web.test]")});
  ASSERT_EQ(world.snapshot().backends.size(), 2U);
  EXPECT_NE(world.snapshot().backends[0]->identity, world.snapshot().backends[1]->identity);
  EXPECT_FALSE(world.rule(RequestMaker("GET", "web.test", "/"))->grpc);
  EXPECT_EQ(world.rule(RequestMaker("GET", "web.test", "/"))->choose(0)->backend->protocol,
            routing::UpstreamProtocol::kAuto);
}

TEST(CompileGrpcRoute, MatchesServiceMethodAndHeaders) {
  const World world({kClass, kGateway, kBackend,
                     matching("{method: {service: a.B, method: Get}, headers: [{name: X-A, value: '1'}]}, {method: "
                              "{type: RegularExpression, service: 'c\\..*', method: P.*}}")});
  EXPECT_NE(call(world, "/a.B/Get", {{"x-a", "1"}}), nullptr);
  EXPECT_EQ(call(world, "/a.B/Get"), nullptr);
  EXPECT_EQ(call(world, "/a.B/Put", {{"x-a", "1"}}), nullptr);
  EXPECT_NE(call(world, "/c.D/Put"), nullptr);
  EXPECT_EQ(call(world, "/c.D/Get"), nullptr);
}

TEST(CompileGrpcRoute, AppliesItsFilters) {
  const World world({kClass, kGateway, kBackend,
                     with(kRpc, "rules: [{",
                          "rules: [{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x, "
                          "value: y}]}}, {type: ResponseHeaderModifier, responseHeaderModifier: {remove: [z]}}], ")});
  EXPECT_EQ(call(world, "/a/b")->requestHeaders->set.size(), 1U);
  EXPECT_EQ(call(world, "/a/b")->responseHeaders->remove.size(), 1U);
}

TEST(CompileGrpcRoute, AnswersUnavailableForRulesThatItCannotServe) {
  const World missing({kClass, kGateway, kRpc});
  EXPECT_EQ(failureOf(call(missing, "/a/b")), 503);
  EXPECT_EQ(missing.condition("GRPCRoute", "rpc", "ResolvedRefs"), "False/BackendNotFound");
  const World filter(
      {kClass, kGateway, kBackend,
       with(kRpc, "rules: [{",
            "rules: [{filters: [{type: ExtensionRef, extensionRef: {group: a.b, kind: C, name: d}}], ")});
  EXPECT_EQ(failureOf(call(filter, "/a/b")), 503);
  EXPECT_EQ(filter.condition("GRPCRoute", "rpc", "Accepted"), "False/UnsupportedValue");
  const World expression({kClass, kGateway, kBackend, matching("{method: {type: RegularExpression, method: '('}}")});
  EXPECT_EQ(expression.condition("GRPCRoute", "rpc", "Accepted"), "False/UnsupportedValue");
  const World none({kClass, kGateway,
                    with(kRpc,
                         "rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, "
                         "name: origin, port: 8080}]}]",
                         "rules: [{}]")});
  EXPECT_EQ(failureOf(call(none, "/a/b")), 503);
  const World noWeight({kClass, kGateway, kBackend, with(kRpc, "port: 8080", "port: 8080, weight: 0")});
  EXPECT_EQ(failureOf(call(noWeight, "/a/b")), 503);
  EXPECT_NE(noWeight.message("GRPCRoute", "rpc", "Accepted").find("UNAVAILABLE"), std::string::npos);
}

TEST(CompileGrpcRoute, RefusesBackendsThatSpeakHttp11) {
  const World world({kClass, kGateway, R"(
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackend
metadata: {name: old}
spec: {type: ExternalHostname, externalHostname: {hostname: old.test}, port: {port: 80}, protocol: HTTP11}
)",
                     with(kRpc, "group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080",
                          "group: gateway.networking.x-k8s.io, kind: XBackend, name: old, port: 80")});
  EXPECT_EQ(world.condition("GRPCRoute", "rpc", "ResolvedRefs"), "False/UnsupportedProtocol");
  EXPECT_EQ(failureOf(call(world, "/a/b")), 503);
}

TEST(CompileGrpcRoute, RequiresAGrantOfItsOwnForABackendOfAnotherNamespace) {
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: other}\nspec: "
      "{from: [{group: gateway.networking.k8s.io, kind: KIND, namespace: default}], to: [{group: "
      "gateway.networking.k8s.io, kind: Backend}]}\n";
  const std::string backend = with(kBackend, "{name: origin,", "{name: origin, namespace: other,");
  const std::string route = with(kRpc, "name: origin", "name: origin, namespace: other");
  const World forHttp({kClass, kGateway, backend, route, with(grant, "KIND", "HTTPRoute")});
  EXPECT_EQ(forHttp.condition("GRPCRoute", "rpc", "ResolvedRefs"), "False/RefNotPermitted");
  const World forGrpc({kClass, kGateway, backend, route, with(grant, "KIND", "GRPCRoute")});
  EXPECT_EQ(forGrpc.condition("GRPCRoute", "rpc", "ResolvedRefs"), "True/ResolvedRefs");
}

TEST(CompileGrpcRoute, AnswersUnavailableIfItsSchemaRefusesIt) {
  const World world({kClass, kGateway, kBackend, with(kRpc, "spec:", "spec:\n  surprise: 1\n  hostnames: [a.test]")});
  EXPECT_EQ(world.condition("GRPCRoute", "rpc", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 0);
  EXPECT_EQ(failureOf(call(world, "/a/b")), 503);
  const World mute({kClass, kGateway, kBackend, with(kRpc, "spec:", "spec:\n  surprise: 1")});
  EXPECT_EQ(mute.condition("GRPCRoute", "rpc", "Accepted"), "False/Invalid");
}

}  // namespace
}  // namespace sluice::compile
