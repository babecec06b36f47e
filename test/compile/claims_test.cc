#include "proxy/compile/gateways/claims.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "proxy/routing/table/hostname.h"

namespace sluice::compile {
namespace {

TEST(HostnameClaims, IntersectNamesThatHaveAHostInCommon) {
  const std::vector<std::string> names = {"",       "a.test", "b.a.test", "*.a.test", "*.b.a.test",
                                          "*.test", "other",  "*.other",  "aa.test",  "c.b.a.test"};
  const config::Route owner;
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    HostnameClaims claims;
    std::vector<std::string> held;
    for (std::size_t count = random() % 4; count > 0; --count) {
      held.push_back(names[random() % names.size()]);
      claims.add(held.back(), owner);
    }
    for (const std::string& name : names) {
      const bool expected = std::any_of(
          held.begin(), held.end(), [&](const std::string& each) { return routing::hostnamesIntersect(each, name); });
      std::string all;
      for (const std::string& each : held) all += each + " ";
      EXPECT_EQ(claims.meets(name) != nullptr, expected) << name << " among " << all;
    }
  }
}

TEST(Claims, AMatchBelongsToItsFirstOwner) {
  const config::Route older;
  const config::Route newer;
  Claims claims;
  EXPECT_EQ(claims.addMatch("a.test", 1, older), nullptr);
  EXPECT_EQ(claims.addMatch("a.test", 1, older), nullptr) << "one may repeat oneself";
  EXPECT_EQ(claims.addMatch("a.test", 1, newer), &older);
  EXPECT_EQ(claims.addMatch("b.test", 1, newer), nullptr);
  EXPECT_EQ(claims.addMatch("a.test", 2, newer), nullptr);
}

}  // namespace
}  // namespace sluice::compile
