#include "proxy/control/compile/gateways/claims.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "proxy/routing/table/hostname.h"

namespace sluice::control {
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

routing::RouteEntry claimedEntry(const std::string& hostname, const std::string& path) {
  routing::RouteEntry result;
  result.hostname = hostname;
  result.path = path;
  return result;
}

TEST(Claims, AMatchBelongsToItsFirstOwner) {
  const config::Route older;
  const config::Route newer;
  Claims claims;
  EXPECT_EQ(claims.addMatch(claimedEntry("a.test", "/x"), older), nullptr);
  EXPECT_EQ(claims.addMatch(claimedEntry("a.test", "/x"), older), nullptr) << "one may repeat oneself";
  EXPECT_EQ(claims.addMatch(claimedEntry("a.test", "/x/"), newer), &older) << "a prefix ends with its element";
  EXPECT_EQ(claims.addMatch(claimedEntry("b.test", "/x"), newer), nullptr);
  EXPECT_EQ(claims.addMatch(claimedEntry("a.test", "/y"), newer), nullptr);
}

TEST(Claims, MatchesAreEqualIfTheirCriteriaAre) {
  const config::Route older;
  const config::Route newer;
  Claims claims;
  routing::RouteEntry first = claimedEntry("", "/");
  first.headers = {{"X-A", "1"}, {"x-b", "2"}};
  EXPECT_EQ(claims.addMatch(first, older), nullptr);
  routing::RouteEntry same = claimedEntry("", "/");
  same.headers = {{"x-b", "2"}, {"x-a", "1"}};
  EXPECT_EQ(claims.addMatch(same, newer), &older);
  routing::RouteEntry expression = first;
  expression.headers[0].isExpression = true;
  routing::RouteEntry method = first;
  method.method = "GET";
  routing::RouteEntry query = first;
  query.query = {{"x-a", "1"}};
  routing::RouteEntry exact = first;
  exact.pathKind = routing::PathKind::kExact;
  routing::RouteEntry call = first;
  call.rpc = routing::RpcPattern{"a", "b"};
  for (const routing::RouteEntry& other : {expression, method, query, exact, call}) {
    EXPECT_EQ(claims.addMatch(other, newer), nullptr);
  }
}

}  // namespace
}  // namespace sluice::control
