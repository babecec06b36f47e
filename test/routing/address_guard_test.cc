#include "proxy/routing/policy/address_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/support/reference_page.h"

namespace sluice::routing {
namespace {

std::vector<std::uint8_t> bytes(const std::string& ip) {
  std::vector<std::uint8_t> made(ip.find(':') == std::string::npos ? 4 : 16);
  EXPECT_EQ(::inet_pton(made.size() == 4 ? AF_INET : AF_INET6, ip.c_str(), made.data()), 1) << ip;
  return made;
}

AddressGuard guard(const std::vector<std::string>& allow) {
  auto made = AddressGuard::make(allow);
  EXPECT_TRUE(made.ok());
  return *made;
}

void expectClasses(const std::vector<std::pair<const char*, AddressClass>>& table) {
  for (const auto& [ip, expected] : table) {
    EXPECT_EQ(addressClassName(classify(bytes(ip))), addressClassName(expected)) << ip;
    EXPECT_EQ(AddressGuard().permits(bytes(ip)), expected == AddressClass::kPublic) << ip;
  }
}

TEST(AddressGuard, HasItsClassesInTheReference) {
  std::vector<std::string> denied;
  for (std::size_t i = 1; i < kAddressClasses; ++i) {
    denied.emplace_back(addressClassName(static_cast<AddressClass>(i)));
  }
  const auto rows = sluice::test::pageTable(sluice::test::referencePage("metrics.md"), "| class | addresses |");
  EXPECT_EQ(sluice::test::firstWords(rows), denied);
}

TEST(AddressGuard, ClassifiesEachIpv4AddressByItsPurpose) {
  expectClasses({
      {"8.8.8.8", AddressClass::kPublic},           {"1.1.1.1", AddressClass::kPublic},
      {"172.15.255.255", AddressClass::kPublic},    {"172.32.0.0", AddressClass::kPublic},
      {"100.63.255.255", AddressClass::kPublic},    {"100.128.0.0", AddressClass::kPublic},
      {"223.255.255.255", AddressClass::kPublic},   {"0.0.0.0", AddressClass::kUnspecified},
      {"0.1.2.3", AddressClass::kUnspecified},      {"127.0.0.1", AddressClass::kLoopback},
      {"127.255.255.254", AddressClass::kLoopback}, {"169.254.0.1", AddressClass::kLinkLocal},
      {"169.254.169.254", AddressClass::kMetadata}, {"169.254.170.2", AddressClass::kMetadata},
      {"100.100.100.200", AddressClass::kMetadata}, {"168.63.129.16", AddressClass::kMetadata},
      {"169.254.170.23", AddressClass::kMetadata},  {"169.254.42.42", AddressClass::kMetadata},
      {"169.254.0.23", AddressClass::kMetadata},    {"192.0.0.192", AddressClass::kMetadata},
      {"10.0.0.1", AddressClass::kPrivate},         {"172.16.0.1", AddressClass::kPrivate},
      {"172.31.255.255", AddressClass::kPrivate},   {"192.168.1.1", AddressClass::kPrivate},
      {"100.64.0.1", AddressClass::kCarrierNat},    {"100.127.255.255", AddressClass::kCarrierNat},
      {"224.0.0.1", AddressClass::kMulticast},      {"239.255.255.255", AddressClass::kMulticast},
      {"192.0.2.1", AddressClass::kReserved},       {"198.18.0.1", AddressClass::kReserved},
      {"198.51.100.1", AddressClass::kReserved},    {"203.0.113.1", AddressClass::kReserved},
      {"240.0.0.1", AddressClass::kReserved},       {"255.255.255.255", AddressClass::kReserved},
  });
}

TEST(AddressGuard, ClassifiesEachIpv6AddressByItsPurpose) {
  expectClasses({
      {"2606:4700::1111", AddressClass::kPublic},
      {"2a00:1450:4001::1", AddressClass::kPublic},
      {"::", AddressClass::kUnspecified},
      {"::1", AddressClass::kLoopback},
      {"fe80::1", AddressClass::kLinkLocal},
      {"febf::1", AddressClass::kLinkLocal},
      {"fd00:ec2::254", AddressClass::kMetadata},
      {"fd00:ec2::23", AddressClass::kMetadata},
      {"fd20:ce::254", AddressClass::kMetadata},
      {"fd00:c1::a9fe:a9fe", AddressClass::kMetadata},
      {"fd00:42::42", AddressClass::kMetadata},
      {"fd00:a9fe:a9fe::1", AddressClass::kMetadata},
      {"fe80::a9fe:a9fe", AddressClass::kMetadata},
      {"fe80::a9fe:a9fd", AddressClass::kLinkLocal},
      {"fd00:43::42", AddressClass::kPrivate},
      {"fc00::1", AddressClass::kPrivate},
      {"fdff::1", AddressClass::kPrivate},
      {"fec0::1", AddressClass::kPrivate},
      {"ff02::1", AddressClass::kMulticast},
      {"2001:db8::1", AddressClass::kReserved},
      {"100::1", AddressClass::kReserved},
      {"4000::1", AddressClass::kReserved},
      {"::ffff:8.8.8.8", AddressClass::kV4Mapped},
      {"::ffff:127.0.0.1", AddressClass::kV4Mapped},
      {"::ffff:0:8.8.8.8", AddressClass::kV4Translated},
      {"::ffff:0:127.0.0.1", AddressClass::kV4Translated},
      {"::127.0.0.1", AddressClass::kV4Compatible},
      {"::8.8.8.8", AddressClass::kV4Compatible},
      {"64:ff9b::7f00:1", AddressClass::kNat64},
      {"64:ff9b:1::1", AddressClass::kNat64},
      {"2002:7f00:1::", AddressClass::k6to4},
      {"2001:0:4136:e378:8000:63bf:3fff:fdd2", AddressClass::kTeredo},
  });
}

TEST(AddressGuard, AllowsTheConfiguredRangesAlone) {
  const AddressGuard some = guard({"127.0.0.0/8", "10.1.0.0/16", "192.168.7.7", "fd00::/8"});
  for (const char* ip : {"127.0.0.1", "127.9.9.9", "10.1.255.255", "192.168.7.7", "fd12::1", "8.8.8.8"}) {
    EXPECT_TRUE(some.permits(bytes(ip))) << ip;
  }
  for (const char* ip : {"10.2.0.0", "192.168.7.8", "fc00::1", "::1", "169.254.169.254", "::ffff:127.0.0.1"}) {
    EXPECT_FALSE(some.permits(bytes(ip))) << ip;
  }
}

TEST(AddressGuard, AllowsAFormThatCarriesAnAddressOnlyWithThatAddress) {
  const AddressGuard nat64 = guard({"64:ff9b::/96"});
  EXPECT_TRUE(nat64.permits(bytes("64:ff9b::808:808")));
  EXPECT_FALSE(nat64.permits(bytes("64:ff9b::7f00:1"))) << "127.0.0.1";
  EXPECT_FALSE(nat64.permits(bytes("64:ff9b::a9fe:a9fe"))) << "169.254.169.254";
  const AddressGuard local = guard({"64:ff9b:1::/48"});
  EXPECT_TRUE(local.permits(bytes("64:ff9b:1:808:8:800::")));
  EXPECT_FALSE(local.permits(bytes("64:ff9b:1:7f00:0:100::"))) << "127.0.0.1";
  const AddressGuard all = guard({"::/0"});
  EXPECT_FALSE(all.permits(bytes("::ffff:10.0.0.1")));
  EXPECT_FALSE(all.permits(bytes("2002:a00:1::"))) << "10.0.0.1";
  EXPECT_FALSE(all.permits(bytes("2001:0:4136:e378:8000:63bf:f5ff:fffe"))) << "10.0.0.1, inverted";
  EXPECT_FALSE(all.permits(bytes("::ffff:0:10.0.0.1")));
  EXPECT_TRUE(all.permits(bytes("::ffff:8.8.8.8")));
  EXPECT_TRUE(guard({"0.0.0.0/0", "::/0"}).permits(bytes("::ffff:10.0.0.1")));
}

TEST(AddressGuard, RefusesTextThatIsNoRange) {
  for (const char* entry :
       {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0/8", "fd00::/129", "localhost", "10.0.0.0/8 ", "0x7f.1"}) {
    EXPECT_FALSE(AddressGuard::make({entry}).ok()) << entry;
  }
}

TEST(AddressGuard, LetsEndpointsBeInPrivateNetworksButNotOnTheGatewayItself) {
  const AddressGuard strict;
  for (const char* ip :
       {"8.8.8.8", "10.0.0.1", "192.168.1.1", "100.64.0.1", "240.0.0.1", "198.18.0.1", "fd00::1", "2a00::1"}) {
    EXPECT_TRUE(strict.permitsEndpoint(bytes(ip))) << ip;
  }
  for (const char* ip :
       {"127.0.0.1", "0.0.0.0", "169.254.1.1", "169.254.169.254", "100.100.100.200", "224.0.0.1", "::", "::1",
        "fe80::1", "ff02::1", "fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "fd00:a9fe:a9fe::1", "::ffff:0:127.0.0.1",
        "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"}) {
    EXPECT_FALSE(strict.permitsEndpoint(bytes(ip))) << ip;
  }
  EXPECT_TRUE(guard({"127.0.0.0/8"}).permitsEndpoint(bytes("127.0.0.1")));
  EXPECT_FALSE(guard({"::ffff:0:0/96"}).permitsEndpoint(bytes("::ffff:127.0.0.1")));
}

}  // namespace
}  // namespace sluice::routing
