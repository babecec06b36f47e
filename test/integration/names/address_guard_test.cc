// Tests that connections to internal addresses are refused whatever name resolves to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

TEST(AddressGuard, RefusesEveryInnerAddressOfAnExternalName) {
  RawOrigin canary(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  for (const char* address : {"127.0.0.1", "127.1.2.3", "0.0.0.0", "::1", "::", "169.254.169.254", "10.0.0.1",
                              "172.16.0.1", "192.168.0.1", "100.64.0.1", "224.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1",
                              "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "fd00::1", "fe80::1"}) {
    SCOPED_TRACE(address);
    const std::string quoted = "\"" + std::string(address) + "\"";
    const GatewayProcess gateway({.backends = {{.port = canary.port(), .addresses = quoted}}, .allow = ""});
    const ReceivedResponse got = askRaw(gateway.port());
    EXPECT_EQ(got.status, 403);
    EXPECT_THAT(got.body, HasSubstr("destination_ip_prohibited"));
  }
  EXPECT_EQ(canary.connections(), 0);
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
