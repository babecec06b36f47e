// Several Gateways in one process: each on ports of its own, and what becomes of those who want the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Another Gateway of the same class; `spec` are further lines of its spec.
std::string gatewayOf(const std::string& name, std::uint16_t port, const std::string& spec = {}) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: " + name +
         ", creationTimestamp: '2025-01-01T00:00:00Z'}\nspec:\n  gatewayClassName: test\n  addresses: [{value: "
         "127.0.0.1}]\n" +
         spec + "  listeners: [{name: web, protocol: HTTP, port: " + std::to_string(port) + "}]\n";
}

/// A route of that Gateway, which answers by itself and with its name.
std::string routeOf(const std::string& gateway) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: of-" +
         gateway + "}\nspec:\n  parentRefs: [{name: " + gateway +
         "}]\n  rules: [{filters: [{type: RequestRedirect, requestRedirect: {hostname: " + gateway + ".test}}]}]\n";
}

std::string ask(std::uint16_t port) {
  return run({"curl", "-sS", "-i", "http://127.0.0.1:" + std::to_string(port) + "/"}).output;
}

TEST(Gateways, ServeEachItsOwnRoutesOnItsOwnPort) {
  const std::uint16_t other = freePort();
  const Gateway gateway({.backends = {{.port = freePort()}},
                         .routes = routeOf("egress") + gatewayOf("second", other) + routeOf("second")});
  EXPECT_THAT(ask(gateway.port()), HasSubstr("http://egress.test"));
  EXPECT_THAT(ask(other), HasSubstr("http://second.test"));
}

TEST(Gateways, TheNewerOneDoesNotGetAPortThatIsTaken) {
  GatewaySpec spec{.backends = {{.port = freePort()}}, .routes = routeOf("egress")};
  Gateway gateway(spec);
  spec.routes += gatewayOf("second", gateway.port()) + routeOf("second");
  gateway.reload(spec);
  EXPECT_THAT(ask(gateway.port()), HasSubstr("http://egress.test"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"reason\":\"PortUnavailable\""));
}

TEST(Gateways, AnswersItselfIfItsParametersAreNone) {
  const std::uint16_t other = freePort();
  const Gateway gateway(
      {.backends = {{.port = freePort()}},
       .routes = routeOf("egress") +
                 gatewayOf("second", other,
                           "  infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: settings}}\n") +
                 routeOf("second")});
  EXPECT_THAT(ask(gateway.port()), HasSubstr("http://egress.test"));
  EXPECT_THAT(ask(other), HasSubstr("HTTP/1.1 500"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"reason\":\"InvalidParameters\""));
}

TEST(Gateways, TheClassSaysWhatItSupports) {
  const Gateway gateway({.backends = {{.port = freePort()}}, .routes = routeOf("egress")});
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(R"("supportedFeatures":[{"name":"GRPCRoute"},)"));
}

}  // namespace
}  // namespace sluice::test
