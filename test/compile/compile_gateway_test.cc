#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

TEST(CompileGateway, ServesAValidGateway) {
  const World world({kClass, kGateway, kBackend, kRoute});
  EXPECT_TRUE(world.result().usable);
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.status("GatewayClass", "sluice")->conditions.front().observedGeneration, 3);
  EXPECT_EQ(world.status("Gateway", "egress")->conditions.front().observedGeneration, 4);
  ASSERT_EQ(world.status("Gateway", "egress")->addresses.size(), 1U);
  EXPECT_EQ(world.status("Gateway", "egress")->addresses.front().value, "127.0.0.1");
  EXPECT_EQ(world.outcome(), "default/origin");
  for (const config::ObjectStatus& each : world.result().statuses) EXPECT_TRUE(config::isHealthy(each)) << each.kind;
}

TEST(CompileGateway, ListensOnAllAddressesIfNoneIsGiven) {
  const World world({kClass, with(kGateway, "addresses: [{type: IPAddress, value: 127.0.0.1}]", ""), kBackend, kRoute});
  EXPECT_NE(world.bind(80, ""), nullptr);
  EXPECT_EQ(world.snapshot().binds.size(), 1U);
}

TEST(CompileGateway, ListensOnEachAddress) {
  const World world(
      {kClass, with(kGateway, "value: 127.0.0.1}", "value: '::1'}, {value: 127.0.0.2}"), kBackend, kRoute});
  EXPECT_NE(world.bind(80, "::1"), nullptr);
  EXPECT_NE(world.bind(80, "127.0.0.2"), nullptr);
  EXPECT_EQ(world.snapshot().binds.size(), 2U);
}

TEST(CompileGateway, ServesTheSameRulesOnEachAddress) {
  const World world(
      {kClass, with(kGateway, "value: 127.0.0.1}", "value: '::1'}, {value: 127.0.0.2}"), kBackend, kRoute});
  const test::RequestMaker request("GET", "a.test", "/");
  const routing::Rule* first = routing::routesOf(world.bind(80, "::1")->service).match(request.head()).rule;
  const routing::Rule* second = routing::routesOf(world.bind(80, "127.0.0.2")->service).match(request.head()).rule;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first, second);
}

TEST(CompileGateway, RefusesAddressesOfOtherTypes) {
  const World world(
      {kClass, with(kGateway, "type: IPAddress, value: 127.0.0.1", "type: Hostname, value: a.test"), kBackend, kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/UnsupportedAddress");
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/Invalid");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "False/Invalid");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingParent");
  EXPECT_TRUE(world.snapshot().binds.empty());
}

TEST(CompileGateway, IsAcceptedButNotProgrammedWithAnAddressThatNobodyCanListenOn) {
  const World world({kClass, with(kGateway, "127.0.0.1", "224.0.0.1"), kBackend, kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/AddressNotUsable");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "False/Invalid");
  EXPECT_TRUE(world.status("Gateway", "egress")->addresses.empty());
  EXPECT_TRUE(world.snapshot().binds.empty());
}

TEST(CompileGateway, ServesOnTheOtherAddresses) {
  const World world(
      {kClass, with(kGateway, "value: 127.0.0.1}", "value: 224.0.0.1}, {value: 127.0.0.2}"), kBackend, kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/AddressNotUsable");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
  ASSERT_EQ(world.status("Gateway", "egress")->addresses.size(), 1U);
  EXPECT_EQ(world.status("Gateway", "egress")->addresses.front().value, "127.0.0.2");
  EXPECT_EQ(world.snapshot().binds.size(), 1U);
}

TEST(CompileGateway, IsServedWithoutThePortsThatCannotBeListenedOn) {
  const std::string twoAddresses = with(kGateway, "value: 127.0.0.1}", "value: 127.0.0.1}, {value: 127.0.0.2}");
  World world({kClass, twoAddresses, kBackend, kRoute});
  const std::uint16_t port = world.snapshot().binds.at(0).port;
  world.recompileWithout({{"127.0.0.1", port, "in use"}, {"127.0.0.3", port, "not of this Gateway"}});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/AddressNotUsable");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "True/Accepted");
  ASSERT_EQ(world.snapshot().binds.size(), 1U);
  EXPECT_EQ(world.snapshot().binds.front().address, "127.0.0.2");
  ASSERT_EQ(world.status("Gateway", "egress")->addresses.size(), 1U) << "only where it is served";
  EXPECT_EQ(world.status("Gateway", "egress")->addresses.front().value, "127.0.0.2");

  world.recompileWithout({{"127.0.0.1", port, "in use"}, {"127.0.0.2", port, "in use"}});
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/AddressNotUsable");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "False/PortUnavailable");
  EXPECT_TRUE(world.snapshot().binds.empty());
}

TEST(CompileGateway, IsServedAtItsEarlierPortUntilItCanBeAtItsOwn) {
  World world({kClass, kGateway, kBackend, kRoute});
  const std::uint16_t port = world.snapshot().binds.at(0).port;
  const ListenerPlaces before{{"Gateway default/egress", "web", 4321}};
  ASSERT_EQ(world.result().places.size(), 1U);
  EXPECT_EQ(world.result().places[0].gateway, "Gateway default/egress");
  EXPECT_EQ(world.result().places[0].port, port);

  world.recompileWithout({{"127.0.0.1", port, "127.0.0.1:80: in use"}}, before);
  ASSERT_EQ(world.snapshot().binds.size(), 1U);
  EXPECT_EQ(world.snapshot().binds[0].port, 4321);
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "False/Pending");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.result().places[0].port, 4321) << "and so on, as long as it takes";

  world.recompileWithout({{"127.0.0.1", port, "in use"}, {"127.0.0.1", 4321, "in use too"}}, before);
  EXPECT_TRUE(world.snapshot().binds.empty());
  world.recompileWithout({}, before);
  EXPECT_EQ(world.snapshot().binds.at(0).port, port);
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
}

TEST(CompileGateway, IsServedAtTheEarlierPortOfAllItsListeners) {
  World world({kClass, gatewayWith("{name: a, protocol: HTTP, port: 81, hostname: a.test}, "
                                   "{name: b, protocol: HTTP, port: 81, hostname: b.test}")});
  const ListenerPlaces before{{"Gateway default/egress", "a", 80}, {"Gateway default/egress", "b", 80}};
  world.recompileWithout({{"127.0.0.1", 81, "in use"}}, before);
  ASSERT_EQ(world.snapshot().binds.size(), 1U);
  EXPECT_EQ(world.snapshot().binds[0].port, 80);
  for (const char* name : {"a", "b"}) EXPECT_EQ(world.listenerCondition("egress", name, "Programmed"), "False/Pending");
  const ListenerPlaces encrypted{{"Gateway default/egress", "a", 80, true}, {"Gateway default/egress", "b", 80, true}};
  world.recompileWithout({{"127.0.0.1", 81, "in use"}}, encrypted);
  EXPECT_TRUE(world.snapshot().binds.empty()) << "nothing speaks plaintext where TLS was spoken";
}

TEST(CompileGateway, TakesNoEarlierPortThatAnotherListenerWants) {
  World world({kClass, with(with(kGateway, "name: egress", "name: second"), "port: ", "port: 4"), kGateway});
  const std::uint16_t wanted = world.snapshot().binds.at(0).port;
  const std::uint16_t other = world.snapshot().binds.at(1).port;
  const bool firstIsOwn = world.result().places[0].gateway == "Gateway default/egress";
  const std::uint16_t own = firstIsOwn ? wanted : other;
  const std::uint16_t others = firstIsOwn ? other : wanted;
  world.recompileWithout({{"127.0.0.1", own, "in use"}}, {{"Gateway default/egress", "web", others}});
  EXPECT_EQ(world.snapshot().binds.size(), 1U);
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "False/PortUnavailable");
}

TEST(CompileGateway, RecognizesAnAddressInAllOfItsSpellings) {
  const World world({kClass, with(kGateway, "value: 127.0.0.1}", "value: '::1'}, {value: '0:0:0:0:0:0:0:1'}"),
                     with(with(kGateway, "name: egress", "name: second"), "127.0.0.1", "'0::1'")});
  EXPECT_EQ(world.snapshot().binds.size(), 1U);
  EXPECT_EQ(world.listenerCondition("second", "web", "Accepted"), "False/PortUnavailable");
}

TEST(CompileGateway, SummarizesTheReferencesOfItsListeners) {
  const World good({kClass, kGateway});
  EXPECT_EQ(good.condition("Gateway", "egress", "ResolvedRefs"), "True/ResolvedRefs");
  const World bad(
      {kClass, with(kGateway, "port: 80}",
                    "port: 80}, {name: tls, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: absent}]}}")});
  EXPECT_EQ(bad.condition("Gateway", "egress", "ResolvedRefs"), "False/ListenersNotResolved");
  EXPECT_EQ(bad.condition("Gateway", "egress", "Programmed"), "True/Programmed");
}

TEST(CompileGateway, LeavesGatewaysOfOtherControllersAlone) {
  const World world({kClass,
                     with(with(kClass, "name: sluice", "name: other"), "sluice.dev/egress-gateway", "other.dev/x"),
                     with(kGateway, "gatewayClassName: sluice", "gatewayClassName: other"), kBackend, kRoute});
  EXPECT_EQ(world.status("GatewayClass", "other"), nullptr);
  EXPECT_EQ(world.status("Gateway", "egress"), nullptr);
  EXPECT_EQ(world.status("HTTPRoute", "route"), nullptr);
  EXPECT_TRUE(world.snapshot().binds.empty());
}

TEST(CompileGateway, IsPendingWithoutItsGatewayClass) {
  const World world({kClass, with(kGateway, "gatewayClassName: sluice", "gatewayClassName: absent"), kBackend, kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "Unknown/Pending");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingParent");
  EXPECT_EQ(world.outcome(), "refused");
}

TEST(CompileGateway, IsNotUsableWithoutOurGatewayClass) {
  const World world({kGateway, kBackend, kRoute});
  EXPECT_FALSE(world.result().usable);
  EXPECT_NE(world.result().snapshot, nullptr);
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "Unknown/Pending");
}

TEST(CompileGateway, ServesOneGatewayClassOnly) {
  const std::string second = with(kClass, "name: sluice", "name: zweite");
  const World world({kClass, second, with(kGateway, "gatewayClassName: sluice", "gatewayClassName: zweite")});
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("GatewayClass", "zweite", "Accepted"), "False/Unsupported");
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.outcome(), "refused");
}

TEST(CompileGateway, Answers500IfTheSettingsCannotBeRead) {
  const std::string parameters = with(kClass, "egress-gateway}",
                                      "egress-gateway, parametersRef: {group: '', kind: ConfigMap, name: settings, "
                                      "namespace: default}}");
  for (const std::string& settings : {test::configMap("settings", "settings.yaml", "workerz: 3\n"),
                                      test::configMap("other", "settings.yaml", "{}")}) {
    const World world({parameters, settings, kGateway, kBackend, kRoute});
    EXPECT_FALSE(world.result().usable);
    EXPECT_EQ(world.condition("GatewayClass", "sluice", "Accepted"), "False/InvalidParameters");
    EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/Invalid");
    EXPECT_EQ(world.outcome(), "500");
  }
  const World good(
      {parameters, test::configMap("settings", "settings.yaml", "workers: 3\n"), kGateway, kBackend, kRoute});
  EXPECT_EQ(good.condition("GatewayClass", "sluice", "Accepted"), "True/Accepted");
  EXPECT_EQ(good.snapshot().settings.workers, 3U);
}

TEST(CompileGateway, Answers500ForAFieldThatWouldRestrictTraffic) {
  const World world({kClass, with(kGateway, "  listeners:", "  tls: {backend: {}}\n  listeners:"), kBackend, kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/UnsupportedValue");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileGateway, ReportsTheHarmlessFieldsThatItIgnores) {
  const World world({kClass, with(kGateway, "  listeners:", "  defaultScope: All\n  listeners:"), kBackend, kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "True/Accepted");
  EXPECT_NE(world.message("Gateway", "egress", "Accepted").find("spec.defaultScope"), std::string::npos);
  EXPECT_EQ(world.outcome(), "default/origin");
}

std::string gatewayWithParameters(const std::string& kind) {
  return with(
      kGateway, "  listeners:",
      "  infrastructure: {labels: {a: b}, parametersRef: {group: '', kind: " + kind + ", name: x}}\n  listeners:");
}

TEST(CompileGateway, RefusesParametersThatAreMissingOrCannotBeUsed) {
  struct {
    const char* kind;
    const char* key;
    const char* message;
  } const wrong[] = {{"Secret", "gateway-parameters.yaml", "must be a GatewayParameters of sluice.dev"},
                     {"ConfigMap", "settings.yaml", "it has no key gateway-parameters.yaml"},
                     {"ConfigMap", "gateway-parameters.yaml", "it is not valid: gateway-parameters.yaml: replicas: "}};
  for (const auto& each : wrong) {
    const World world(
        {kClass, gatewayWithParameters(each.kind), test::configMap("x", each.key, "replicas: few"), kBackend, kRoute});
    EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/InvalidParameters") << each.message;
    EXPECT_NE(world.message("Gateway", "egress", "Accepted").find(each.message), std::string::npos)
        << world.message("Gateway", "egress", "Accepted");
    EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/Invalid");
    EXPECT_EQ(world.outcome(), "500");
  }
}

TEST(CompileGateway, SaysWhyParametersThatCameCannotBeUsed) {
  const World without(
      {kClass, gatewayWithParameters("ConfigMap"), test::configMap("x", "other", "1"), kBackend, kRoute});
  const World bad({kClass, gatewayWithParameters("ConfigMap"),
                   test::configMap("x", "gateway-parameters.yaml", "replica: 3"), kBackend, kRoute},
                  &without);
  const std::string message = bad.message("Gateway", "egress", "Accepted");
  EXPECT_NE(message.find("it is not valid: gateway-parameters.yaml: replica"), std::string::npos) << message;
  EXPECT_EQ(bad.outcome(), "500");
}

TEST(CompileGateway, HasParametersOfItsOwn) {
  const World world({kClass, gatewayWithParameters("ConfigMap"),
                     test::configMap("x", "gateway-parameters.yaml", "settings: {timeouts: {request: 3s}}"), kBackend,
                     kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.result().snapshot->settings.timeouts.request, std::chrono::seconds(3));
  EXPECT_EQ(world.outcome(), "default/origin");

  const World bad({kClass, gatewayWithParameters("ConfigMap"),
                   test::configMap("x", "gateway-parameters.yaml", "replica: 3"), kBackend, kRoute},
                  &world);
  EXPECT_EQ(bad.condition("Gateway", "egress", "Accepted"), "False/InvalidParameters");
  EXPECT_EQ(bad.result().snapshot->settings.timeouts.request, std::chrono::seconds(3)) << "it serves on with these";
  EXPECT_EQ(bad.outcome(), "default/origin");
}

config::GatewayApiCrds crdsOfRelease(const std::string& version, const std::string& channel = "experimental") {
  config::GatewayApiCrds crds{.releases = {}, .areFiles = false};
  for (const char* plural :
       {"backendtlspolicies", "gatewayclasses", "gateways", "grpcroutes", "httproutes", "referencegrants"}) {
    crds.releases.emplace(std::string(plural) + ".gateway.networking.k8s.io", config::CrdRelease{version, channel});
  }
  return crds;
}

TEST(CompileGateway, SaysWhetherTheVersionOfTheApiIsAnotherOne) {
  World world({kClass});
  for (const char* version : {"v1.6.0", "v1.6.2", "v1.5.9"}) {
    world.recompileWithApi(crdsOfRelease(version));
    EXPECT_EQ(world.condition("GatewayClass", "sluice", "SupportedVersion"), "True/SupportedVersion") << version;
    EXPECT_EQ(world.message("GatewayClass", "sluice", "SupportedVersion"),
              "Gateway API " + std::string(version) + ", experimental channel");
  }
  for (const char* version : {"v1.7.0", "v1.4.9", "v2.6.1", "main"}) {
    world.recompileWithApi(crdsOfRelease(version));
    EXPECT_EQ(world.condition("GatewayClass", "sluice", "SupportedVersion"), "False/UnsupportedVersion") << version;
    EXPECT_NE(world.message("GatewayClass", "sluice", "SupportedVersion").find(version), std::string::npos);
    EXPECT_EQ(world.condition("GatewayClass", "sluice", "Accepted"), "True/Accepted");
  }
}

TEST(CompileGateway, SaysWhatTheCrdsOfTheApiLack) {
  World world({kClass});
  config::GatewayApiCrds crds = crdsOfRelease("v1.6.1", "standard");
  crds.releases.erase("grpcroutes.gateway.networking.k8s.io");
  world.recompileWithApi(crds);
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "SupportedVersion"), "True/SupportedVersion");
  EXPECT_EQ(world.message("GatewayClass", "sluice", "SupportedVersion"),
            "Gateway API v1.6.1, standard channel. Not installed: GRPCRoute. Features that need other CRDs: GRPCRoute, "
            "GRPCRouteNamedRouteRule, HTTPRouteRetry, HTTPRouteRetryBackendTimeout, HTTPRouteRetryConnectionError");
}

TEST(CompileGateway, MayAskForAnyNameIfItHasPods) {
  const std::string asked = "type: IPAddress, value: 127.0.0.1";
  World any({kClass, with(kGateway, asked, "type: Hostname")});
  EXPECT_EQ(any.condition("Gateway", "egress", "Accepted"), "False/UnsupportedAddress") << "a machine has no name";
  any.recompileWithController("sluice-system");
  EXPECT_EQ(any.condition("Gateway", "egress", "Accepted"), "True/Accepted");
  World certain({kClass, with(kGateway, asked, "type: Hostname, value: a.test")});
  certain.recompileWithController("sluice-system");
  EXPECT_EQ(certain.condition("Gateway", "egress", "Accepted"), "False/UnsupportedAddress");
}

TEST(CompileGateway, ClaimsWhatHoldsForItsGateways) {
  const auto claims = [](const World& world) { return world.status("GatewayClass", "sluice")->supportedFeatures; };
  World world({kClass});
  EXPECT_THAT(claims(world), Contains("GatewayStaticAddresses"));
  EXPECT_THAT(claims(world), Not(Contains("GatewayAddressEmpty")));
  world.recompileWithPool("127.8.0.0/24");
  EXPECT_THAT(claims(world), IsSupersetOf({"GatewayStaticAddresses", "GatewayAddressEmpty"}));
  world.recompileWithController("sluice-system");
  EXPECT_THAT(claims(world), IsSupersetOf({"GatewayAddressEmpty", "GatewayInfrastructurePropagation"}));
  EXPECT_THAT(claims(world), Not(Contains("GatewayStaticAddresses")));
  world.recompileWithApi(crdsOfRelease("v1.6.1", "standard"));
  EXPECT_THAT(claims(world), Not(Contains("HTTPRouteRetry")));
}

TEST(CompileGateway, PublishesTheSupportedFeaturesAndTheVersionOfTheApi) {
  const World world({kClass});
  EXPECT_EQ(world.condition("GatewayClass", "sluice", "SupportedVersion"), "True/SupportedVersion");
  const std::string json = config::statusJson(*world.status("GatewayClass", "sluice"));
  EXPECT_NE(json.find(R"("supportedFeatures":[{"name":"BackendTLSPolicy"},{"name":"BackendTLSPolicySANValidation"},)"),
            std::string::npos)
      << json;
}

TEST(CompileGateway, Answers500ForAGatewayThatItsSchemaRefuses) {
  const World world(
      {kClass, with(kGateway, "port: 80}", "port: 80}, {name: bad, protocol: HTTP, port: 0}"), kBackend, kRoute});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingParent");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileGateway, ReportsAGatewayWithoutAnyLegiblePart) {
  const World world({kClass, with(kGateway, "gatewayClassName: sluice", "gatewayClassName: [x]")});
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "False/Invalid");
}

TEST(CompileGateway, GivesAPortToTheOlderGateway) {
  const std::string older =
      with(with(kGateway, "name: egress,", "name: older, creationTimestamp: '2024-01-01T00:00:00Z',"),
           "addresses: [{type: IPAddress, value: 127.0.0.1}]", "");
  const std::string newer = with(kGateway, "name: egress,", "name: newer, creationTimestamp: '2025-01-01T00:00:00Z',");
  const std::string apart =
      with(with(kGateway, "name: egress,", "name: apart, creationTimestamp: '2025-01-01T00:00:00Z',"), "port: 80",
           "port: 81");
  const World world({kClass, newer, older, apart});
  EXPECT_EQ(world.listenerCondition("older", "web", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.listenerCondition("newer", "web", "Accepted"), "False/PortUnavailable");
  EXPECT_EQ(world.condition("Gateway", "newer", "Accepted"), "False/ListenersNotValid");
  EXPECT_EQ(world.listenerCondition("apart", "web", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.snapshot().binds.size(), 2U);
}

/// Returns two Gateways that listen at port 80 of all addresses.
std::vector<std::string> twoAtOnePort(const std::string& kindOfSecond = "Gateway",
                                      const std::string& second = "second") {
  const std::string everywhere = with(kGateway, "addresses: [{type: IPAddress, value: 127.0.0.1}]", "");
  std::string other = with(everywhere, "name: egress,", "name: " + second + ",");
  if (kindOfSecond != "Gateway") {
    other =
        with(other, "apiVersion: gateway.networking.k8s.io/v1", "apiVersion: ainetworking.prototype.x-k8s.io/v0alpha0");
    other = with(other, "kind: Gateway", "kind: " + kindOfSecond);
  }
  return {everywhere, other};
}

TEST(CompileGateway, HasThePortsOfItsOwnPods) {
  const std::vector<std::string> gateways = twoAtOnePort();
  const std::string route = with(kRoute, "name: egress", "name: second");
  World world({kClass, gateways[0], gateways[1], kBackend, route});
  EXPECT_EQ(world.listenerCondition("second", "web", "Accepted"), "False/PortUnavailable") << "one process serves both";
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingParent");
  world.recompileWithController("sluice-system");
  for (const char* gateway : {"egress", "second"}) {
    EXPECT_EQ(world.condition("Gateway", gateway, "Programmed"), "True/Programmed") << gateway;
    EXPECT_EQ(world.listenerCondition(gateway, "web", "Accepted"), "True/Accepted") << gateway;
  }
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  world.recompileWithController("sluice-system", /*severalGateways=*/true);
  EXPECT_EQ(world.listenerCondition("second", "web", "Accepted"), "False/PortUnavailable") << "one Pod serves both";
  EXPECT_EQ(world.snapshot().binds.size(), 1U);
}

TEST(CompileGateway, SharesItsPodsWithAnotherKindOfItsName) {
  const std::vector<std::string> gateways = twoAtOnePort("EgressGateway", "egress");
  World world({kClass, gateways[0], gateways[1]});
  world.recompileWithController("sluice-system");
  EXPECT_EQ(world.snapshot().binds.size(), 1U) << "each Pod serves both";
  EXPECT_EQ(world.condition("EgressGateway", "egress", "Programmed") == "True/Programmed",
            world.condition("Gateway", "egress", "Programmed") != "True/Programmed");
}

TEST(CompileGateway, LeavesItsPodsTheirPortsForOperatorsAndProbes) {
  for (const char* port : {"9901", "9902"}) {
    const std::string everywhere = twoAtOnePort().front();
    World world({kClass, with(everywhere, "port: 80}",
                              std::string("port: 80}, {name: own, protocol: HTTP, port: ") + port + "}")});
    EXPECT_EQ(world.listenerCondition("egress", "own", "Accepted"), "True/Accepted") << "of a process with other flags";
    world.recompileWithController("sluice-system");
    EXPECT_EQ(world.listenerCondition("egress", "own", "Accepted"), "False/PortUnavailable") << port;
    EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "True/Accepted");
  }
}

TEST(CompileGateway, WithoutATimeTakesNoPortOfAnother) {
  const std::string dated = with(kGateway, "name: egress,", "name: zz, creationTimestamp: '2025-01-01T00:00:00Z',");
  for (const char* none : {"name: aa,", "name: aa, creationTimestamp: null,"}) {
    const World world({kClass, with(kGateway, "name: egress,", none), dated});
    EXPECT_EQ(world.listenerCondition("zz", "web", "Accepted"), "True/Accepted") << none;
    EXPECT_EQ(world.listenerCondition("aa", "web", "Accepted"), "False/PortUnavailable") << none;
  }
  const World undated(
      {kClass, with(kGateway, "name: egress,", "name: zz,"), with(kGateway, "name: egress,", "name: aa,")});
  EXPECT_EQ(undated.listenerCondition("aa", "web", "Accepted"), "True/Accepted") << "by name";
}

TEST(CompileGateway, LetsGatewaysOfDifferentAddressesShareAPort) {
  const World world({kClass, kGateway, with(with(kGateway, "name: egress", "name: second"), "127.0.0.1", "127.0.0.2")});
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.listenerCondition("second", "web", "Programmed"), "True/Programmed");
}

}  // namespace
}  // namespace sluice::compile
