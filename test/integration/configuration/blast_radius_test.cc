// Tests that one bad object beside a correct route affects nothing else: its own requests get 500 or its listener is
// not Programmed, with the reason in /status, and its requests never go to the route for everything. Health, readiness
// and the admin port answer as always.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kGatewayApi = "gateway.networking.k8s.io/v1";
constexpr const char* kEnvoyApi = "gateway.envoyproxy.io/v1alpha1";
const std::string kAnyPath = "    - matches: [{path: {value: /}}]\n";

std::string documentOf(const std::string& apiVersion, const std::string& kind, const std::string& name,
                       const std::string& spec) {
  return "---\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n" + spec;
}

/// Returns a route for these hosts, with rules as lines.
std::string routeFor(const std::string& hosts, const std::string& rules) {
  return documentOf(kGatewayApi, "HTTPRoute", "wrong",
                    "  parentRefs: [{name: egress}]\n  hostnames: [" + hosts + "]\n  rules:\n" + rules);
}

/// Returns a second Gateway with one listener; `more` are further members of the listener.
std::string secondGateway(std::uint16_t port, const std::string& address = "127.0.0.1",
                          const std::string& more = ", protocol: HTTP") {
  return documentOf(kGatewayApi, "Gateway", "second",
                    "  gatewayClassName: test\n  addresses: [{value: " + address +
                        "}]\n  listeners: [{name: web, port: " + std::to_string(port) + more + "}]\n");
}

/// Returns a policy for an object of Gateway API.
std::string policyOf(const std::string& apiVersion, const std::string& kind, const std::string& target) {
  return documentOf(apiVersion, kind, "policy", "  targetRefs: [{group: gateway.networking.k8s.io, " + target + "}]\n");
}

class BlastRadius : public testing::Test {
 protected:
  /// Returns the right route, which serves every host and path, beside these documents.
  GatewaySpec beside(const std::string& documents) const {
    return {.backends = {{.port = origin_.port()}, {.name = "second", .port = origin_.port()}},
            .routes = routeOfRules(ruleOfPrefix("/", "origin")) + documents};
  }

  static std::string statusFor(const GatewayProcess& gateway, const std::string& host,
                               const std::string& target = "/") {
    return statusOf(gateway, target, {"-H", "Host: " + host});
  }

  static int pageStatus(std::uint16_t port, const std::string& page) {
    return askRaw(port, "GET " + page + " HTTP/1.1\r\nHost: localhost\r\n\r\n").status;
  }

  /// Waits until the gateway is ready. It listens a little earlier, and again if it could not listen everywhere.
  static bool isReady(const GatewayProcess& gateway) {
    return eventually([&] { return pageStatus(gateway.healthPort(), "/readyz") == 200; });
  }

  /// Checks that everything but the bad object is served.
  static void expectTheRest(const GatewayProcess& gateway) {
    EXPECT_TRUE(isReady(gateway));
    EXPECT_EQ(statusFor(gateway, "right.test"), "200");
    EXPECT_EQ(pageStatus(gateway.healthPort(), "/healthz"), 200);
    for (const char* page : {"/status", "/metrics", "/exchanges"}) {
      EXPECT_EQ(pageStatus(gateway.adminPort(), page), 200) << page;
    }
  }

  /// Checks that the host of the bad object answers 500, and the object has this reason.
  static void expectRefusal(const GatewayProcess& gateway, const std::string& kind, const std::string& name,
                            const std::string& reason) {
    EXPECT_EQ(statusFor(gateway, "wrong.test"), "500");
    EXPECT_THAT(conditionsOf(gateway, kind, name), HasSubstr("\"reason\":\"" + reason + "\""));
    expectTheRest(gateway);
  }

  /// Returns the element of /status for that object, which lists objects with faults before; empty if there is none.
  static std::string conditionsOf(const GatewayProcess& gateway, const std::string& kind, const std::string& name) {
    EXPECT_TRUE(isReady(gateway));
    const std::string all = gateway.adminGet("/status");
    const std::size_t begin = all.find("\"kind\":\"" + kind + "\",\"namespace\":\"test\",\"name\":\"" + name + "\"",
                                       all.find("\"objects\":["));
    if (begin == std::string::npos) return {};
    const std::size_t status = all.find("\"status\":{", begin);
    return all.substr(begin, all.find("\"status\":{", status + 1) - begin);
  }

  EchoOrigin origin_{std::nullopt};
};

TEST_F(BlastRadius, OfACertificateThatDoesNotLoadIsItsListener) {
  const std::uint16_t port = freePort();
  const GatewayProcess gateway(
      beside(tlsSecretOf("broken", {"no certificate", "no key"}) +
             secondGateway(port, "127.0.0.1", ", protocol: HTTPS, tls: {certificateRefs: [{name: broken}]}")));
  EXPECT_FALSE(BlockingSocket::connect(port).ok());
  EXPECT_THAT(conditionsOf(gateway, "Gateway", "second"), HasSubstr("\"reason\":\"InvalidCertificateRef\""));
  EXPECT_THAT(conditionsOf(gateway, "Gateway", "second"),
              HasSubstr(R"("type":"Programmed","status":"False","reason":"Invalid")"));
  expectTheRest(gateway);
}

TEST_F(BlastRadius, OfAnAuthorityThatDoesNotLoadIsItsBackend) {
  GatewaySpec spec = beside(routeFor("wrong.test", ruleOfPrefix("/", "second")));
  spec.backends[1].ca = "no certificate";
  const GatewayProcess gateway(spec);
  expectRefusal(gateway, "Backend", "second", "InvalidCACertificateRef");
}

TEST_F(BlastRadius, OfABadExpressionIsItsRule) {
  const GatewayProcess gateway(beside(
      routeFor("wrong.test", ruleOfPrefix("/good", "origin") +
                                 "    - matches: [{path: {type: RegularExpression, value: '/('}}]\n" + backendRefs())));
  EXPECT_EQ(statusFor(gateway, "wrong.test", "/good"), "200");
  expectRefusal(gateway, "HTTPRoute", "wrong", "UnsupportedValue");
}

TEST_F(BlastRadius, OfARouteThatItsSchemaRefusesIsWhatItSays) {
  for (const std::string& rules :
       {kAnyPath + "      filters: [{type: Nothing}]\n" + backendRefs(), kAnyPath + "      backendRef: []\n",
        "    - matches: [{path: {value: no-path}}]\n" + backendRefs(), "    - match: []\n" + backendRefs()}) {
    const GatewayProcess gateway(beside(routeFor("wrong.test, 'Not one'", rules)));
    SCOPED_TRACE(rules);
    expectRefusal(gateway, "HTTPRoute", "wrong", "Invalid");
  }
}

TEST_F(BlastRadius, OfARouteOfAnotherVersionIsWhatItSays) {
  const std::string route = routeFor("wrong.test", ruleOfPrefix("/", "origin"));
  const std::size_t version = route.find("/v1\n") + 1;
  const GatewayProcess gateway(beside(route.substr(0, version) + "v1alpha2" + route.substr(version + 2)));
  expectRefusal(gateway, "HTTPRoute", "wrong", "Invalid");
}

TEST_F(BlastRadius, OfABackendThatItsSchemaRefusesIsTheRulesThatLeadToIt) {
  const GatewayProcess gateway(beside(
      routeFor("wrong.test", ruleOfPrefix("/good", "origin") + ruleOfPrefix("/", "refused")) +
      documentOf("gateway.networking.k8s.io/v1alpha1", "Backend", "refused", "  destination: {type: Nowhere}\n")));
  EXPECT_EQ(statusFor(gateway, "wrong.test", "/good"), "200");
  expectRefusal(gateway, "Backend", "refused", "Invalid");
}

TEST_F(BlastRadius, OfAProcessorThatCannotRunIsItsTarget) {
  const std::string uses = "  processors: [{name: a, type: 'x.test/Absent:v1', phase: request-headers}]\n";
  const std::string route = routeFor("wrong.test", ruleOfPrefix("/", "origin"));
  for (const std::string kind : {"HTTPRoute", "HttpRoute"}) {
    SCOPED_TRACE(kind);
    const std::string target =
        "  targetRef: {group: gateway.networking.k8s.io, kind: " + kind + ", name: wrong}\n" + uses;
    const GatewayProcess gateway(
        beside(route + documentOf("sluice.dev/v1alpha1", "PayloadProcessor", "processor", target)));
    expectRefusal(gateway, "PayloadProcessor", "processor",
                  kind == "HTTPRoute" ? "UnsupportedExtensionType" : "Invalid");
  }
}

TEST_F(BlastRadius, OfAPolicyOfAnUnsupportedKindIsWhatItNames) {
  const std::string route = routeFor("wrong.test", ruleOfPrefix("/", "second"));
  for (const auto& [apiVersion, kind, target] :
       {std::tuple(kGatewayApi, "BackendTLSPolicy", "kind: Backend, name: second"),
        std::tuple(kEnvoyApi, "SecurityPolicy", "kind: HTTPRoute, name: wrong")}) {
    SCOPED_TRACE(kind);
    const GatewayProcess gateway(beside(route + policyOf(apiVersion, kind, target)));
    expectRefusal(gateway, kind, "policy", "Invalid");
    EXPECT_THAT(conditionsOf(gateway, "HTTPRoute", "wrong"), HasSubstr(std::string(kind) + " test/policy"));
  }
}

TEST_F(BlastRadius, OfAnUnsupportedExtensionIsWhatItsPolicyNames) {
  const GatewayProcess gateway(beside(routeFor("wrong.test", ruleOfPrefix("/", "second")) +
                                      policyOf(kEnvoyApi, "EnvoyExtensionPolicy", "kind: HTTPRoute, name: wrong") +
                                      "  lua: [{type: Inline, inline: 'x = 1'}]\n"));
  expectRefusal(gateway, "EnvoyExtensionPolicy", "policy", "UnsupportedValue");
  EXPECT_THAT(conditionsOf(gateway, "HTTPRoute", "wrong"), HasSubstr("EnvoyExtensionPolicy test/policy: spec.lua"));
}

TEST_F(BlastRadius, OfAnUnsupportedFieldIsWhatItsPolicyNames) {
  const std::string route = routeFor("wrong.test", ruleOfPrefix("/", "second"));
  for (const std::string field : {"rateLimit: {type: Local}", "matching: {stripAuthorityPort: true}"}) {
    SCOPED_TRACE(field);
    const GatewayProcess gateway(beside(
        route + policyOf(kEnvoyApi, "BackendTrafficPolicy", "kind: HTTPRoute, name: wrong") + "  " + field + "\n"));
    expectRefusal(gateway, "BackendTrafficPolicy", "policy", "UnsupportedValue");
    EXPECT_THAT(conditionsOf(gateway, "HTTPRoute", "wrong"),
                HasSubstr("BackendTrafficPolicy test/policy: spec." + field.substr(0, field.find(':'))));
  }
}

TEST_F(BlastRadius, OfAPolicyForAGatewayIsThatGateway) {
  const std::uint16_t port = freePort();
  const GatewayProcess gateway(
      beside(secondGateway(port) + policyOf(kEnvoyApi, "SecurityPolicy", "kind: Gateway, name: second")));
  EXPECT_EQ(askRaw(port).status, 500);
  EXPECT_THAT(conditionsOf(gateway, "Gateway", "second"), HasSubstr("SecurityPolicy test/policy"));
  expectTheRest(gateway);
}

TEST_F(BlastRadius, OfAPolicyEndsWithThePolicy) {
  const std::string route = routeFor("wrong.test", ruleOfPrefix("/", "second"));
  GatewayProcess gateway(beside(route));
  EXPECT_EQ(statusFor(gateway, "wrong.test"), "200");
  gateway.reload(beside(route + policyOf(kGatewayApi, "BackendTLSPolicy", "kind: Backend, name: second")));
  EXPECT_EQ(statusFor(gateway, "wrong.test"), "500");
  gateway.reload(beside(route));
  EXPECT_EQ(statusFor(gateway, "wrong.test"), "200");
  expectTheRest(gateway);
}

TEST_F(BlastRadius, OfABrokenReferenceIsItsShare) {
  const GatewayProcess gateway(
      beside(routeFor("wrong.test", ruleOfPrefix("/good", "origin") + ruleOfPrefix("/", "absent"))));
  EXPECT_EQ(statusFor(gateway, "wrong.test", "/good"), "200");
  expectRefusal(gateway, "HTTPRoute", "wrong", "BackendNotFound");
}

TEST_F(BlastRadius, OfAnAddressThatTheMachineLacksIsItsGateway) {
  const GatewayProcess gateway(beside(secondGateway(freePort(), "203.0.113.7")));
  EXPECT_THAT(conditionsOf(gateway, "Gateway", "second"),
              HasSubstr(R"("type":"Programmed","status":"False","reason":"AddressNotUsable")"));
  EXPECT_THAT(conditionsOf(gateway, "Gateway", "egress"), HasSubstr(R"("type":"Programmed","status":"True")"));
  expectTheRest(gateway);
}

TEST_F(BlastRadius, OfAPortThatIsTakenIsItsListener) {
  RawOrigin occupant(RawOrigin::answering(saying("occupied")));
  const std::uint16_t free = freePort();
  GatewaySpec spec = beside({});
  spec.listeners = "    - {name: taken, protocol: HTTP, port: " + std::to_string(occupant.port()) +
                   "}\n    - {name: free, protocol: HTTP, port: " + std::to_string(free) + "}\n";
  const GatewayProcess gateway(spec);
  ASSERT_TRUE(waitForPort(free));
  EXPECT_EQ(askRaw(free).status, 200);
  const std::string status = conditionsOf(gateway, "Gateway", "egress");
  EXPECT_THAT(status, HasSubstr("\"reason\":\"PortUnavailable\""));
  EXPECT_THAT(status, HasSubstr("127.0.0.1:" + std::to_string(occupant.port()) + ": Address already in use"));
  expectTheRest(gateway);
}

TEST_F(BlastRadius, OfAListenerOnAPortOfHealthOrAdminIsThatListener) {
  GatewayProcess gateway(beside({}));
  for (const std::uint16_t port : {gateway.adminPort(), gateway.healthPort()}) {
    gateway.reload(beside(secondGateway(port)));
    EXPECT_THAT(conditionsOf(gateway, "Gateway", "second"), HasSubstr("\"reason\":\"AddressNotUsable\""));
    expectTheRest(gateway);
  }
}

TEST_F(BlastRadius, OfAllOfThemTogetherIsTheirSum) {
  const GatewayProcess gateway(beside(
      tlsSecretOf("broken", {"no certificate", "no key"}) +
      routeFor("wrong.test", "    - match: []\n" + backendRefs()) +
      secondGateway(freePort(), "203.0.113.7", ", protocol: HTTPS, tls: {certificateRefs: [{name: broken}]}") +
      policyOf(kEnvoyApi, "SecurityPolicy", "kind: Gateway, name: second") +
      documentOf("gateway.networking.k8s.io/v1alpha1", "Backend", "refused", "  destination: {type: Nowhere}\n")));
  expectRefusal(gateway, "HTTPRoute", "wrong", "Invalid");
}

}  // namespace
}  // namespace sluice::test
