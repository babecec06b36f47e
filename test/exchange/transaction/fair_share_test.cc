#include "proxy/exchange/transaction/fair_share.h"

#include <gtest/gtest.h>

#include <set>

namespace sluice::exchange {
namespace {

net::ClientNetwork addressKey(const char* address) { return net::networkOf(*net::Address::parse(address, 1)); }
base::Caller account(const std::string& nameSpace, const std::string& name) { return {nameSpace, name, "any"}; }
base::Caller principal(const std::string& name) { return {"", "", name}; }

TEST(FairShare, IsThatOfTheNetworkForCallersWithoutAName) {
  const base::Caller nobody;
  EXPECT_EQ(shareOf(nullptr, 42), 42U);
  EXPECT_EQ(shareOf(&nobody, 42), 42U);
}

TEST(FairShare, IsTheSameWhereverACallerComesFrom) {
  const base::Caller web = account("demo", "web");
  EXPECT_EQ(shareOf(&web, 1), shareOf(&web, 2));
  const base::Caller ann = principal("ann");
  EXPECT_EQ(shareOf(&ann, 1), shareOf(&ann, 2));
}

TEST(FairShare, IsAnotherOneForEachName) {
  const base::Caller all[] = {account("demo", "web"), account("demo", "api"), account("other", "web"),
                              account("demow", "eb"), principal("demo/web"),  principal("web"),
                              principal("ann")};
  std::set<net::ClientNetwork> keys;
  for (const base::Caller& each : all) keys.insert(shareOf(&each, 1));
  EXPECT_EQ(keys.size(), std::size(all));
}

TEST(FairShare, IsNeverThatOfANetwork) {
  for (int i = 0; i < 1000; ++i) {
    const base::Caller caller = principal("user " + std::to_string(i));
    const net::ClientNetwork key = shareOf(&caller, 1);
    EXPECT_EQ(key >> 56, 0xFFU) << "no address of a client begins with ff, but those of IPv4 do here";
    EXPECT_NE(key >> 48, addressKey("192.0.2.1") >> 48);
    EXPECT_NE(key, net::kOwnNetwork);
  }
  EXPECT_NE(addressKey("2001:db8::1") >> 56, 0xFFU);
}

}  // namespace
}  // namespace sluice::exchange
