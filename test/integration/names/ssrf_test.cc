// Tests attempts to reach this machine, by a client through any part of a request, and by the author of a Backend. None
// of them succeeds, whether the address guard or an EgressPolicy forbids it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/names/walls.h"
#include "test/integration/support/canary.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/scripted_name_server.h"

namespace sluice::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

const std::vector<std::string> kNamesOfThisMachine = {"localhost",
                                                      "localhost.",
                                                      "LOCALHOST",
                                                      "foo.localhost",
                                                      "localhost.localdomain",
                                                      "ip6-localhost",
                                                      "localtest.me",
                                                      "127.0.0.1.nip.io",
                                                      "127.0.0.1",
                                                      "127.0.0.1.",
                                                      "127.1",
                                                      "127.0.1",
                                                      "127.0.0.01",
                                                      "0177.0.0.1",
                                                      "0x7f.1",
                                                      "0x7f.0.0.1",
                                                      "0x7F000001",
                                                      "2130706433",
                                                      "017700000001",
                                                      "0",
                                                      "0.0.0.0",
                                                      "127.255.255.254",
                                                      "169.254.169.254",
                                                      "[::1]",
                                                      "[::]",
                                                      "[::ffff:127.0.0.1]",
                                                      "[::ffff:7f00:1]",
                                                      "[0:0:0:0:0:0:0:1]",
                                                      "[64:ff9b::7f00:1]",
                                                      "[fe80::1%25lo]",
                                                      "me@localhost",
                                                      "origin.test@localhost",
                                                      "localhost#origin.test",
                                                      "localhost\\origin.test"};

/// Returns a policy that denies what the requests name, and allows the Backend alone. The destination is that of the
/// Backend, so it changes nothing.
std::string policyAgainstTheNamed(std::uint16_t port) {
  return egressPolicy("wall", kGatewayTarget,
                      "rules: [" + allowing("origin", "to: {hostnames: [origin.test]}") + ", " +
                          denying("port", "to: {ports: [" + std::to_string(port) + "]}") + ", " +
                          denying("named", "to: {hostnames: [localhost, '*.localhost', localtest.me, '*.nip.io']}") +
                          "]");
}

void expectNoRequestNamesItsDestination(const GatewayProcess& gateway, std::uint16_t port) {
  for (const std::string& spelling : kNamesOfThisMachine) {
    SCOPED_TRACE(spelling);
    const std::string there = spelling + ":" + std::to_string(port);
    for (const std::string& request : {"GET / HTTP/1.1\r\nHost: " + there + "\r\n\r\n",
                                       "GET http://" + there + "/ HTTP/1.1\r\nHost: " + there + "\r\n\r\n",
                                       "GET http://" + there + "/ HTTP/1.1\r\nHost: origin.test\r\n\r\n",
                                       "CONNECT " + there + " HTTP/1.1\r\nHost: " + there + "\r\n\r\nGET / "}) {
      const ReceivedResponse got = askRaw(gateway.port(), request);
      // Either the route's Backend answers, whatever host the request named, or no backend does.
      EXPECT_THAT(got.status, AnyOf(200, 400, 405)) << request;
      EXPECT_FALSE(request.starts_with("CONNECT") && got.status == 200) << request;
    }
  }
}

TEST(Ssrf, NoRequestNamesItsOwnDestination) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(canary.ok());
  for (const std::string& policy : {std::string(), policyAgainstTheNamed(port)}) {
    GatewaySpec spec{.backends = {{.port = origin.port()}}};
    spec.routes = routeOfRules("    - " + backendRefs().substr(6)) + policy;
    const GatewayProcess gateway(spec);
    expectNoRequestNamesItsDestination(gateway, port);
  }
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
  const std::string host = "Host: origin.test:" + std::to_string(origin.port());
  for (const std::string& head : origin.heads()) EXPECT_THAT(head, testing::ContainsRegex("[Hh]" + host.substr(1)));
}

TEST(Ssrf, NoPolicyThatAllowsWhatARequestNamesHasAnEffect) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  ASSERT_TRUE(canary.ok());
  GatewaySpec spec{.backends = {{.port = origin.port()}}};
  spec.routes =
      routeOfRules("    - " + backendRefs().substr(6)) +
      egressPolicy(
          "wall", kGatewayTarget,
          "rules: [" + allowing("named", "to: {hostnames: [localhost], ports: [" + std::to_string(port) + "]}") + "]");
  const GatewayProcess gateway(spec);
  const std::string there = "localhost:" + std::to_string(port);
  for (const std::string& request : {"GET / HTTP/1.1\r\nHost: " + there + "\r\n\r\n",
                                     "GET http://" + there + "/ HTTP/1.1\r\nHost: " + there + "\r\n\r\n"}) {
    EXPECT_EQ(askRaw(gateway.port(), request).status, 403) << request;
  }
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_TRUE(origin.heads().empty());
  EXPECT_TRUE(gateway.reaches(decisionsOf("wall", "default", "denied"), 2));
}

class NamesOfThisMachine : public testing::TestWithParam<Wall> {};

INSTANTIATE_TEST_SUITE_P(Walls, NamesOfThisMachine,
                         testing::Values(guardAlone(""), denyRule("127.0.0.0/8, '::1/128'"),
                                         allowRule("203.0.113.0/24"),
                                         behindTheGuard("", denyRule("127.0.0.0/8, '::1/128'"))),
                         [](const auto& given) { return given.param.name; });

TEST_P(NamesOfThisMachine, AreNoBackends) {
  const Wall& wall = GetParam();
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(canary.ok());
  // The worst name server of all resolves every name to this machine.
  const ScriptedNameServer names(dnsAlways({"127.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"}));
  std::vector<BackendSpec> backends;
  for (std::size_t i = 0; i < kNamesOfThisMachine.size(); ++i) {
    backends.push_back({.name = "b" + std::to_string(i),
                        .hostname = "'" + kNamesOfThisMachine[i] + "'",
                        .port = port,
                        .addresses = ""});
  }
  GatewaySpec spec = gatewayWith(wall, backends);
  spec.dns = "servers: [\"" + names.address() + "\"], ipv6: true";
  const GatewayProcess gateway(spec);
  int refused = 0;
  for (std::size_t i = 0; i < kNamesOfThisMachine.size(); ++i) {
    const ReceivedResponse got = askRaw(gateway.port(), "GET /b" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(got.status, AnyOf(403, 500)) << kNamesOfThisMachine[i];
    if (got.status != 403) continue;
    ++refused;
    EXPECT_THAT(got.body, HasSubstr(wall.error)) << kNamesOfThisMachine[i];
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
  EXPECT_TRUE(!wall.isPolicy() || gateway.reaches(wall.denials(), refused));
}

}  // namespace
}  // namespace sluice::test
