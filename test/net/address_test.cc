#include "proxy/net/address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace sluice::net {
namespace {

TEST(Address, KnowsThoseThatNoOtherMachineCanReach) {
  for (const char* ip : {"127.0.0.1", "127.255.255.255", "::1"}) {
    EXPECT_TRUE(Address::parse(ip, 1)->isLoopback()) << ip;
  }
  for (const char* ip : {"0.0.0.0", "128.0.0.1", "10.0.0.127", "::", "::2", "1::1", "::ffff:127.0.0.1"}) {
    EXPECT_FALSE(Address::parse(ip, 1)->isLoopback()) << ip;
  }
}

TEST(Address, ParsesAndPrintsIpv4) {
  const auto address = Address::parse("192.0.2.1", 443);
  ASSERT_TRUE(address);
  EXPECT_FALSE(address->isIpv6());
  EXPECT_EQ(address->ip(), "192.0.2.1");
  EXPECT_EQ(address->toString(), "192.0.2.1:443");
  EXPECT_EQ(address->length(), sizeof(sockaddr_in));
}

TEST(Address, ParsesAndPrintsIpv6InBrackets) {
  const auto address = Address::parse("2001:DB8:0::1", 8443);
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->isIpv6());
  EXPECT_EQ(address->ip(), "2001:db8::1");
  EXPECT_EQ(address->toString(), "[2001:db8::1]:8443");
  EXPECT_EQ(address->length(), sizeof(sockaddr_in6));
}

TEST(Address, RefusesEveryOtherSpelling) {
  const std::string_view spellings[] = {
      "",
      "127.1",
      "2130706433",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "127.0.0.01",
      "127.0.0.256",
      "127.0.0.1 ",
      " ::1",
      "127.0.0.1.",
      "[::1]",
      "fe80::1%eth0",
      "::1::",
      "localhost",
      "1.2.3.4:80",
      "1.2.3.",
      "1.2.3.4.5.6",
      "12345::",
      "::ffff:1.2.3.04",
      "1:2:3:4:5:6:7:8:9",
  };
  for (const std::string_view spelling : spellings) EXPECT_FALSE(Address::parse(spelling, 1)) << spelling;
}

TEST(Address, RefusesANulWithinTheText) { EXPECT_FALSE(Address::parse(std::string_view("1.2.3.4\0.5", 10), 1)); }

TEST(Address, RefusesATextLongerThanAnyAddress) { EXPECT_FALSE(Address::parse(std::string(4096, '1'), 1)); }

TEST(Address, ComparesFamilyAddressAndPort) {
  EXPECT_EQ(Address::parse("1.2.3.4", 1), Address::parse("1.2.3.4", 1));
  EXPECT_NE(Address::parse("1.2.3.4", 1), Address::parse("1.2.3.4", 2));
  EXPECT_NE(Address::parse("1.2.3.4", 1), Address::parse("1.2.3.5", 1));
  EXPECT_EQ(Address::parse("2001:db8::1", 1), Address::parse("2001:db8:0::1", 1));
  EXPECT_NE(Address::parse("2001:db8::1", 1), Address::parse("2001:db8::2", 1));
  EXPECT_NE(Address::parse("1.2.3.4", 1), Address::parse("::ffff:1.2.3.4", 1));
}

TEST(Address, PrintsTheShortestAndTheLongest) {
  for (const char* ip : {"0.0.0.0", "1.20.255.9", "255.255.255.255", "::", "1111:2222:3333:4444:5555:6666:7777:8888",
                         "::ffff:255.255.255.255"}) {
    const auto address = Address::parse(ip, 65535);
    ASSERT_TRUE(address) << ip;
    EXPECT_EQ(address->ip(), ip);
    EXPECT_EQ(address->toString(), address->isIpv6() ? "[" + std::string(ip) + "]:65535" : std::string(ip) + ":65535");
  }
}

TEST(Address, ChangesItsPortInBothFamilies) {
  EXPECT_EQ(Address::parse("1.2.3.4", 1)->withPort(65535).toString(), "1.2.3.4:65535");
  EXPECT_EQ(Address::parse("::1", 1)->withPort(0).toString(), "[::1]:0");
}

TEST(Address, SurvivesConversionToASockaddrAndBack) {
  for (const char* ip : {"192.0.2.7", "2001:db8::7"}) {
    const Address address = *Address::parse(ip, 99);
    EXPECT_EQ(Address::fromSockaddr(address.sockaddrPtr()), address);
  }
}

TEST(Address, IsUnspecifiedByDefault) { EXPECT_EQ(Address().toString(), "0.0.0.0:0"); }

}  // namespace
}  // namespace sluice::net
