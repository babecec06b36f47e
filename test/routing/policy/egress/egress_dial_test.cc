#include "proxy/routing/policy/egress/egress_dial.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::routing {
namespace {

/// An address as a resolver returns it.
struct DialledAddress {
  std::vector<std::uint8_t> octets;
  base::AddressBytes bytes() const { return octets; }
};

const DialledAddress kV4{{192, 0, 2, 1}};
const DialledAddress kV6{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

/// Policies by which a tunnel to api.test may go to IPv4 alone, if its TLS names api.test.
EgressPolicies tunnelPolicies() {
  base::EgressTerms terms;
  base::EgressRule& allow = terms.rules.emplace_back();
  allow.name = "api";
  allow.hostnames = {"api.test"};
  base::EgressRule& deny = terms.rules.emplace_back();
  deny.name = "v6";
  deny.allows = false;
  deny.addresses = {*base::IpNetwork::parse("::/0")};
  EgressPolicies policies;
  policies.add(*EgressJudge::compile("demo/p", terms));
  return policies;
}

EgressFacts tunnelFacts() {
  EgressFacts facts;
  facts.way = EgressWay::kConnect;
  facts.name = "api.test";
  facts.port = 443;
  facts.isStatic = false;
  facts.tls = std::nullopt;
  return facts;
}

TEST(EgressDial, KeepsTheAddressesOfATunnelThatItsFirstBytesDecideAbout) {
  const EgressPolicies policies = tunnelPolicies();
  for (const bool v6First : {false, true}) {
    EgressDial dial(&policies, nullptr, tunnelFacts());
    EXPECT_EQ(dial.judge(), EgressRuling::kUndecided);
    std::vector<DialledAddress> addresses = {kV4, kV6};
    if (v6First) std::swap(addresses.front(), addresses.back());
    EXPECT_TRUE(dial.narrow(addresses));
    ASSERT_EQ(addresses.size(), 1U);
    EXPECT_EQ(addresses.front().octets, kV4.octets);
    EXPECT_EQ(dial.verdict().ruling, EgressRuling::kUndecided) << "a denied address says nothing about the other one";
    EXPECT_TRUE(dial.permitsFirstBytes(true, "api.test", kV4.bytes()));
    EXPECT_EQ(dial.verdict().ruleName(), "api");
    EXPECT_FALSE(dial.permitsFirstBytes(true, "evil.test", kV4.bytes()));
    EXPECT_EQ(dial.verdict().ruling, EgressRuling::kDenied);
    EXPECT_FALSE(dial.permitsFirstBytes(true, std::nullopt, kV4.bytes()));
  }
}

TEST(EgressDial, DeniesATunnelWithoutAnyAddressThatMayBeDialled) {
  const EgressPolicies policies = tunnelPolicies();
  EgressDial dial(&policies, nullptr, tunnelFacts());
  std::vector<DialledAddress> addresses = {kV6, kV6};
  EXPECT_FALSE(dial.narrow(addresses));
  EXPECT_EQ(dial.verdict().ruling, EgressRuling::kDenied);
  EXPECT_EQ(dial.verdict().ruleName(), "v6");
}

}  // namespace
}  // namespace sluice::routing
