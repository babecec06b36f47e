// Tests attempts to reach this machine, by a client through any part of a request, and by the author of a Backend. None
// of them succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/canary.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/scripted_name_server.h"

namespace sluice::test {
namespace {

using testing::AnyOf;

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

TEST(Ssrf, NoRequestNamesItsOwnDestination) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(canary.ok());
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  for (const std::string& spelling : kNamesOfThisMachine) {
    SCOPED_TRACE(spelling);
    const std::string there = spelling + ":" + std::to_string(port);
    for (const std::string& request : {"GET / HTTP/1.1\r\nHost: " + there + "\r\n\r\n",
                                       "GET http://" + there + "/ HTTP/1.1\r\nHost: " + there + "\r\n\r\n",
                                       "GET http://" + there + "/ HTTP/1.1\r\nHost: origin.test\r\n\r\n",
                                       "CONNECT " + there + " HTTP/1.1\r\nHost: " + there + "\r\n\r\nGET / "}) {
      BlockingSocket client = BlockingSocket::connect(gateway.port());
      client.send(request);
      const ReceivedResponse got = readResponse(client);
      // Either the route's Backend answers, whatever host the request named, or no backend does.
      EXPECT_THAT(got.status, AnyOf(200, 400, 501)) << request;
      EXPECT_FALSE(request.starts_with("CONNECT") && got.status == 200) << request;
    }
  }
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
  const std::string host = "Host: origin.test:" + std::to_string(origin.port());
  for (const std::string& head : origin.heads()) EXPECT_THAT(head, testing::ContainsRegex("[Hh]" + host.substr(1)));
}

TEST(Ssrf, NoBackendNamesThisMachine) {
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(canary.ok());
  // The worst name server of all resolves every name to this machine.
  const ScriptedNameServer names(dnsAlways({"127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1"}));
  GatewaySpec spec{.backends = {}, .dns = "servers: [\"" + names.address() + "\"], ipv6: true", .allow = ""};
  for (std::size_t i = 0; i < kNamesOfThisMachine.size(); ++i) {
    const std::string name = "b" + std::to_string(i);
    spec.backends.push_back(
        {.name = name, .hostname = "'" + kNamesOfThisMachine[i] + "'", .port = port, .addresses = ""});
    spec.routes +=
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + name +
        "}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n    - matches: [{path: {value: /" + name +
        "}}]\n      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: " + name + "}]\n";
  }
  const GatewayProcess gateway(spec);
  for (std::size_t i = 0; i < kNamesOfThisMachine.size(); ++i) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET /b" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(readResponse(client).status, AnyOf(403, 500)) << kNamesOfThisMachine[i];
  }
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
}

}  // namespace
}  // namespace sluice::test
