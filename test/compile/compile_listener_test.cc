#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

TEST(CompileListener, WritesItsConditionsAndCountsItsRoutes) {
  const World world({kClass, kGateway, kBackend, kRoute});
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Conflicted"), "False/NoConflicts");
  EXPECT_EQ(world.listenerCondition("egress", "web", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
  ASSERT_EQ(world.listenerStatus("egress", "web")->supportedKinds.size(), 2U);
  EXPECT_EQ(world.listenerStatus("egress", "web")->supportedKinds[0].kind, "HTTPRoute");
  EXPECT_EQ(world.listenerStatus("egress", "web")->supportedKinds[1].kind, "GRPCRoute");
  EXPECT_EQ(world.listenerStatus("egress", "web")->conditions.front().observedGeneration, 4);
}

TEST(CompileListener, RefusesUnsupportedProtocols) {
  const World world({kClass,
                     gatewayWith("{name: web, protocol: HTTP, port: 80}, {name: raw, protocol: TCP, port: 81}, "
                                 "{name: name, protocol: UDP, port: 80}"),
                     kBackend, kRoute});
  EXPECT_EQ(world.listenerCondition("egress", "raw", "Accepted"), "False/UnsupportedProtocol");
  EXPECT_EQ(world.listenerCondition("egress", "raw", "Programmed"), "False/Invalid");
  EXPECT_TRUE(world.listenerStatus("egress", "raw")->supportedKinds.empty());
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "True/ListenersNotValid");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.outcome("a.test", "/", 81), "refused");
}

TEST(CompileListener, Answers500ForFieldsThatItCannotEnforce) {
  const World world({kClass,
                     gatewayWith("{name: web, protocol: HTTPS, port: 80, tls: {options: {a: b}, certificateRefs: "
                                 "[{name: pair}]}}"),
                     test::keyPair("pair", test::server()), kBackend, kRoute});
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "False/UnsupportedValue");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/NoMatchingParent");
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 0);
  EXPECT_EQ(world.outcome(), "500");
}

TEST(CompileListener, ServesTlsWithTheCertificatesOfItsListeners) {
  const auto other = sluice::test::issueServer(test::authority(), "other.test");
  const World world({kClass,
                     gatewayWith("{name: a, protocol: HTTPS, port: 443, hostname: origin.test, tls: {certificateRefs: "
                                 "[{name: one}]}}, {name: b, protocol: HTTPS, port: 443, hostname: other.test, tls: "
                                 "{certificateRefs: [{name: two}, {name: one}]}}"),
                     test::keyPair("one", test::server()), test::keyPair("two", other), kBackend, kRoute});
  EXPECT_EQ(world.listenerCondition("egress", "a", "Programmed"), "True/Programmed");
  ASSERT_NE(world.bind(443), nullptr);
  EXPECT_TRUE(world.bind(443)->tls);
  EXPECT_EQ(world.bind(443)->identities.size(), 2U);
  EXPECT_EQ(world.outcome("other.test", "/", 443), "default/origin");
  EXPECT_EQ(world.outcome("third.test", "/", 443), "404");
}

TEST(CompileListener, NeverOpensAPortForTlsWithoutItsCertificate) {
  const std::string tls = "{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: pair}]}}";
  const auto other = sluice::test::issueServer(test::authority(), "other.test");
  const std::vector<std::string> secrets = {
      test::keyPair("elsewhere", test::server()),
      test::secret("pair", {{"tls.crt", test::server().certificate}}),
      test::secret("pair", {{"tls.key", test::server().key}}),
      test::secret("pair", {{"tls.crt", "nonsense"}, {"tls.key", test::server().key}}),
      test::secret("pair", {{"tls.crt", test::server().certificate}, {"tls.key", "nonsense"}}),
      test::secret("pair", {{"tls.crt", test::server().certificate}, {"tls.key", other.key}}),
  };
  for (const std::string& each : secrets) {
    const World world({kClass, gatewayWith(tls), each, kBackend, kRoute});
    EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "True/Accepted");
    EXPECT_EQ(world.listenerCondition("egress", "web", "ResolvedRefs"), "False/InvalidCertificateRef");
    EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "False/Invalid");
    EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/Invalid");
    EXPECT_TRUE(world.snapshot().binds.empty()) << each;
  }
}

TEST(CompileListener, RefusesCertificatesThatAreNotSecrets) {
  const World world(
      {kClass, gatewayWith("{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{kind: ConfigMap, "
                           "name: pair}]}}")});
  EXPECT_EQ(world.listenerCondition("egress", "web", "ResolvedRefs"), "False/InvalidCertificateRef");
}

TEST(CompileListener, RefusesCertificatesOfOtherNamespaces) {
  const World world({kClass,
                     gatewayWith("{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: pair, "
                                 "namespace: secrets}]}}"),
                     with(test::keyPair("pair", test::server()), "{name: pair}", "{name: pair, namespace: secrets}")});
  EXPECT_EQ(world.listenerCondition("egress", "web", "ResolvedRefs"), "False/RefNotPermitted");
  EXPECT_TRUE(world.snapshot().binds.empty());
}

TEST(CompileListener, RefusesHttpsWithoutCertificateOrTermination) {
  World world({kClass, gatewayWith("{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: pair}]}}"),
               test::keyPair("pair", test::server())});
  world.gateway().listeners.front().tls->mode = config::ListenerTlsMode::kPassthrough;
  world.recompile();
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "False/UnsupportedValue");
  world.gateway().listeners.front().tls.reset();
  world.recompile();
  EXPECT_EQ(world.listenerCondition("egress", "web", "ResolvedRefs"), "False/InvalidCertificateRef");
  EXPECT_TRUE(world.snapshot().binds.empty());
}

TEST(CompileListener, KeepsTheHostnameOfABrokenListenerFromOtherListeners) {
  const World world(
      {kClass,
       gatewayWith("{name: all, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: pair}]}}, {name: "
                   "broken, protocol: HTTPS, port: 443, hostname: a.test, tls: {certificateRefs: [{name: "
                   "absent}]}}"),
       test::keyPair("pair", test::server()), kBackend, kRoute});
  EXPECT_EQ(world.outcome("b.test", "/", 443), "default/origin");
  EXPECT_EQ(world.outcome("a.test", "/", 443), "500");
}

TEST(CompileListener, RefusesAllListenersOfAPortWithTwoProtocols) {
  const World world({kClass,
                     gatewayWith("{name: plain, protocol: HTTP, port: 80}, {name: tls, protocol: HTTPS, port: 80, tls: "
                                 "{certificateRefs: [{name: pair}]}}, {name: apart, protocol: HTTP, port: 81}"),
                     test::keyPair("pair", test::server()), kBackend, kRoute});
  for (const std::string_view name : {"plain", "tls"}) {
    EXPECT_EQ(world.listenerCondition("egress", name, "Conflicted"), "True/ProtocolConflict");
    EXPECT_EQ(world.listenerCondition("egress", name, "Accepted"), "False/ProtocolConflict");
  }
  EXPECT_EQ(world.outcome(), "refused");
  EXPECT_EQ(world.outcome("a.test", "/", 81), "default/origin");
}

TEST(CompileListener, RefusesAllListenersOfAPortWithOneHostname) {
  World world({kClass,
               gatewayWith("{name: a, protocol: HTTP, port: 80, hostname: a.test}, {name: b, protocol: HTTP, port: 80, "
                           "hostname: b.test}, {name: all, protocol: HTTP, port: 80}"),
               kBackend, kRoute});
  world.gateway().listeners[1].hostname = "a.test";
  world.recompile();
  EXPECT_EQ(world.listenerCondition("egress", "a", "Conflicted"), "True/HostnameConflict");
  EXPECT_EQ(world.listenerCondition("egress", "b", "Conflicted"), "True/HostnameConflict");
  EXPECT_EQ(world.listenerCondition("egress", "all", "Conflicted"), "False/NoConflicts");
  EXPECT_EQ(world.outcome("a.test"), "500");
  EXPECT_EQ(world.outcome("c.test"), "default/origin");
}

TEST(CompileListener, ReportsKindsOfRoutesThatItCannotServe) {
  const World mixed(
      {kClass,
       gatewayWith("{name: web, protocol: HTTP, port: 80, allowedRoutes: {kinds: [{kind: HTTPRoute}, {kind: "
                   "TCPRoute}]}}"),
       kBackend, kRoute});
  EXPECT_EQ(mixed.listenerCondition("egress", "web", "ResolvedRefs"), "False/InvalidRouteKinds");
  EXPECT_EQ(mixed.listenerStatus("egress", "web")->supportedKinds.size(), 1U);
  EXPECT_EQ(mixed.outcome(), "default/origin");
  const World foreign({kClass,
                       gatewayWith("{name: web, protocol: HTTP, port: 80, allowedRoutes: {kinds: [{kind: TCPRoute}]}}"),
                       kBackend, kRoute});
  EXPECT_TRUE(foreign.listenerStatus("egress", "web")->supportedKinds.empty());
  EXPECT_EQ(foreign.condition("HTTPRoute", "route", "Accepted"), "False/NotAllowedByListeners");
  EXPECT_EQ(foreign.outcome(), "404");
}

TEST(CompileListener, ReportsTlsThatOverlapsWithAnotherListener) {
  const std::string pair = ", protocol: HTTPS, tls: {certificateRefs: [{name: one}]}, port: ";
  const auto other = ", protocol: HTTPS, tls: {certificateRefs: [{name: two}]}, port: ";
  const World world(
      {kClass,
       gatewayWith("{name: a, hostname: origin.test" + pair + "443}, {name: b, hostname: b.test" + pair +
                   "443}, {name: c, hostname: '*.c.test'" + other + "444}, {name: d, hostname: d.c.test" + pair +
                   "444}, {name: e, hostname: e.test" + other + "445}, {name: f, hostname: f.test" + pair + "445}"),
       test::keyPair("one", test::server()),
       test::keyPair("two", sluice::test::issueServer(test::authority(), "other.test"))});
  EXPECT_EQ(world.listenerCondition("egress", "a", "OverlappingTLSConfig"), "True/OverlappingCertificates");
  EXPECT_EQ(world.listenerCondition("egress", "b", "OverlappingTLSConfig"), "True/OverlappingCertificates");
  EXPECT_EQ(world.listenerCondition("egress", "c", "OverlappingTLSConfig"), "True/OverlappingHostnames");
  EXPECT_EQ(world.listenerCondition("egress", "d", "OverlappingTLSConfig"), "True/OverlappingHostnames");
  EXPECT_EQ(world.listenerCondition("egress", "e", "OverlappingTLSConfig"), "") << "it is not there when it is False";
  EXPECT_EQ(world.listenerCondition("egress", "f", "OverlappingTLSConfig"), "");
  EXPECT_TRUE(config::isHealthy(*world.status("Gateway", "egress"))) << "it is no fault";
}

}  // namespace
}  // namespace sluice::compile
