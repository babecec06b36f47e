#include "proxy/server/check/check_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sluice::server {
namespace {

TEST(CheckTarget, IsANameOrAnAddressWithAPort) {
  const CheckTarget name = *parseCheckTarget("api.example.com:443");
  EXPECT_EQ(name.host, "api.example.com");
  EXPECT_EQ(name.port, 443);
  EXPECT_FALSE(name.address);
  EXPECT_EQ(name.text(), "api.example.com:443");
  EXPECT_EQ(parseCheckTarget("127.0.0.1:1")->address->toString(), "127.0.0.1:1");
  EXPECT_EQ(parseCheckTarget("[2001:db8::1]:65535")->text(), "[2001:db8::1]:65535");
  EXPECT_EQ(parseCheckTarget("gateway:80")->host, "gateway") << "a Service of the same namespace";
}

TEST(CheckTarget, IsReachedByTcpUnlessItSaysUdp) {
  EXPECT_EQ(parseCheckTarget("1.1.1.1:53")->protocol, net::ProbeProtocol::kTcp);
  const CheckTarget udp = *parseCheckTarget("udp://[::1]:53");
  EXPECT_EQ(udp.protocol, net::ProbeProtocol::kUdp);
  EXPECT_EQ(udp.text(), "[::1]:53");
}

TEST(CheckTarget, RefusesEverythingElse) {
  for (const char* text : {"", "1.1.1.1", ":443", "example.com", "example.com:", "example.com:0", "example.com:65536",
                           "example.com:443x", "https://example.com:443", "example.com:443/path", "::1:443",
                           "[1.1.1.1]:443", "[example.com]:443", "1.1.1:443", "udp://", "tcp://1.1.1.1:443"}) {
    const auto target = parseCheckTarget(text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_THAT(target.error().detail, testing::HasSubstr(" is not HOST:PORT or udp://HOST:PORT, as ")) << text;
  }
}

TEST(CheckTarget, DefaultsAreOfBothFamiliesAndProtocolsAndOneIsAName) {
  std::set<std::string> kinds;
  for (const CheckTarget& target : defaultTargets()) {
    kinds.insert(std::string(protocolName(target.protocol)) + (!target.address            ? " name"
                                                               : target.address->isIpv6() ? " v6"
                                                                                          : " v4"));
  }
  EXPECT_THAT(kinds, testing::ElementsAre("TCP name", "TCP v4", "TCP v6", "UDP v4", "UDP v6"));
}

}  // namespace
}  // namespace sluice::server
