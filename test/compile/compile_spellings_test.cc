// Tests the compilation of Backends in all spellings: ports, protocols, options, destinations and statuses.
#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

struct BackendKind {
  const char* group;
  const char* version;
  const char* kind;
};
constexpr BackendKind kOwn{"sluice.dev", "v1alpha1", "Backend"};
constexpr BackendKind kSpellings[] = {kOwn,
                                      {"gateway.networking.k8s.io", "v1alpha1", "Backend"},
                                      {"ainetworking.prototype.x-k8s.io", "v0alpha0", "Backend"},
                                      {"ainetworking.prototype.x-k8s.io", "v0alpha0", "XBackendDestination"}};

std::string backendOf(const BackendKind& spelling, const std::string& destination) {
  return "apiVersion: " + std::string(spelling.group) + "/" + spelling.version + "\nkind: " + spelling.kind +
         "\nmetadata: {name: origin, generation: 5}\nspec: {destination: {" + destination + "}}\n";
}
std::string withPorts(const BackendKind& spelling, const std::string& ports) {
  return backendOf(spelling, "type: Fqdn, fqdn: {hostname: origin.test}, ports: [" + ports + "]");
}
std::string routeToSpelling(const BackendKind& spelling, const std::string& port) {
  return with(kRoute, "group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080",
              "group: " + std::string(spelling.group) + ", kind: " + spelling.kind + ", name: origin" +
                  (port.empty() ? "" : ", port: " + port));
}
World worldOf(const BackendKind& spelling, const std::string& ports, const std::string& port) {
  const std::string backend = withPorts(spelling, ports);
  const std::string route = routeToSpelling(spelling, port);
  return World({kClass, kGateway, backend, route});
}

constexpr const char* kTwoPorts = "{number: 80, protocol: HTTP}, {number: 443, protocol: HTTP2, tls: {mode: Simple}}";

TEST(BackendSpelling, IsServedOnThePortThatTheReferenceNames) {
  for (const BackendKind& spelling : kSpellings) {
    const World plain = worldOf(spelling, kTwoPorts, "80");
    ASSERT_EQ(plain.outcome(), "default/origin") << spelling.group;
    EXPECT_EQ(plain.snapshot().backends.at(0)->authority, "origin.test");
    EXPECT_FALSE(plain.snapshot().backends.at(0)->tls);
    const World secure = worldOf(spelling, kTwoPorts, "443");
    ASSERT_EQ(secure.outcome(), "default/origin") << spelling.group;
    EXPECT_TRUE(secure.snapshot().backends.at(0)->tls);
    EXPECT_EQ(secure.snapshot().backends.at(0)->protocol, routing::UpstreamProtocol::kHttp2);
    EXPECT_EQ(worldOf(spelling, "{number: 80, protocol: HTTP}", "").outcome(), "default/origin") << "the only port";
    for (const char* port : {"", "81"}) {
      const World world = worldOf(spelling, kTwoPorts, port);
      EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/BackendNotFound");
      EXPECT_EQ(world.outcome(), "500");
    }
  }
}

TEST(BackendSpelling, HasTheStatusOfItsOwnCrd) {
  for (const BackendKind& spelling : kSpellings) {
    const World world = worldOf(spelling, kTwoPorts, "80");
    const config::ObjectStatus* status = world.status(spelling.kind, "origin");
    ASSERT_NE(status, nullptr);
    EXPECT_EQ(status->group, spelling.group);
    EXPECT_EQ(status->shape, config::StatusShape::kControllers);
    ASSERT_EQ(status->controllers.size(), 1U);
    EXPECT_EQ(status->controllers.front().name, config::kControllerName);
    for (const char* type : {"Accepted", "ResolvedRefs", "Programmed", "Available"}) {
      EXPECT_EQ(world.condition(spelling.kind, "origin", type), "True/" + std::string(type));
    }
    const std::string broken = with(withPorts(spelling, kTwoPorts), "origin.test", "localhost");
    const World refused({kClass, kGateway, broken, routeToSpelling(spelling, "80")});
    EXPECT_EQ(refused.status(spelling.kind, "origin")->group, spelling.group);
    EXPECT_EQ(refused.condition(spelling.kind, "origin", "Accepted"), "False/Invalid");
    EXPECT_EQ(refused.condition(spelling.kind, "origin", "Available"), "False/Invalid");
    EXPECT_EQ(refused.outcome(), "500");
  }
}

constexpr std::string_view kShop = R"(
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {ports: [{name: web, port: 80}, {name: grpc, port: 81, appProtocol: grpc}]}
)";

std::string sliceWith(const std::string& addresses) {
  return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: shop-1, labels: "
         "{kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: 8080}, {name: grpc, port: "
         "9090}]\nendpoints: [{addresses: [" +
         addresses + "]}]\n";
}

std::string toService(const BackendKind& spelling, const std::string& ports,
                      const std::string& service = "name: shop, namespace: default") {
  return backendOf(spelling, "type: KubernetesService, service: {" + service + "}, ports: [" + ports + "]");
}

TEST(BackendSpelling, LeadsToTheEndpointsOfAService) {
  const std::string slice = sliceWith("10.0.0.1");
  for (const BackendKind& spelling : kSpellings) {
    const std::string backend = toService(spelling, "{number: 80, protocol: HTTP}, {number: 81, protocol: HTTP}");
    const World world({kClass, kGateway, kShop, slice, backend, routeToSpelling(spelling, "80")});
    ASSERT_EQ(world.outcome(), "default/origin") << spelling.group;
    const routing::BackendPlan& plan = test::firstPlan(world);
    EXPECT_EQ(plan.hostname, "shop.default.svc");
    EXPECT_EQ(plan.endpoints, (std::vector<routing::Endpoint>{{"10.0.0.1", 8080}}));
    EXPECT_EQ(plan.protocol, routing::UpstreamProtocol::kAuto);
    EXPECT_FALSE(plan.tls);
    EXPECT_EQ(world.condition(spelling.kind, "origin", "ResolvedRefs"), "True/ResolvedRefs");
    const World grpc({kClass, kGateway, kShop, slice, backend, routeToSpelling(spelling, "81")});
    EXPECT_EQ(test::firstPlan(grpc).protocol, routing::UpstreamProtocol::kHttp2) << "the Service says so";
  }
}

TEST(BackendSpelling, GivesAServiceItsOwnTlsAndProtocol) {
  const std::string backend = toService(kOwn, "{number: 80, protocol: HTTP2, tls: {mode: Simple}}");
  const World world({kClass, kGateway, kShop, sliceWith("10.0.0.1"), backend, routeToSpelling(kOwn, "")});
  ASSERT_EQ(world.outcome(), "default/origin");
  const routing::BackendPlan& plan = test::firstPlan(world);
  EXPECT_EQ(plan.protocol, routing::UpstreamProtocol::kHttp2);
  ASSERT_TRUE(plan.tls);
  EXPECT_EQ(plan.tls->serverName, "shop.default.svc");
}

TEST(BackendSpelling, Answers500WithoutTheServiceOrItsPort) {
  const std::string slice = sliceWith("10.0.0.1");
  const auto refused = [&](const std::string& backend) {
    const World world({kClass, kGateway, kShop, slice, backend, routeToSpelling(kOwn, "")});
    EXPECT_EQ(world.outcome(), "500");
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"),
              world.condition("Backend", "origin", "ResolvedRefs"));
    return world.condition("Backend", "origin", "ResolvedRefs");
  };
  EXPECT_EQ(refused(toService(kOwn, "{number: 80}", "name: shops")), "False/BackendNotFound");
  EXPECT_EQ(refused(toService(kOwn, "{number: 443}")), "False/BackendNotFound");
  EXPECT_EQ(refused(toService(kOwn, "{number: 80}", "name: shop, namespace: other")), "False/RefNotPermitted");
}

TEST(BackendSpelling, LeadsToAServiceOfAnotherNamespaceThatAGrantPermits) {
  const std::string elsewhere = with(kShop, "name: shop}", "name: shop, namespace: other}");
  const std::string slice = with(sliceWith("10.0.0.1"), "name: shop-1,", "name: shop-1, namespace: other,");
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: a, namespace: other}\nspec: "
      "{from: [{group: sluice.dev, kind: Backend, namespace: default}], to: [{group: '', kind: Service}]}\n";
  const std::string backend = toService(kOwn, "{number: 80}", "name: shop, namespace: other");
  const World world({kClass, kGateway, elsewhere, slice, grant, backend, routeToSpelling(kOwn, "")});
  EXPECT_EQ(world.outcome(), "default/origin");
}

TEST(BackendSpelling, LeadsToAnAddress) {
  for (const BackendKind& spelling : kSpellings) {
    const std::string ports =
        ", ports: [{number: 443, protocol: HTTP, tls: {mode: Simple}}, {number: 81, protocol: HTTP}]";
    const std::string v4 = backendOf(spelling, "type: Ip, ip: {address: 192.0.2.7}" + ports);
    const World world({kClass, kGateway, v4, routeToSpelling(spelling, "443")});
    ASSERT_EQ(world.outcome(), "default/origin") << spelling.group;
    const routing::BackendPlan& plan = test::firstPlan(world);
    EXPECT_EQ(plan.hostname, "192.0.2.7");
    EXPECT_EQ(plan.authority, "192.0.2.7");
    EXPECT_EQ(plan.tls->serverName, "192.0.2.7") << "by which the certificate is verified";
    EXPECT_EQ(world.condition(spelling.kind, "origin", "Accepted"), "True/Accepted");
    const std::string v6 = backendOf(spelling, "type: Ip, ip: {address: '2001:DB8:0::7'}" + ports);
    const World other({kClass, kGateway, v6, routeToSpelling(spelling, "81")});
    ASSERT_EQ(other.outcome(), "default/origin") << spelling.group;
    EXPECT_EQ(test::firstPlan(other).hostname, "2001:db8::7");
    EXPECT_EQ(test::firstPlan(other).authority, "[2001:db8::7]:81");
  }
}

TEST(BackendSpelling, LosesOnlyThePortsWithAnUnsupportedProtocol) {
  for (const std::string protocol : {"TCP", "MCP"}) {
    const std::string ports = "{number: 80, protocol: HTTP}, {number: 81, protocol: " + protocol + "}";
    const World served = worldOf(kOwn, ports, "80");
    EXPECT_EQ(served.outcome(), "default/origin");
    EXPECT_EQ(served.condition("Backend", "origin", "Accepted"), "True/Accepted");
    EXPECT_EQ(served.condition("Backend", "origin", "PartiallyInvalid"), "True/UnsupportedProtocol");
    EXPECT_FALSE(config::isHealthy(*served.status("Backend", "origin")));
    const World lost = worldOf(kOwn, ports, "81");
    EXPECT_EQ(lost.outcome(), "500");
    EXPECT_EQ(lost.condition("HTTPRoute", "route", "ResolvedRefs"), "False/UnsupportedProtocol");
    const World only = worldOf(kOwn, "{number: 81, protocol: " + protocol + "}", "");
    EXPECT_EQ(only.condition("Backend", "origin", "Accepted"), "False/UnsupportedProtocol");
    EXPECT_NE(only.message("Backend", "origin", "Accepted").find("ports[0].protocol: " + protocol), std::string::npos);
    EXPECT_EQ(only.outcome(), "500");
  }
}

TEST(BackendSpelling, LosesOnlyThePortsWithBrokenReferences) {
  const std::string ports =
      "{number: 80, protocol: HTTP}, {number: 443, protocol: HTTP, tls: {caBundleRef: [{name: absent}]}}";
  const World served = worldOf(kOwn, ports, "80");
  EXPECT_EQ(served.outcome(), "default/origin");
  EXPECT_EQ(served.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidCACertificateRef");
  EXPECT_EQ(served.condition("Backend", "origin", "Programmed"), "True/Programmed");
  EXPECT_EQ(worldOf(kOwn, ports, "443").outcome(), "500");
}

World optionWorld(const std::string& options) {
  return worldOf(kOwn, "{number: 443, protocol: HTTP, tls: {options: {" + options + "}}}", "");
}

TEST(TlsOptions, BecomeTypedMembers) {
  const World world = optionWorld(
      "sluice.dev/spki-pins: '4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0=, "
      "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=', sluice.dev/min-tls-version: '1.3', sluice.dev/cipher-suites: "
      "'TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256'");
  ASSERT_EQ(world.outcome(), "default/origin");
  const routing::UpstreamTls& tls = *world.snapshot().backends.at(0)->tls;
  EXPECT_EQ(tls.spkiPins, (std::vector<std::string>{"4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0=",
                                                    "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}));
  EXPECT_EQ(tls.minVersion, "1.3");
  EXPECT_EQ(tls.cipherSuites, "TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256");
}

TEST(TlsOptions, AreRefusedWithAConditionIfTheirValuesAreWrong) {
  for (const std::string option :
       {"spki-pins: ''", "spki-pins: ' , '", "spki-pins: nonsense",
        "spki-pins: 4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0",
        "spki-pins: 'sha256/4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0='",
        "spki-pins: '4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0=,x'", "min-tls-version: '1.1'", "min-tls-version: ''",
        "min-tls-version: TLSv1.2", "cipher-suites: ''", "cipher-suites: 'A:'", "cipher-suites: ':A'",
        "cipher-suites: 'ALL:!aNULL'", "cipher-suites: '-A'", "cipher-suites: 'ALL:@SECLEVEL=0'",
        "cipher-suites: 'A B'", "surprise: x"}) {
    const World world = optionWorld("sluice.dev/" + option);
    EXPECT_EQ(world.condition("Backend", "origin", "Accepted").substr(0, 6), "False/") << option;
    EXPECT_EQ(world.outcome(), "500") << option;
  }
  EXPECT_EQ(optionWorld("sluice.dev/min-tls-version: '1.1'").condition("Backend", "origin", "Accepted"),
            "False/Invalid");
  EXPECT_NE(optionWorld("sluice.dev/min-tls-version: '1.1'")
                .message("Backend", "origin", "Accepted")
                .find("options[\"sluice.dev/min-tls-version\"]: must be 1.2 or 1.3"),
            std::string::npos);
}

TEST(TlsOptions, DoNotPinAPeerThatIsNotVerified) {
  const World world = worldOf(kOwn,
                              "{number: 443, protocol: HTTP, tls: {insecureSkipVerify: true, options: "
                              "{sluice.dev/spki-pins: '4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0='}}}",
                              "");
  EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.outcome(), "500");
}

TEST(TlsOptions, AcceptAtMostSixteenPins) {
  const auto pins = [](int count) {
    std::string text = "sluice.dev/spki-pins: '";
    for (int i = 0; i < count; ++i) text += "4ZvQ1Ivw0nDYG6ZMkDJTFmUoVQKTcCvXvZW+2iGLeP0= ";
    return text + "'";
  };
  EXPECT_EQ(optionWorld(pins(16)).outcome(), "default/origin");
  EXPECT_EQ(optionWorld(pins(17)).outcome(), "500");
}

TEST(TlsOptions, IgnoreKeysOfForeignDomains) {
  const World world = optionWorld("acme.test/colour: blue");
  EXPECT_EQ(world.outcome(), "default/origin");
  EXPECT_NE(world.message("Backend", "origin", "Accepted").find("acme.test/colour"), std::string::npos);
}

}  // namespace
}  // namespace sluice::compile
