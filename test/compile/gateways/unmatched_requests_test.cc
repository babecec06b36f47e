// Tests requests that no route matches. They run the steps that all requests of their listener run, and answer 500
// where all others do.
#include "proxy/compile/gateways/unmatched_requests.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/processors/server_type.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::with;
using test::World;

constexpr const char* kRestRule =
    "rules: [{matches: [{path: {value: /served}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, "
    "name: "
    "origin, port: 8080}]}]";
constexpr const char* kRestPorts = "{name: web, protocol: HTTP, port: 80}, {name: more, protocol: HTTP, port: 81}";

/// Returns a world with a route for /served at both ports.
World restWorld(const std::vector<std::string>& objects, const std::string& ofClass = std::string(kClass)) {
  const std::string route = test::routeWithRules(kRestRule);
  const std::string gateway = test::gatewayWith(kRestPorts);
  std::vector<std::string_view> documents = {ofClass, gateway, kBackend, route};
  documents.insert(documents.end(), objects.begin(), objects.end());
  return World(documents, nullptr, test::typesWithServers());
}

std::string restOutcomes(const World& world) {
  return world.outcome("a.test", "/served") + " " + world.outcome("a.test", "/else") + " " +
         world.outcome("a.test", "/served", 81) + " " + world.outcome("a.test", "/else", 81);
}

std::string restProcessor(const std::string& type, const std::string& more = {}) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec:\n  targetRef: {kind: "
         "Gateway, name: egress, sectionName: web}\n  processors: [{name: t, type: '" +
         type + ":v1', phase: request-headers" + more + "}]\n";
}

TEST(UnmatchedRequests, Answer404WhereNothingIsClosed) {
  EXPECT_EQ(restOutcomes(restWorld({})), "default/origin 404 default/origin 404");
  EXPECT_EQ(restOutcomes(restWorld({restProcessor("x.test/Absent", ", failOpen: true")})),
            "default/origin 404 default/origin 404");
}

TEST(UnmatchedRequests, Answer500AtAListenerThatAProcessorCloses) {
  const World world = restWorld({restProcessor("x.test/Absent")});
  EXPECT_EQ(world.outcome("a.test", "/else"), "500");
  EXPECT_EQ(world.outcome("a.test", "/else", 81), "404");
  const World early = restWorld({with(restProcessor("x.test/Absent"), "spec:", "spec:\n  phase: PreRouting")});
  EXPECT_EQ(early.outcome("a.test", "/else"), "500");
}

TEST(UnmatchedRequests, PassTheStepsOfTheirListener) {
  const World world = restWorld({restProcessor("sluice.dev/Test")});
  const routing::RouteMatch match =
      routing::routesOf(world.bind(80)->service).match(test::RequestMaker("GET", "a.test", "/else").head());
  ASSERT_NE(match.rule, nullptr);
  EXPECT_TRUE(match.rule->isRest);
  EXPECT_EQ(match.rule->withoutBackend().status, 404);
  EXPECT_EQ(test::stepNames(match.listener->chain.get()), "t;");
  EXPECT_EQ(world.rule(test::RequestMaker("GET", "a.test", "/else"), 81), nullptr) << "it has no steps";
}

TEST(UnmatchedRequests, PassTheExtensionPolicyOfTheirListenerOrGateway) {
  constexpr const char* kGuard =
      "apiVersion: v1\nkind: Service\nmetadata: {name: guard}\nspec: {ports: [{port: 9002}]}\n";
  const auto stepsOf = [&](const std::string& target, std::uint16_t port) {
    const World world =
        restWorld({kGuard,
                   "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyExtensionPolicy\nmetadata: {name: p}\nspec: "
                   "{targetRefs: [{group: gateway.networking.k8s.io, " +
                       target + "}], extProc: [{backendRefs: [{name: guard, port: 9002}]}]}\n"});
    const routing::Rule* rule = world.rule(test::RequestMaker("GET", "a.test", "/else"), port);
    return rule == nullptr ? std::string("no rule") : test::stepNames(rule->chain.get());
  };
  EXPECT_EQ(stepsOf("kind: Gateway, name: egress", 80), "ext-proc-0;");
  EXPECT_EQ(stepsOf("kind: Gateway, name: egress", 81), "ext-proc-0;");
  EXPECT_EQ(stepsOf("kind: Gateway, name: egress, sectionName: web", 80), "ext-proc-0;");
  EXPECT_EQ(stepsOf("kind: Gateway, name: egress, sectionName: web", 81), "no rule");
  EXPECT_EQ(stepsOf("kind: HTTPRoute, name: route", 80), "no rule");
}

TEST(UnmatchedRequests, Answer500WhereAPolicyClosesAllRules) {
  const std::string target =
      "  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: web}]\n";
  const std::string envoy = "apiVersion: gateway.envoyproxy.io/v1alpha1\nmetadata: {name: p}\n";
  for (const std::string& policy :
       {envoy + "kind: EnvoyExtensionPolicy\nspec:\n" + target + "  wasm: [{name: w}]\n",
        envoy + "kind: EnvoyExtensionPolicy\nspec:\n" + target + "  surprise: 1\n",
        envoy + "kind: EnvoyExtensionPolicy\nspec:\n" + target +
            "  extProc: [{backendRefs: [{name: absent, port: 9002}]}]\n",
        envoy + "kind: BackendTrafficPolicy\nspec:\n" + target + "  rateLimit: {type: Local}\n",
        envoy + "kind: SecurityPolicy\nspec:\n" + target}) {
    EXPECT_EQ(restOutcomes(restWorld({policy})), "500 500 default/origin 404") << policy;
  }
}

TEST(UnmatchedRequests, Answer500WhereAHookOfTheProcessCannotRun) {
  const std::string ofClass = with(
      kClass, "spec: {", "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ");
  for (const char* hook : {"Route", "VirtualHost", "HTTPListener", "Translation"}) {
    const auto settings = [&](bool open) {
      return test::configMap("settings", "settings.yaml",
                             "extensionManager: {failOpen: " + std::string(open ? "true" : "false") +
                                 ", hooks: {xdsTranslator: {post: [" + hook +
                                 "]}}, service: {fqdn: {hostname: ext.test, port: 5005}}}\n");
    };
    const auto world = [&](bool open, const char* listeners = kRestPorts) {
      const std::string route = test::routeWithRules(kRestRule);
      return World({ofClass, settings(open), test::gatewayWith(listeners), kBackend, route});
    };
    EXPECT_EQ(world(false).outcome("a.test", "/else"), "500") << hook;
    EXPECT_EQ(world(false).outcome("a.test", "/else", 81), "500") << hook;
    EXPECT_EQ(world(true).outcome("a.test", "/else"), "404") << hook;
    constexpr const char* kOfOneHost = "{name: web, protocol: HTTP, port: 80, hostname: a.test}";
    EXPECT_EQ(world(false, kOfOneHost).outcome("b.test", "/else"), "500") << hook << ": a host of no listener";
    EXPECT_EQ(world(true, kOfOneHost).outcome("b.test", "/else"), "404") << hook;
  }
}

}  // namespace
}  // namespace sluice::compile
