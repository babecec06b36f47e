#include "proxy/routing/policy/egress/address_table.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "proxy/routing/policy/egress/rule_set.h"
#include "test/routing/policy/egress/address_bytes.h"

namespace sluice::routing {
namespace {

using AddressedRules = RuleSet<kMostRuleWords>;
using Addresses = AddressTable<AddressedRules>;

AddressedRules addressedRules(std::initializer_list<std::size_t> rules) {
  AddressedRules set;
  for (const std::size_t rule : rules) set.insert(rule);
  return set;
}

Addresses tableOf(const std::vector<std::pair<std::string_view, std::size_t>>& rules) {
  std::vector<RuleNetwork> networks;
  for (const auto& [text, rule] : rules) networks.emplace_back(*base::IpNetwork::parse(text), rule);
  return {addressedRules({9}), networks};
}

void expectAddresses(const Addresses& table, const std::vector<std::pair<std::string_view, AddressedRules>>& rows) {
  for (const auto& [address, rules] : rows) EXPECT_EQ(table.find(test::addressBytes(address)), rules) << address;
}

TEST(AddressTable, FindsNestedAndTouchingNetworksOfIpv4) {
  const Addresses table = tableOf({{"10.0.0.0/8", 0},
                                   {"10.1.0.0/16", 1},
                                   {"10.1.2.0/24", 0},
                                   {"10.1.2.3", 2},
                                   {"11.0.0.0/8", 3},
                                   {"255.255.255.255", 4}});
  expectAddresses(table, {{"9.255.255.255", addressedRules({9})},
                          {"10.0.0.0", addressedRules({0, 9})},
                          {"10.1.2.2", addressedRules({0, 1, 9})},
                          {"10.1.2.3", addressedRules({0, 1, 2, 9})},
                          {"10.1.2.4", addressedRules({0, 1, 9})},
                          {"10.1.3.0", addressedRules({0, 1, 9})},
                          {"10.255.255.255", addressedRules({0, 9})},
                          {"11.0.0.0", addressedRules({3, 9})},
                          {"12.0.0.0", addressedRules({9})},
                          {"255.255.255.254", addressedRules({9})},
                          {"255.255.255.255", addressedRules({4, 9})}});
}

TEST(AddressTable, FindsNetworksOfIpv6OnBothSidesOfTheMiddle) {
  const Addresses table = tableOf({{"fd00::/64", 0}, {"fd00::/65", 1}, {"fd00:0:0:1::/64", 2}, {"ffff::/16", 3}});
  expectAddresses(table, {{"fd00::7fff:ffff:ffff:ffff", addressedRules({0, 1, 9})},
                          {"fd00::8000:0:0:0", addressedRules({0, 9})},
                          {"fd00::ffff:ffff:ffff:ffff", addressedRules({0, 9})},
                          {"fd00:0:0:1::", addressedRules({2, 9})},
                          {"fd00:0:0:2::", addressedRules({9})},
                          {"fcff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", addressedRules({9})},
                          {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", addressedRules({3, 9})}});
}

TEST(AddressTable, KeepsAllOfIpv4AndAllOfIpv6Apart) {
  const Addresses table = tableOf({{"0.0.0.0/0", 0}, {"::/0", 1}});
  expectAddresses(table, {{"0.0.0.0", addressedRules({0, 9})},
                          {"255.255.255.255", addressedRules({0, 9})},
                          {"::", addressedRules({1, 9})},
                          {"::ffff:10.0.0.1", addressedRules({1, 9})},
                          {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", addressedRules({1, 9})}});
}

TEST(AddressTable, FindsNoNetworkForWhatIsNoAddress) {
  const Addresses table = tableOf({{"0.0.0.0/0", 0}, {"::/0", 1}});
  const std::vector<std::uint8_t> bytes(17);
  for (const std::size_t size : {0, 3, 5, 15, 17}) {
    EXPECT_EQ(table.find(base::AddressBytes(bytes).first(size)), addressedRules({9})) << size;
  }
}

}  // namespace
}  // namespace sluice::routing
