// Tests several Gateways in one process: each has ports of its own, and conflicts over a port are resolved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Returns another Gateway of the same class; `spec` are further lines of its spec.
std::string gatewayOf(const std::string& name, std::uint16_t port, const std::string& spec = {},
                      const std::string& address = "127.0.0.1") {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  gatewayClassName: test\n  addresses: [{value: " + address + "}]\n" + spec +
         "  listeners: [{name: web, protocol: HTTP, port: " + std::to_string(port) + "}]\n";
}

/// Returns a route of that Gateway that answers with a redirect to the Gateway's name.
std::string redirectingRouteOf(const std::string& gateway) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: of-" +
         gateway + "}\nspec:\n  parentRefs: [{name: " + gateway +
         "}]\n  rules: [{filters: [{type: RequestRedirect, requestRedirect: {hostname: " + gateway + ".test}}]}]\n";
}

std::string curlAt(std::uint16_t port, const std::string& address = "127.0.0.1") {
  return run({"curl", "-sS", "-i", "http://" + address + ":" + std::to_string(port) + "/"}).output;
}

/// Returns a loopback address that no other process uses.
std::string ownAddress() {
  const auto id = static_cast<unsigned>(getpid());
  return "127." + std::to_string(64 + (id >> 14 & 63)) + "." + std::to_string(id >> 7 & 127) + "." +
         std::to_string(1 + (id & 127));
}

/// Returns true if a listener is bound to this address or to all addresses.
bool isTaken(const std::string& address, std::uint16_t port) {
  return run({"curl", "-sS", "http://" + address + ":" + std::to_string(port) + "/"}).exitCode != 7;
}

TEST(Gateways, EachServeTheirOwnRoutesOnTheirOwnPort) {
  const std::uint16_t other = freePort();
  const GatewayProcess gateway(
      {.backends = {{.port = freePort()}},
       .routes = redirectingRouteOf("egress") + gatewayOf("second", other) + redirectingRouteOf("second")});
  EXPECT_THAT(curlAt(gateway.port()), HasSubstr("http://egress.test"));
  EXPECT_THAT(curlAt(other), HasSubstr("http://second.test"));
}

TEST(Gateways, HaveThePortsOfTheirOwnAddressToThemselves) {
  const std::string address = ownAddress();
  if (isTaken(address, 8080)) GTEST_SKIP() << "port 8080 of all addresses belongs to another process";
  const GatewayProcess gateway(
      {.backends = {{.port = freePort()}},
       .routes = redirectingRouteOf("egress") + gatewayOf("second", 8080, {}, address) + redirectingRouteOf("second")});
  EXPECT_THAT(curlAt(8080, address), HasSubstr("http://second.test"));
  EXPECT_FALSE(isTaken("127.0.0.1", 8080)) << "only on its address";
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"value\":\"" + address + "\""));
}

TEST(Gateways, TheLaterOneByNameDoesNotGetATakenPort) {
  GatewaySpec spec{.backends = {{.port = freePort()}}, .routes = redirectingRouteOf("egress")};
  GatewayProcess gateway(spec);
  spec.routes += gatewayOf("second", gateway.port()) + redirectingRouteOf("second");
  gateway.reload(spec);
  EXPECT_THAT(curlAt(gateway.port()), HasSubstr("http://egress.test"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"reason\":\"PortUnavailable\""));
}

TEST(Gateways, AnswerWith500IfTheirParametersAreInvalid) {
  const std::uint16_t other = freePort();
  const GatewayProcess gateway(
      {.backends = {{.port = freePort()}},
       .routes = redirectingRouteOf("egress") +
                 gatewayOf("second", other,
                           "  infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: settings}}\n") +
                 redirectingRouteOf("second")});
  EXPECT_THAT(curlAt(gateway.port()), HasSubstr("http://egress.test"));
  EXPECT_THAT(curlAt(other), HasSubstr("HTTP/1.1 500"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"reason\":\"InvalidParameters\""));
}

TEST(Gateways, HaveAClassThatReportsItsSupportedFeatures) {
  const GatewayProcess gateway({.backends = {{.port = freePort()}}, .routes = redirectingRouteOf("egress")});
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(R"("supportedFeatures":[{"name":"BackendTLSPolicy"},)"));
}

}  // namespace
}  // namespace sluice::test
