#include "proxy/base/ip_network.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace sluice::base {
namespace {

std::vector<std::uint8_t> hostBytes(const std::string& address) {
  const auto host = IpNetwork::parse(address);
  EXPECT_TRUE(host && host->bits == host->bytes * 8) << address;
  return host ? std::vector<std::uint8_t>(host->prefix.begin(), host->prefix.begin() + host->bytes)
              : std::vector<std::uint8_t>();
}

TEST(IpNetwork, ContainsTheAddressesThatBeginWithItsPrefix) {
  const std::vector<std::tuple<std::string, std::string, bool>> table{
      {"0.0.0.0/0", "0.0.0.0", true},
      {"0.0.0.0/0", "255.255.255.255", true},
      {"0.0.0.0/0", "::", false},
      {"::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true},
      {"::/0", "10.0.0.1", false},
      {"10.0.0.0/8", "10.255.255.255", true},
      {"10.0.0.0/8", "11.0.0.0", false},
      {"10.128.0.0/9", "10.127.255.255", false},
      {"10.128.0.0/9", "10.128.0.0", true},
      {"10.0.0.0/31", "10.0.0.1", true},
      {"10.0.0.0/31", "10.0.0.2", false},
      {"10.0.0.1/32", "10.0.0.1", true},
      {"10.0.0.1/32", "10.0.0.0", false},
      {"10.0.0.1", "10.0.0.1", true},
      {"10.0.0.0/8", "::ffff:10.0.0.1", false},
      {"fd00::1/128", "fd00::1", true},
      {"fd00::1/128", "fd00::", false},
      {"fd00::/65", "fd00::7fff:ffff:ffff:ffff", true},
      {"fd00::/65", "fd00::8000:0:0:0", false},
  };
  for (const auto& [network, address, expected] : table) {
    const auto parsed = IpNetwork::parse(network);
    ASSERT_TRUE(parsed) << network;
    EXPECT_EQ(parsed->contains(hostBytes(address)), expected) << network << " " << address;
  }
}

TEST(IpNetwork, IgnoresTheBitsBehindItsPrefix) {
  EXPECT_EQ(IpNetwork::parse("10.1.2.3/8"), IpNetwork::parse("10.0.0.0/8"));
  EXPECT_EQ(IpNetwork::parse("10.255.2.3/9"), IpNetwork::parse("10.128.0.0/9"));
  EXPECT_EQ(IpNetwork::parse("255.255.255.255/0"), IpNetwork::parse("0.0.0.0/0"));
  EXPECT_EQ(IpNetwork::parse("fd00:1::5/16"), IpNetwork::parse("fd00::/16"));
  EXPECT_NE(IpNetwork::parse("0.0.0.0/0"), IpNetwork::parse("::/0"));
}

TEST(IpNetwork, RefusesWhatIsNoNetwork) {
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0/8", "10.0.0.0/8 ",
        " 10.0.0.0/8", "::/129", "fd00::/4294967304", "[::1]/128", "example.com"}) {
    EXPECT_FALSE(IpNetwork::parse(text)) << text;
  }
}

TEST(IpNetwork, ContainsNothingThatIsNoAddress) {
  const std::vector<std::uint8_t> bytes(17);
  for (const std::size_t size : {0, 3, 5, 15, 17}) {
    EXPECT_FALSE(IpNetwork::parse("0.0.0.0/0")->contains(AddressBytes(bytes).first(size)));
    EXPECT_FALSE(IpNetwork::parse("::/0")->contains(AddressBytes(bytes).first(size)));
  }
}

}  // namespace
}  // namespace sluice::base
