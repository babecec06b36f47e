// Tests successive compilations: unchanged parts stay the same objects, and the result equals that of a first
// compilation.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "test/compile/compile_world.h"
#include "test/compile/compiled_folder.h"
#include "test/compile/processor_types.h"
#include "test/compile/processors/server_type.h"

namespace sluice::compile {
namespace {

using test::CompiledFolder;
using test::RequestMaker;
using test::with;

constexpr std::string_view kSecondBackend = R"(
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {name: second}
spec: {destination: {type: FQDN, fqdn: {hostname: second.test, port: 8080}}}
)";

constexpr std::string_view kShopService =
    "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {ports: [{port: 80}]}\n";

std::string shopSlice(std::string_view addresses) {
  return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: shop-1, labels: "
         "{kubernetes.io/service-name: shop}}\naddressType: IPv4\nendpoints: [" +
         std::string(addresses) + "]\nports: [{name: '', port: 8080}]\n";
}

std::string routeToBackend(const std::string& name, const std::string& backend, const std::string& more = {}) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
         "}\nspec:\n  parentRefs: [{name: egress}]\n  rules: [{matches: [{path: {value: /" + name +
         "}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: " + backend + "}]" + more + "}]\n";
}

constexpr const char* kRetries =
    "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: retries}\nspec: {targetRefs: [{group: "
    "gateway.networking.k8s.io, kind: HTTPRoute, name: a}], retry: {attempts: 3}}\n";

class CompileCacheTest : public testing::Test {
 protected:
  CompileCacheTest() {
    folder_.write("class.yaml", std::string(test::kClass));
    folder_.write("gateway.yaml", std::string(test::kGateway));
    folder_.write("first.yaml", std::string(test::kBackend));
    folder_.write("second.yaml", std::string(kSecondBackend));
    folder_.write("a.yaml", routeToBackend("a", "origin"));
    folder_.write("b.yaml", routeToBackend("b", "second"));
    folder_.compile();
  }

  CompiledFolder folder_;
};

TEST_F(CompileCacheTest, FollowsTrafficPoliciesThatComeAndGo) {
  const routing::Rule* const other = folder_.rule("/b");
  EXPECT_FALSE(folder_.rule("/a")->retry);
  folder_.write("policy.yaml", kRetries);
  folder_.compile();
  EXPECT_TRUE(folder_.rule("/a")->retry);
  EXPECT_EQ(folder_.rule("/b"), other);
  folder_.write("policy.yaml", "");
  folder_.compile();
  EXPECT_FALSE(folder_.rule("/a")->retry);
}

TEST_F(CompileCacheTest, FollowsTrafficPoliciesOfGatewaysThatComeAndGo) {
  const routing::Rule* const before = folder_.rule("/a");
  const std::string ofGateway = with(kRetries, "kind: HTTPRoute, name: a", "kind: Gateway, name: egress");
  folder_.write("policy.yaml", ofGateway);
  folder_.compile();
  EXPECT_EQ(folder_.rule("/a")->retry->attempts, 3u);
  EXPECT_EQ(folder_.rule("/b")->retry->attempts, 3u);
  folder_.write("policy.yaml", with(ofGateway, "attempts: 3", "attempts: 4"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/a")->retry->attempts, 4u);
  folder_.write("policy.yaml", "");
  folder_.compile();
  EXPECT_EQ(folder_.rule("/a"), before) << "the route itself was not compiled again";
}

TEST_F(CompileCacheTest, KeepsTheRulesOfRoutesThatPoliciesGovern) {
  const std::string ofBackend = with(kRetries, "kind: HTTPRoute, name: a}], retry: {attempts: 3}",
                                     "kind: Backend, name: origin}], timeout: {tcp: {connectTimeout: 3s}}");
  const std::string ofGateway = with(kRetries, "kind: HTTPRoute, name: a", "kind: Gateway, name: egress");
  for (const std::string& policy : {std::string(kRetries), ofBackend, ofGateway}) {
    folder_.write("policy.yaml", policy);
    folder_.compile();
    const routing::Rule* const a = folder_.rule("/a");
    const routing::Rule* const b = folder_.rule("/b");
    folder_.write("b.yaml", routeToBackend("b", "second", ", timeouts: {request: 1s}"));
    folder_.compile();
    EXPECT_EQ(folder_.rule("/a"), a) << policy;
    EXPECT_NE(folder_.rule("/b"), b) << policy;
    folder_.write("b.yaml", routeToBackend("b", "second"));
    folder_.write("policy.yaml", with(policy, "3", "4"));
    folder_.compile();
    EXPECT_NE(folder_.rule("/a"), a) << policy;
  }
}

TEST_F(CompileCacheTest, KeepsTheRulesOfRoutesWithMirrorsToGovernedBackends) {
  folder_.write("policy.yaml", with(kRetries, "kind: HTTPRoute, name: a}], retry: {attempts: 3}",
                                    "kind: Backend, name: origin}], timeout: {tcp: {connectTimeout: 3s}}"));
  folder_.write("b.yaml", routeToBackend("b", "second",
                                         ", filters: [{type: RequestMirror, requestMirror: {backendRef: {group: "
                                         "gateway.networking.k8s.io, kind: Backend, name: origin}}}]"));
  folder_.compile();
  const routing::Rule* const b = folder_.rule("/b");
  ASSERT_EQ(b->mirrors.size(), 1u);
  folder_.compile();
  EXPECT_EQ(folder_.rule("/b"), b);
}

TEST(CompileCache, KeepsTheRulesOfRoutesWithPayloadProcessors) {
  CompiledFolder folder(test::processorTypes());
  folder.write("class.yaml", std::string(test::kClass));
  folder.write("gateway.yaml", std::string(test::kGateway));
  folder.write("origin.yaml", with(test::kBackend, "spec: {", "spec: {tls: {mode: Terminate}, "));
  folder.write("token.yaml", test::secret("token", {{"key", "one"}}));
  const std::string use = "{name: a, type: 'sluice.dev/Test:v1', phase: request-headers, config: {secret: token}}";
  folder.write("a.yaml", routeToBackend("a", "origin",
                                        ", filters: [{type: PayloadProcessing, payloadProcessing: [" + use + "]}]"));
  folder.write("b.yaml", routeToBackend("b", "origin"));
  folder.write(
      "processor.yaml",
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n  targetRef: {group: "
      "gateway.networking.k8s.io, kind: HTTPRoute, name: b}\n  processors: [" +
          use + "]\n");
  folder.compile();
  const routing::Rule* const a = folder.rule("/a");
  const routing::Rule* const b = folder.rule("/b");
  ASSERT_TRUE(a->chain && b->chain);
  folder.write("c.yaml", routeToBackend("c", "origin"));
  folder.compile();
  EXPECT_EQ(folder.rule("/a"), a);
  EXPECT_EQ(folder.rule("/b"), b);
  folder.write("token.yaml", test::secret("token", {{"key", "two"}}));
  folder.compile();
  EXPECT_NE(folder.rule("/a"), a);
  EXPECT_NE(folder.rule("/b"), b);
}

/// Compiles the folder while a policy for the Service "shop" comes, changes and goes. `found` returns the plan of the
/// rule for /b that leads to the Service.
template <typename Found>
void expectFollowsPoliciesOfTheService(CompiledFolder& folder, Found&& found) {
  const std::string policy = with(kRetries,
                                  "group: gateway.networking.k8s.io, kind: HTTPRoute, name: a}], retry: {"
                                  "attempts: 3}",
                                  "group: '', kind: Service, name: shop}], timeout: {tcp: {connectTimeout: 3s}}");
  folder.compile();
  const std::string plain = found()->identity.text();
  EXPECT_FALSE(found()->connection.connectTimeout);
  for (const char* const each : {"3s", "4s"}) {
    folder.write("policy.yaml", with(policy, "3s", each));
    folder.compile();
    EXPECT_EQ(found()->connection.connectTimeout, std::chrono::seconds(each[0] - '0'));
    const routing::Rule* const rule = folder.rule("/b");
    const routing::BackendPlan* const plan = found();
    for (const char* const address : {"10.0.0.2", "10.0.0.3"}) {
      folder.write("slice.yaml", shopSlice("{addresses: [" + std::string(address) + "]}"));
      folder.compile();
      EXPECT_EQ(folder.rule("/b"), rule) << "nothing of it has changed";
      EXPECT_EQ(found(), plan);
      EXPECT_EQ(folder.endpoints(), std::string(address) + " ");
    }
  }
  folder.write("policy.yaml", "");
  folder.compile();
  EXPECT_EQ(found()->identity.text(), plain);
}

TEST(CompileCache, FollowsPoliciesForTheServersOfPayloadProcessors) {
  for (const bool isAttached : {false, true}) {
    CompiledFolder folder(test::typesWithServers());
    folder.write("class.yaml", std::string(test::kClass));
    folder.write("gateway.yaml", std::string(test::kGateway));
    folder.write("second.yaml", std::string(kSecondBackend));
    folder.write("service.yaml", std::string(kShopService));
    folder.write("slice.yaml", shopSlice("{addresses: [10.0.0.1]}"));
    const std::string uses =
        "[{name: a, type: 'sluice.dev/ExtProc:v1', config: {backendRefs: [{name: shop, port: 80}]}}]";
    const std::string filter = ", filters: [{type: PayloadProcessing, payloadProcessing: " + uses + "}]";
    folder.write("b.yaml", routeToBackend("b", "second", isAttached ? "" : filter));
    if (isAttached) {
      folder.write("processor.yaml",
                   "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec: {targetRef: "
                   "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: b}, processors: " +
                       uses + "}\n");
    }
    expectFollowsPoliciesOfTheService(folder, [&folder]() -> const routing::BackendPlan* {
      return routing::planOf(*folder.rule("/b")->chain->targets().at(0)).get();
    });
  }
}

TEST_F(CompileCacheTest, FollowsPoliciesForTheServicesOfMirrors) {
  folder_.write("service.yaml", std::string(kShopService));
  folder_.write("slice.yaml", shopSlice("{addresses: [10.0.0.1]}"));
  const std::string mirror = "filters: [{type: RequestMirror, requestMirror: {backendRef: {name: shop, port: 80}}}]";
  folder_.write("b.yaml", routeToBackend("b", "second", ", " + mirror));
  expectFollowsPoliciesOfTheService(folder_, [this] { return folder_.rule("/b")->mirrors.at(0).backend.get(); });
  folder_.write("b.yaml", with(routeToBackend("b", "second"), "name: second}", "name: second, " + mirror + "}"));
  expectFollowsPoliciesOfTheService(folder_,
                                    [this] { return folder_.rule("/b")->backends.at(0).mirrors.at(0).backend.get(); });
}

TEST_F(CompileCacheTest, KeepsTheRulesOfUnchangedRoutes) {
  const routing::Rule* a = folder_.rule("/a");
  const routing::Rule* b = folder_.rule("/b");
  ASSERT_NE(a, nullptr);
  folder_.write("b.yaml", routeToBackend("b", "second", ", timeouts: {request: 1s}"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/a"), a);
  EXPECT_NE(folder_.rule("/b"), b);
  EXPECT_EQ(folder_.rule("/b")->requestTimeout, std::chrono::seconds(1));
}

TEST_F(CompileCacheTest, RecompilesRoutesIfTheirBackendChanged) {
  const routing::Rule* a = folder_.rule("/a");
  const routing::Rule* b = folder_.rule("/b");
  folder_.write("second.yaml", with(kSecondBackend, "second.test", "third.test"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/a"), a);
  ASSERT_NE(folder_.rule("/b"), b);
  EXPECT_EQ(folder_.rule("/b")->backends.front().backend->hostname, "third.test");
}

TEST_F(CompileCacheTest, RecompilesRoutesIfTheirBackendWasAddedOrRemoved) {
  folder_.write("second.yaml", "");
  folder_.compile();
  EXPECT_TRUE(folder_.rule("/b")->backends.front().failure);
  const routing::Rule* broken = folder_.rule("/b");
  folder_.compile();
  EXPECT_EQ(folder_.rule("/b"), broken) << "a fault that stays is no change";
  folder_.write("second.yaml", std::string(kSecondBackend));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/b")->backends.front().backend->name, "default/second");
}

TEST_F(CompileCacheTest, KeepsTheRulesOfRoutesWhenEndpointsOfTheirServiceComeAndGo) {
  folder_.write("service.yaml", std::string(kShopService));
  folder_.write("slice.yaml", shopSlice("{addresses: [10.0.0.1]}"));
  folder_.write(
      "b.yaml",
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: b}\nspec:\n  parentRefs: "
      "[{name: egress}]\n  rules: [{matches: [{path: {value: /b}}], backendRefs: [{name: shop, port: 80}]}]\n");
  folder_.compile();
  const routing::Rule* b = folder_.rule("/b");
  EXPECT_EQ(folder_.endpoints(), "10.0.0.1 ");
  for (const auto& [written, endpoints] :
       {std::pair("{addresses: [10.0.0.2]}, {addresses: [10.0.0.3]}", "10.0.0.2 10.0.0.3 "),
        {"", ""},
        {"{addresses: [10.0.0.1]}", "10.0.0.1 "}}) {
    folder_.write("slice.yaml", shopSlice(written));
    folder_.compile();
    EXPECT_EQ(folder_.rule("/b"), b);
    EXPECT_EQ(folder_.endpoints(), endpoints);
  }
}

TEST_F(CompileCacheTest, KeepsTheRulesOfRoutesWhenEndpointsOfTheServiceOfABackendComeAndGo) {
  folder_.write("service.yaml", std::string(kShopService));
  folder_.write("slice.yaml", shopSlice("{addresses: [10.0.0.1]}"));
  folder_.write("first.yaml",
                "apiVersion: gateway.networking.k8s.io/v1alpha1\nkind: Backend\nmetadata: {name: origin}\nspec: "
                "{destination: {type: Service, service: {name: shop}, ports: [{number: 80}]}, tls: {mode: Simple}}\n");
  folder_.compile();
  const routing::Rule* a = folder_.rule("/a");
  for (const auto& [written, endpoints] : {std::pair("{addresses: [10.0.0.2]}", "10.0.0.2 10.0.0.2 "),
                                           {"", ""},
                                           {"{addresses: [10.0.0.1]}", "10.0.0.1 10.0.0.1 "}}) {
    folder_.write("slice.yaml", shopSlice(written));
    folder_.compile();
    EXPECT_EQ(folder_.rule("/a"), a);
    EXPECT_EQ(folder_.endpoints(), endpoints) << "over both versions of HTTP";
  }
}

TEST_F(CompileCacheTest, FollowsTheEndpointsOfAServiceOfGrpcRoutes) {
  folder_.write("service.yaml", std::string(kShopService));
  folder_.write("slice.yaml", shopSlice("{addresses: [10.0.0.1]}"));
  folder_.write(
      "a.yaml",
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {name: a, creationTimestamp: "
      "\"2026-01-31T23:59:59Z\"}\nspec:\n  parentRefs: [{name: egress}]\n  rules: [{backendRefs: [{name: shop, "
      "port: 80}]}]\n");
  folder_.compile();
  EXPECT_EQ(folder_.endpoints(), "10.0.0.1 ");
  folder_.write("slice.yaml", shopSlice("{addresses: [10.0.0.2]}"));
  folder_.compile();
  EXPECT_EQ(folder_.endpoints(), "10.0.0.2 ");
}

TEST_F(CompileCacheTest, NoticesThatABackendChangedHoweverManyCompilationsAgoTheRouteWasCompiled) {
  for (int i = 0; i < 3; ++i) {
    folder_.write("a.yaml", routeToBackend("a", "origin", ", timeouts: {request: " + std::to_string(i + 1) + "s}"));
    folder_.compile();
  }
  folder_.write("second.yaml", with(kSecondBackend, "second.test", "third.test"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/b")->backends.front().backend->hostname, "third.test");
  folder_.write("c.yaml", routeToBackend("c", "second"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/c")->backends.front().backend, folder_.rule("/b")->backends.front().backend);
}

TEST_F(CompileCacheTest, KeepsTheOldestRouteFirstWhicheverWasCompiledFirst) {
  const auto route = [](const std::string& name, const std::string& created) {
    return with(with(routeToBackend(name, "origin"), "{name: " + name + "}",
                     "{name: " + name + ", creationTimestamp: '" + created + "'}"),
                "value: /" + name, "value: /same");
  };
  folder_.write("c.yaml", route("c", "2024-01-02T00:00:00Z"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/same")->route, "default/c");
  folder_.write("d.yaml", route("d", "2024-01-01T00:00:00Z"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/same")->route, "default/d");
  folder_.write("e.yaml", route("e", "2024-01-03T00:00:00Z"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/same")->route, "default/d");
  folder_.write("d.yaml", "");
  folder_.compile();
  EXPECT_EQ(folder_.rule("/same")->route, "default/c");
}

TEST_F(CompileCacheTest, KeepsRulesAtNewListeners) {
  const routing::Rule* a = folder_.rule("/a");
  folder_.write("gateway.yaml", with(test::kGateway, "port: 80}", "port: 80}, {name: more, protocol: HTTP, port: 81}"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/a"), a);
  EXPECT_EQ(folder_.match("/a", 0).listener->section, "web");
  EXPECT_EQ(folder_.match("/a", 1).listener->section, "more");
  EXPECT_EQ(folder_.match("/a", 1).rule, a);
}

TEST_F(CompileCacheTest, DropsRoutesThatTheLastCompilationDidNotHave) {
  folder_.write("b.yaml", "");
  folder_.compile();
  EXPECT_EQ(folder_.rule("/b"), nullptr);
  folder_.compile();  // now nothing else refers to its objects
  folder_.write("b.yaml", routeToBackend("b", "second"));
  folder_.compile();
  EXPECT_NE(folder_.rule("/b"), nullptr);
}

TEST_F(CompileCacheTest, KeepsTheRulesOfRoutesWhenEndpointsOfTheirServiceMoveToAnotherZone) {
  folder_.write("service.yaml", std::string(kShopService));
  folder_.write("slice.yaml", shopSlice("{addresses: [10.0.0.1], zone: a}"));
  folder_.write("b.yaml",
                "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: b}\nspec:\n  parentRefs: "
                "[{name: egress}]\n  rules: [{matches: [{path: {value: /b}}], backendRefs: [{name: shop, port: 80}]}]\n"
                "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: "
                "[{group: gateway.networking.k8s.io, kind: HTTPRoute, name: b}], loadBalancing: {zone: Prefer}}\n");
  folder_.compile();
  const routing::Rule* b = folder_.rule("/b");
  EXPECT_EQ(folder_.zones(), "a ");
  folder_.write("slice.yaml", shopSlice("{addresses: [10.0.0.1], zone: b}"));
  folder_.compile();
  EXPECT_EQ(folder_.rule("/b"), b);
  EXPECT_EQ(folder_.zones(), "b ");
}

TEST(BackendCache, ReturnsTheEarlierOfTwoEqualPlans) {
  const auto plan = [](std::vector<routing::Endpoint> endpoints) {
    auto made = std::make_shared<routing::BackendPlan>();
    made->name = "default/service";
    made->identity = "service/x";
    made->endpoints = std::move(endpoints);
    return made;
  };
  BackendCache cache;
  const auto first = sharedPlan(plan({{"192.0.2.1", 80}}), cache);
  cache.sweep();
  EXPECT_EQ(sharedPlan(plan({{"192.0.2.1", 80}}), cache), first);
  const auto other = sharedPlan(plan({{"192.0.2.2", 80}}), cache);
  EXPECT_NE(other, first);
  cache.sweep();
  cache.sweep();
  EXPECT_NE(sharedPlan(plan({{"192.0.2.2", 80}}), cache), other);
}

}  // namespace
}  // namespace sluice::compile
