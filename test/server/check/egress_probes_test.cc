// Real connections over loopback.
#include "proxy/server/check/egress_probes.h"

#include <gtest/gtest.h>

#include "proxy/net/tcp_listener.h"
#include "test/support/held_port.h"

namespace sluice::server {
namespace {

constexpr base::Duration kEnough = std::chrono::seconds(30);

CheckTarget targetAt(const std::string& host, std::uint16_t port) {
  return *parseCheckTarget(host + ":" + std::to_string(port));
}

TEST(EgressProbes, TryEveryTargetAndTheGatewayInTheirOrder) {
  const auto listening = net::ListenSocket::open(*net::Address::parse("127.0.0.1", 0)).value();
  const test::HeldPort closed;
  const EgressFindings findings =
      probeEgress({targetAt("localhost", closed.port()), targetAt("127.0.0.1", listening.address().port()),
                   targetAt("127.0.0.1", closed.port())},
                  targetAt("127.0.0.1", listening.address().port()), kEnough);
  ASSERT_GE(findings.targets.size(), 3u) << "localhost may have two addresses";
  for (std::size_t i = 0; i < findings.targets.size() - 2; ++i) {
    EXPECT_EQ(findings.targets[i].target.host, "localhost");
    EXPECT_EQ(findings.targets[i].outcome->result, net::ProbeResult::kRefused);
  }
  EXPECT_EQ(findings.targets[findings.targets.size() - 2].outcome->result, net::ProbeResult::kReached);
  EXPECT_EQ(findings.targets.back().outcome->result, net::ProbeResult::kRefused);
  ASSERT_EQ(findings.gateway.size(), 1u);
  EXPECT_EQ(findings.gateway.front().outcome->result, net::ProbeResult::kReached);
  EXPECT_EQ(findings.gateway.front().address, listening.address());
}

TEST(EgressProbes, HaveNoControlForThisMachine) {
  const test::HeldPort closed;
  const EgressFindings findings = probeEgress({targetAt("127.0.0.1", closed.port())}, std::nullopt, kEnough);
  ASSERT_EQ(findings.targets.size(), 1u);
  EXPECT_FALSE(findings.targets.front().control);
  EXPECT_TRUE(findings.gateway.empty());
}

TEST(EgressProbes, TakeControlsFromTheRangesForDocumentation) {
  EXPECT_EQ(controlAddress(*net::Address::parse("1.1.1.1", 443)).toString(), "192.0.2.1:443");
  EXPECT_EQ(controlAddress(*net::Address::parse("2606:4700:4700::1111", 53)).toString(), "[2001:db8::1]:53");
}

}  // namespace
}  // namespace sluice::server
