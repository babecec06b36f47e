// Tests the hooks of an extension server as payload processors: the requests that each scope covers, and the effect of
// hooks that cannot run.
#include "proxy/control/compile/processors/extension_hooks.h"

#include <gtest/gtest.h>

#include "test/control/compile/compile_world.h"
#include "test/control/compile/processor_types.h"

namespace sluice::control {
namespace {

using test::RequestMaker;
using test::with;
using test::World;

std::string hookSettings(const std::string& hooks) {
  return test::configMap("settings", "settings.yaml",
                         "extensionManager: {hooks: {xdsTranslator: {post: [" + hooks +
                             "]}}, service: {fqdn: {hostname: ext.test, port: 5005}}}\n");
}

std::string gatewayClass() {
  return with(test::kClass, "spec: {",
              "spec: {parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: default}, ");
}

constexpr std::string_view kTwoListeners = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: egress}
spec:
  gatewayClassName: sluice
  addresses: [{type: IPAddress, value: 127.0.0.1}]
  listeners: [{name: web, protocol: HTTP, port: 80}, {name: more, protocol: HTTP, port: 81}]
)";

World worldWithHooks(const std::string& hooks, processing::BuiltinTypes types = {}) {
  return World({gatewayClass(), hookSettings(hooks), kTwoListeners, test::kBackend, test::kRoute}, nullptr,
               std::move(types));
}

processing::BuiltinTypes withEngine() {
  processing::BuiltinTypes types = test::processorTypes();
  types.front().type = config::processor_type::kExtProc;
  return types;
}

std::string listenerSteps(const World& world, std::uint16_t port = 80) {
  const routing::RouteMatch match =
      routing::routesOf(world.bind(port)->service).match(RequestMaker("GET", "a.test", "/").head());
  std::string text;
  if (match.listener == nullptr || match.listener->chain == nullptr) return text;
  for (const processing::Step& each : match.listener->chain->all()) text += each.name + ";";
  return text;
}

TEST(ExtensionHooks, AClosedRouteHookThatCannotRunRefusesRoutesAlone) {
  const World world = worldWithHooks("Route");
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(listenerSteps(world), "");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedExtensionType");
  EXPECT_NE(world.message("HTTPRoute", "route", "Accepted").find("extensionManager.hooks.Route"), std::string::npos);
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Degraded"), "True/UnsupportedExtensionType");
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.condition("Gateway", "egress", "Degraded"), "");
  EXPECT_TRUE(world.result().usable) << "readiness does not notice";
}

TEST(ExtensionHooks, AClosedHookOfAWiderScopeRefusesAtEveryListener) {
  for (const char* hook : {"VirtualHost", "HTTPListener", "Translation"}) {
    const World world = worldWithHooks(hook);
    EXPECT_EQ(listenerSteps(world, 80), "UnsupportedExtensionType;") << hook;
    EXPECT_EQ(listenerSteps(world, 81), "UnsupportedExtensionType;") << hook;
    EXPECT_EQ(world.outcome(), "default/origin") << "the rule itself is as it was";
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
    EXPECT_EQ(world.condition("Gateway", "egress", "Degraded"), "True/UnsupportedExtensionType");
    EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "True/Programmed");
    EXPECT_TRUE(world.result().usable);
  }
}

TEST(ExtensionHooks, OpenHooksThatCannotRunAreLeftOutAndReported) {
  const World world = worldWithHooks("{type: Route, failOpen: true}, {type: Translation, failOpen: true}");
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_EQ(listenerSteps(world), "");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.message("HTTPRoute", "route", "Accepted"), "") << "told once, not by every route";
  EXPECT_EQ(world.condition("Gateway", "egress", "Degraded"), "");
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Degraded"), "True/UnsupportedExtensionType");
  EXPECT_NE(world.message("GatewayClass", "sluice", "Degraded").find("fails open"), std::string::npos);
}

TEST(ExtensionHooks, NothingIsDegradedWithoutHooks) {
  const World world({test::kClass, kTwoListeners, test::kBackend, test::kRoute});
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Degraded"), "");
  EXPECT_EQ(world.rule(RequestMaker("GET", "a.test", "/"))->chain, nullptr);
}

TEST(ExtensionHooks, BecomeStepsOfRulesAndListenersWithTheWidestScopeFirst) {
  const World world = worldWithHooks("Route, {type: VirtualHost, failOpen: true}, HTTPListener, Translation", [] {
    processing::BuiltinTypes types = withEngine();
    types.front().phases = {processing::Phase::kRequestHeaders};
    return types;
  }());
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Degraded"), "");
  EXPECT_EQ(listenerSteps(world),
            "extensionManager.Translation;extensionManager.HTTPListener;"
            "extensionManager.VirtualHost;");
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule->chain, nullptr);
  EXPECT_EQ(rule->chain->all().size(), 1U);
  EXPECT_EQ(rule->chain->all().front().name, "extensionManager.Route");
}

}  // namespace
}  // namespace sluice::control
