#include "proxy/exchange/exchange_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Version;
using test::Rig;
using testing::HasSubstr;
using testing::Not;

ExchangeList listOf(Rig& rig, std::size_t most = 10) {
  const net::Worker::Turn turn(rig.worker);
  return listExchanges(rig.exchanges, 3, most);
}

TEST(ExchangeList, IsEmptyIfNothingIsInFlight) {
  Rig rig;
  EXPECT_EQ(listOf(rig).total, 0u);
  EXPECT_TRUE(listOf(rig).oldest.empty());
}

TEST(ExchangeList, ShowsClientRequestAndState) {
  Rig rig;
  test::ClientPeer& client = rig.connect();
  const std::size_t asked = client.ask({.method = http::Method::kPost,
                                        .target = "/ok/a?secret=1",
                                        .fields = {{"authorization", "Bearer secret"}},
                                        .body = http::Body::kUntilEnd});
  client.body(asked, "four");
  ASSERT_TRUE(rig.settle());
  ExchangeList list = listOf(rig);
  ASSERT_EQ(list.oldest.size(), 1u);
  for (const char* part : {R"({"worker":3,"id":")",
                           R"("method":"POST")",
                           R"("authority":"gateway.test")",
                           R"("path":"/ok/a")",
                           R"("protocolVersion":"1.1")",
                           R"("clientAddress":"198.51.100.7:4000")",
                           R"("namespace":null,"serviceAccount":null,"principal":null,"assurance":"None")",
                           R"("requestState":"acquiring")",
                           R"("responseState":"waiting")",
                           R"("gateway":"demo/egress")",
                           R"("listener":"http")",
                           R"("route":"demo/route")",
                           R"("backend":"demo/backend")",
                           R"("policy":null)",
                           R"("rule":null)",
                           R"("decision":null)",
                           R"("upstreamAddress":null)",
                           R"("attempts":0)",
                           R"("ageSeconds":0.000)",
                           R"("requestBytes":4)",
                           R"("responseBytes":0})"}) {
    EXPECT_THAT(list.oldest[0].json, HasSubstr(part));
  }
  EXPECT_THAT(list.oldest[0].json, Not(HasSubstr("secret")));

  rig.accept(0);
  rig.advance(std::chrono::milliseconds(1250));
  list = listOf(rig);
  ASSERT_EQ(list.oldest.size(), 1u);
  for (const char* part : {R"("requestState":"sending")", R"("upstreamAddress":"192.0.2.1:8080")", R"("attempts":1)",
                           R"("ageSeconds":1.250)"}) {
    EXPECT_THAT(list.oldest[0].json, HasSubstr(part));
  }
}

TEST(ExchangeList, ShowsTheDecisionOfThePolicies) {
  test::RigOptions options;
  options.rule = [](routing::Rule& rule) {
    base::EgressRule allow;
    allow.name = "backend";
    allow.hostnames = {Rig::kHost};
    routing::EgressPolicies policies;
    policies.add(routing::EgressJudge::compile("demo/policy", {false, false, {allow}}).value());
    rule.egress = std::make_shared<const routing::EgressPolicies>(std::move(policies));
  };
  Rig rig(options);
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  const ExchangeList list = listOf(rig);
  ASSERT_EQ(list.oldest.size(), 1u);
  EXPECT_THAT(list.oldest[0].json, HasSubstr(R"("policy":"demo/policy","rule":"backend","decision":"allowed")"));
}

TEST(ExchangeList, ShowsAResponseUntilItIsOver) {
  Rig rig;
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  backend.head(0, {.body = http::Body::kUntilEnd});
  backend.body(0, "hello");
  ASSERT_TRUE(rig.settle());
  const ExchangeList list = listOf(rig);
  ASSERT_EQ(list.oldest.size(), 1u);
  for (const char* part : {R"("protocolVersion":"2")", R"("requestState":"sent")", R"("responseState":"streaming")",
                           R"("responseBytes":5})"}) {
    EXPECT_THAT(list.oldest[0].json, HasSubstr(part));
  }
  backend.finish(0);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(listOf(rig).total, 0u);
}

TEST(ExchangeList, HoldsTheOldestUpToItsBound) {
  Rig rig;
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  for (const char* target : {"/ok/first", "/ok/second", "/ok/third"}) {
    client.ask({.target = target});
    ASSERT_TRUE(rig.settle());
    rig.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(listOf(rig, 3).oldest.size(), 3u);
  const ExchangeList list = listOf(rig, 2);
  EXPECT_EQ(list.total, 3u);
  ASSERT_EQ(list.oldest.size(), 2u);
  EXPECT_THAT(list.oldest[0].json, HasSubstr("/ok/first"));
  EXPECT_THAT(list.oldest[1].json, HasSubstr("/ok/second"));
  EXPECT_LT(list.oldest[0].started, list.oldest[1].started);
  EXPECT_EQ(listOf(rig, 0).total, 3u);
}

TEST(ExchangeList, CutsAndEscapesTextFromOutside) {
  Rig rig;
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  client.ask({.target = "/ok/" + std::string(5000, 'x')});
  ASSERT_TRUE(rig.settle());
  const ExchangeList list = listOf(rig);
  ASSERT_EQ(list.oldest.size(), 1u);
  EXPECT_LT(list.oldest[0].json.size(), 1500u);
  EXPECT_THAT(list.oldest[0].json, HasSubstr("xxx\xe2\x80\xa6\""));
}

}  // namespace
}  // namespace sluice::exchange
