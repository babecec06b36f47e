// Tests that connections to internal addresses are refused whatever name resolves to them: by the address guard, by an
// EgressPolicy if the guard lets every address pass, and by both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/names/walls.h"
#include "test/integration/support/canary.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Inner addresses in all their forms; those that carry an address of IPv4 carry one of this machine or of the metadata
/// service.
const std::vector<std::string> kInnerAddresses = {"127.0.0.1",
                                                  "127.1.2.3",
                                                  "0.0.0.0",
                                                  "::1",
                                                  "::",
                                                  "169.254.169.254",
                                                  "10.0.0.1",
                                                  "172.16.0.1",
                                                  "192.168.0.1",
                                                  "100.64.0.1",
                                                  "224.0.0.1",
                                                  "255.255.255.255",
                                                  "::ffff:127.0.0.1",
                                                  "::ffff:0.0.0.0",
                                                  "::ffff:a9fe:a9fe",
                                                  "::ffff:0:127.0.0.1",
                                                  "::127.0.0.1",
                                                  "64:ff9b::7f00:1",
                                                  "64:ff9b:1:7f00:0:100::",
                                                  "2002:7f00:1::",
                                                  "2001:0:7f00:1::",
                                                  "2001:0:4136:e378:8000:63bf:80ff:fffe",
                                                  "fd00::1",
                                                  "fe80::1",
                                                  "fe80::a9fe:a9fe"};

class InnerAddresses : public testing::TestWithParam<Wall> {};

INSTANTIATE_TEST_SUITE_P(Walls, InnerAddresses,
                         testing::Values(guardAlone(""),
                                         denyRule("127.0.0.0/8, '::1/128', " + std::string(kInnerNetworks)),
                                         allowRule("203.0.113.0/24, '2001:db8:1::/48'"),
                                         behindTheGuard("", denyRule("127.0.0.0/8"))),
                         [](const auto& given) { return given.param.name; });

TEST_P(InnerAddresses, OfExternalNamesAreNeverDialled) {
  const Wall& wall = GetParam();
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(canary.ok());
  std::vector<BackendSpec> backends;
  for (std::size_t i = 0; i < kInnerAddresses.size(); ++i) {
    const std::string name = "b" + std::to_string(i);
    backends.push_back(
        {.name = name, .hostname = name + ".test", .port = port, .addresses = "\"" + kInnerAddresses[i] + "\""});
  }
  const GatewayProcess gateway(gatewayWith(wall, backends));
  for (std::size_t i = 0; i < kInnerAddresses.size(); ++i) {
    const ReceivedResponse got = askRaw(gateway.port(), "GET /b" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(got.status, 403) << kInnerAddresses[i];
    EXPECT_THAT(got.body, HasSubstr(wall.error)) << kInnerAddresses[i];
  }
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
  EXPECT_TRUE(!wall.isPolicy() || gateway.reaches(wall.denials(), static_cast<double>(kInnerAddresses.size())));
  EXPECT_EQ(gateway.metrics().find("sluice_address_denied_total{") == std::string::npos, wall.isPolicy());
}

TEST(AddressGuard, CountsRefusalsByClass) {
  const GatewayProcess gateway({.backends = {{.port = 9, .addresses = "169.254.169.254, 10.0.0.1"}}, .allow = ""});
  EXPECT_EQ(askRaw(gateway.port()).status, 403);
  EXPECT_TRUE(gateway.reaches("sluice_address_denied_total{class=\"metadata\"}", 1));
  EXPECT_TRUE(gateway.reaches("sluice_address_denied_total{class=\"private\"}", 1));
}

TEST(AddressGuard, TakesThePermittedOneOfSeveralAddresses) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port(), .addresses = "169.254.169.254, 127.0.0.1"}}, .allow = "127.0.0.1/32"});
  EXPECT_EQ(askRaw(gateway.port()).status, 200);
}

}  // namespace
}  // namespace sluice::test
