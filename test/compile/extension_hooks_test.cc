// Tests the hooks of an extension server as payload processors: the requests that each scope covers, and the effect of
// hooks that cannot run.
#include "proxy/compile/processors/extension_hooks.h"

#include <gtest/gtest.h>

#include "proxy/processing/step_queue.h"
#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
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

/// A processor that calls one server.
class HookProcessor final : public processing::PreAuthProcessor {
 public:
  explicit HookProcessor(std::shared_ptr<const processing::CalloutTarget> server) : server_(std::move(server)) {}
  processing::Verdict process(processing::Call& /*call*/) const override { return processing::Verdict::goOn(); }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override { return {&server_, 1}; }

 private:
  const std::shared_ptr<const processing::CalloutTarget> server_;
};

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

TEST(ExtensionHooks, BecomeStepsOfRulesAndThenOfListenersWithTheWidestScopeLast) {
  const World world = worldWithHooks("Route, {type: VirtualHost, failOpen: true}, HTTPListener, Translation", [] {
    processing::BuiltinTypes types = withEngine();
    types.front().phases = {processing::Phase::kRequestHeaders};
    return types;
  }());
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Degraded"), "");
  EXPECT_EQ(listenerSteps(world),
            "extensionManager.VirtualHost;extensionManager.HTTPListener;"
            "extensionManager.Translation;");
  const routing::Rule* rule = world.rule(RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(rule->chain, nullptr);
  EXPECT_EQ(rule->chain->all().size(), 1U);
  EXPECT_EQ(rule->chain->all().front().name, "extensionManager.Route");
  const routing::RouteMatch match =
      routing::routesOf(world.bind(80)->service).match(RequestMaker("GET", "a.test", "/").head());
  processing::StepQueue queue;
  queue.append({match.listener->chain.get(), rule->chain.get(), nullptr}, processing::Phase::kRequestHeaders);
  std::string order;
  while (const processing::Step* step = queue.next()) order += step->name.substr(step->name.find('.') + 1) + ";";
  EXPECT_EQ(order, "Route;VirtualHost;HTTPListener;Translation;") << "whatever holds them";
}

/// Makes a processor that has looked up the server in its config.
processing::Made makeServed(const processing::Use& use) {
  const content::Value* service = use.config.find("service");
  processing::FoundBackend found = use.targets.find(*service, true);
  if (found.target == nullptr) return {nullptr, std::move(found.refusal)};
  return {std::make_shared<const HookProcessor>(std::move(found.target)), {}};
}

World worldWithHookServer(const std::string& service, const std::string& more = {}, const World* previous = nullptr,
                          const std::string& hook = "HTTPListener", const std::string& provisioning = {}) {
  processing::BuiltinTypes types = withEngine();
  types.front().phases = {processing::Phase::kRequestHeaders};
  types.front().make = makeServed;
  const std::string settings =
      test::configMap("settings", "settings.yaml",
                      "extensionManagers: [{name: one, hooks: {xdsTranslator: {post: [" + hook + "]}}, service: {" +
                          service + "}}]\nprovisioning: {" + provisioning + "}\n");
  std::vector<std::string_view> documents;
  const std::string ofClass = gatewayClass();
  documents.assign({ofClass, settings, kTwoListeners, test::kBackend, test::kRoute});
  if (!more.empty()) documents.push_back(more);
  return World(documents, previous, std::move(types));
}

/// Returns the plan of the server that listeners call; nullptr if there is none.
const routing::BackendPlan* serverOf(const World& world) {
  for (const auto& plan : world.snapshot().backends) {
    if (plan->ofSettings) return plan.get();
  }
  return nullptr;
}

TEST(ExtensionHooks, ReachTheirServerByItsNameOverPlaintextHttp2) {
  const World world = worldWithHookServer("fqdn: {hostname: Ext.Test, port: 5005}");
  const routing::BackendPlan* plan = serverOf(world);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->name, "extensionManagers.one");
  EXPECT_EQ(plan->hostname, "ext.test");
  EXPECT_EQ(plan->port, 5005);
  EXPECT_EQ(plan->authority, "ext.test:5005");
  EXPECT_EQ(plan->protocol, routing::UpstreamProtocol::kHttp2);
  EXPECT_FALSE(plan->tls);
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Degraded"), "");
}

TEST(ExtensionHooks, ReachTheirServerByItsAddress) {
  const World world = worldWithHookServer("ip: {address: 10.1.2.3, port: 5005}");
  ASSERT_NE(serverOf(world), nullptr);
  EXPECT_EQ(serverOf(world)->authority, "10.1.2.3:5005");
}

TEST(ExtensionHooks, VerifyTheirServerByTheAuthoritiesOfASecret) {
  const std::string tls =
      "fqdn: {hostname: ext.test, port: 5005}, tls: {certificateRef: {namespace: default, name: ca}";
  const World trusting =
      worldWithHookServer(tls + "}", test::secret("ca", {{"tls.crt", test::authority().certificate}}));
  ASSERT_NE(serverOf(trusting), nullptr);
  ASSERT_TRUE(serverOf(trusting)->tls);
  EXPECT_EQ(serverOf(trusting)->tls->serverName, "ext.test");
  EXPECT_NE(serverOf(trusting)->tls->trust, nullptr);
  const World byOtherKey =
      worldWithHookServer(tls + "}", test::secret("ca", {{"ca.crt", test::authority().certificate}}));
  EXPECT_NE(serverOf(byOtherKey), nullptr);
  const World mutual = worldWithHookServer(tls + ", clientCertificateRef: {namespace: default, name: own}}",
                                           test::keyPair("own", test::server()) + "---\n" +
                                               test::secret("ca", {{"tls.crt", test::authority().certificate}}));
  ASSERT_NE(serverOf(mutual), nullptr);
  EXPECT_NE(serverOf(mutual)->tls->clientCertificate, nullptr);
  EXPECT_NE(serverOf(mutual)->tls->clientKey, nullptr);
}

TEST(ExtensionHooks, ShowTheLastGoodPairWhileTheirSecretHasNone) {
  const std::string tls =
      "fqdn: {hostname: ext.test, port: 5005}, tls: {certificateRef: {namespace: default, name: ca}, "
      "clientCertificateRef: {namespace: default, name: own}}";
  const std::string ca = test::secret("ca", {{"tls.crt", test::authority().certificate}}) + "---\n";
  const World good = worldWithHookServer(tls, ca + test::keyPair("own", test::server()));
  ASSERT_NE(serverOf(good), nullptr);
  EXPECT_EQ(good.condition("GatewayClass", "sluice", "Degraded"), "");
  const std::string half = ca + test::keyPair("own", {test::authority().certificate, test::server().key});
  const World kept = worldWithHookServer(tls, half, &good);
  ASSERT_NE(serverOf(kept), nullptr);
  EXPECT_EQ(serverOf(kept)->tls->clientCertificate->fingerprint(),
            serverOf(good)->tls->clientCertificate->fingerprint());
  EXPECT_EQ(kept.condition("GatewayClass", "sluice", "Degraded"), "True/InvalidClientCertificateRef");
  const World start = worldWithHookServer(tls, half);
  EXPECT_EQ(serverOf(start), nullptr);
}

TEST(ExtensionHooks, RefuseTheirScopeWhileTheSecretsOfTheirTlsAreMissing) {
  const std::string tls =
      "fqdn: {hostname: ext.test, port: 5005}, tls: {certificateRef: {namespace: default, name: ca}}";
  const World absent = worldWithHookServer(tls);
  EXPECT_EQ(serverOf(absent), nullptr);
  EXPECT_EQ(listenerSteps(absent), "InvalidCACertificateRef;");
  EXPECT_EQ(absent.condition("GatewayClass", "sluice", "Degraded"), "True/InvalidCACertificateRef");
  EXPECT_NE(absent.message("GatewayClass", "sluice", "Degraded").find("Secret default/ca: it does not exist"),
            std::string::npos);
  const World bad = worldWithHookServer(tls, test::secret("ca", {{"tls.crt", "no certificate"}}));
  EXPECT_EQ(bad.condition("GatewayClass", "sluice", "Degraded"), "True/InvalidCACertificateRef");
}

TEST(ExtensionHooks, FailAsTheySayAtGatewaysWhosePodsMayNotReadTheClientCertificate) {
  const auto worldFor = [](const std::string& hook, const std::string& provisioning) {
    World world = worldWithHookServer(
        "fqdn: {hostname: ext.test, port: 5005}, tls: {certificateRef: {namespace: default, name: ca}, "
        "clientCertificateRef: {namespace: vault, name: own}}",
        with(test::keyPair("own", test::server()), "name: own", "name: own, namespace: vault") + "---\n" +
            test::secret("ca", {{"tls.crt", test::authority().certificate}}),
        nullptr, hook, provisioning);
    world.recompileWithController("sluice-system");
    return world;
  };
  const auto secretsOf = [](const World& world) { return world.result().secrets.at({"Gateway", "default", "egress"}); };
  const World closed = worldFor("HTTPListener", "");
  EXPECT_EQ(listenerSteps(closed), "RefNotPermitted;");
  EXPECT_EQ(closed.condition("Gateway", "egress", "Degraded"), "True/RefNotPermitted");
  EXPECT_EQ(closed.message("Gateway", "egress", "Degraded").find("own"), std::string::npos);
  EXPECT_EQ(secretsOf(closed).count({"vault", "own"}), 0U);
  EXPECT_EQ(worldFor("Route", "").outcome(), "500");
  const World open = worldFor("{type: HTTPListener, failOpen: true}", "");
  EXPECT_EQ(listenerSteps(open), "");
  EXPECT_EQ(open.outcome(), "default/origin");
  EXPECT_EQ(secretsOf(open).count({"vault", "own"}), 0U);
  const World trusted = worldFor("HTTPListener", "trustedNamespaces: [default]");
  EXPECT_EQ(listenerSteps(trusted), "extensionManagers.one.HTTPListener;");
  EXPECT_EQ(secretsOf(trusted), (base::ObjectNames{{"default", "ca"}, {"vault", "own"}}));
}

TEST(ExtensionHooks, AreTheOnlyUsesThatNameAServerWithoutAnObject) {
  constexpr std::string_view kGuard = R"(
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {name: guard, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}
  processors:
    - {name: guard, type: 'sluice.dev/ExtProc:v1', phase: request-headers, config: {service: {fqdn: {hostname: a.test, port: 1}}}}
)";
  processing::BuiltinTypes types = withEngine();
  types.front().make = makeServed;
  const World world({test::kClass, test::kGateway, test::kBackend, test::kRoute, kGuard}, nullptr, std::move(types));
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(serverOf(world), nullptr);
  EXPECT_NE(world.message("HTTPRoute", "route", "Accepted").find("write a Backend for it"), std::string::npos);
}

}  // namespace
}  // namespace sluice::compile
