// Tests the facts by which EgressPolicies judge the requests of routes.
#include "proxy/routing/backend_dial.h"

#include <gtest/gtest.h>

#include "test/routing/request_maker.h"

namespace sluice::routing {
namespace {

TEST(BackendDial, HasTheNameThePortAndTlsOfTheBackend) {
  BackendPlan plan;
  plan.hostname = "origin.test.";
  plan.port = 443;
  plan.tls.emplace();
  const std::uint8_t client[] = {10, 0, 0, 1};
  const EgressFacts facts = egressFacts(plan, client, {"GET", "/a"}, {"GET", "/b"});
  EXPECT_EQ(facts.name, "origin.test");
  EXPECT_EQ(facts.port, 443);
  EXPECT_EQ(facts.tls, true);
  EXPECT_TRUE(facts.isStatic);
  EXPECT_EQ(facts.client.size(), 4u);
  EXPECT_EQ(facts.sent.path, "/a");
  EXPECT_EQ(facts.leaving.path, "/b");
  EXPECT_TRUE(facts.address.empty());
  plan.hostname = "192.0.2.1";
  plan.tls.reset();
  const EgressFacts ofLiteral = egressFacts(plan, {}, {}, {});
  EXPECT_EQ(ofLiteral.name, "") << "an IP literal has no name";
  EXPECT_EQ(ofLiteral.tls, false);
}

TEST(BackendDial, LeavesAsTheMoreSpecificRewriteSays) {
  const test::RequestMaker request("POST", "a.test", "/a/x?key=1");
  base::ChunkPool pool;
  base::Arena arena(pool);
  Rule rule;
  WeightedBackend backend;
  const auto leaving = [&] { return leavingHttp(arena, request.head(), rule, backend); };
  EXPECT_EQ(leaving(), (EgressHttp{"POST", "/a/x"})) << "without its query";
  rule.rewrite.path = PathRewrite::kFullPath;
  rule.rewrite.replacement = "/rule";
  EXPECT_EQ(leaving().path, "/rule");
  EXPECT_EQ(attemptTarget(arena, request.head(), rule, backend), "/rule?key=1");
  backend.rewrite.path = PathRewrite::kFullPath;
  backend.rewrite.replacement = "/backend";
  EXPECT_EQ(leaving().path, "/backend");
}

}  // namespace
}  // namespace sluice::routing
