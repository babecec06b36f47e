#include "proxy/compile/routes/match_identity.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::compile {
namespace {

routing::MatchSpec specOfPath(const std::string& path, routing::PathKind kind = routing::PathKind::kPrefix) {
  routing::MatchSpec result;
  result.path = path;
  result.pathKind = kind;
  return result;
}

TEST(MatchIdentity, IsThatOfThePathElements) {
  EXPECT_EQ(matchIdentity(specOfPath("/x")), matchIdentity(specOfPath("/x/"))) << "a prefix ends with its element";
  EXPECT_NE(matchIdentity(specOfPath("/x")), matchIdentity(specOfPath("/y")));
  EXPECT_NE(matchIdentity(specOfPath("/x", routing::PathKind::kExact)),
            matchIdentity(specOfPath("/x/", routing::PathKind::kExact)));
}

TEST(MatchIdentity, IsEqualIfTheCriteriaAre) {
  routing::MatchSpec first = specOfPath("/");
  first.headers = {{"X-A", "1"}, {"x-b", "2"}};
  routing::MatchSpec same = specOfPath("/");
  same.headers = {{"x-b", "2"}, {"x-a", "1"}};
  EXPECT_EQ(matchIdentity(first), matchIdentity(same));
  routing::MatchSpec expression = first;
  expression.headers[0].isExpression = true;
  routing::MatchSpec method = first;
  method.method = "GET";
  routing::MatchSpec query = first;
  query.query = {{"x-a", "1"}};
  routing::MatchSpec exact = first;
  exact.pathKind = routing::PathKind::kExact;
  routing::MatchSpec call = first;
  call.rpc = routing::RpcPattern{"a", "b"};
  for (const routing::MatchSpec& other : {expression, method, query, exact, call}) {
    EXPECT_NE(matchIdentity(first), matchIdentity(other));
  }
}

}  // namespace
}  // namespace sluice::compile
