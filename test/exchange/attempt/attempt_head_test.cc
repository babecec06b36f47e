#include "proxy/exchange/transaction/attempt_head.h"

#include <gtest/gtest.h>

namespace sluice::exchange {
namespace {

class AttemptHead : public ::testing::Test {
 protected:
  AttemptHead() {
    request_.authority = "gateway.local";
    request_.target = "/v1";
    auto plan = std::make_shared<routing::BackendPlan>();
    plan->authority = "api.example.com:8443";
    backend_.backend = plan;
  }
  http::RequestHead make() {
    return attemptHead(arena_, request_, rule_, backend_, *backend_.backend, identity_, {"192.0.2.7", true});
  }
  static std::string joined(const http::RequestHead& head, std::string_view name) {
    std::string all;
    for (const http::Field& field : head.headers) {
      if (field.name == name) all += (all.empty() ? "" : " | ") + std::string(field.value);
    }
    return all;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::RequestHead request_;
  routing::Rule rule_;
  routing::WeightedBackend backend_;
  GatewayIdentity identity_{"sluice-test"};
};

TEST_F(AttemptHead, NamesTheBackendAsAuthority) { EXPECT_EQ(make().authority, "api.example.com:8443"); }

TEST_F(AttemptHead, KeepsTheClientsAuthorityTowardsAService) {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->authority = "shop.default.svc";
  plan->endpoints.emplace();
  backend_.backend = plan;
  EXPECT_EQ(make().authority, "gateway.local");
  rule_.rewrite.authority = "rule.example.com";
  EXPECT_EQ(make().authority, "rule.example.com");
  rule_.rewrite.authority = {};
  request_.authority = {};
  EXPECT_EQ(make().authority, "shop.default.svc") << "HTTP/1.0 may name none";
}

TEST_F(AttemptHead, AppliesAuthorityRewritesOfTheBackendLast) {
  rule_.requestHeaders.emplace().authority = "rule.example.com";
  EXPECT_EQ(make().authority, "rule.example.com");
  backend_.requestHeaders.emplace().authority = "share.example.com";
  EXPECT_EQ(make().authority, "share.example.com");
}

TEST_F(AttemptHead, PrefersTheUrlRewriteOfTheWeightedBackendToTheRules) {
  request_.target = "/v1/chat?a=1";
  rule_.rewrite.authority = "rule.example.com";
  rule_.rewrite.path = routing::PathRewrite::kPrefixMatch;
  rule_.rewrite.prefix = "/v1";
  rule_.rewrite.replacement = "/openai/v1";
  EXPECT_EQ(make().target, "/openai/v1/chat?a=1");
  EXPECT_EQ(make().authority, "rule.example.com");
  backend_.rewrite.path = routing::PathRewrite::kFullPath;
  backend_.rewrite.replacement = "/all";
  backend_.rewrite.authority = "share.example.com";
  EXPECT_EQ(make().target, "/all?a=1");
  EXPECT_EQ(make().authority, "share.example.com");
  EXPECT_EQ(request_.target, "/v1/chat?a=1") << "what was matched, and what a retry begins with";
}

TEST_F(AttemptHead, HasThePathAsItWasSentUnlessItIsRewritten) {
  request_.target = "/v1/a%2Fb?x=%2f";
  request_.sentPath = "/v1/a%2fb";
  const auto sent = [this] {
    http::RequestHead head = make();
    http::spellPathAsSent(arena_, head);
    EXPECT_EQ(head.sentPath, "");
    return std::string(head.target);
  };
  EXPECT_EQ(make().target, "/v1/a%2Fb?x=%2f") << "steps of the Backend see the normal form";
  EXPECT_EQ(sent(), "/v1/a%2fb?x=%2f");
  rule_.rewrite.authority = "rule.example.com";
  EXPECT_EQ(sent(), "/v1/a%2fb?x=%2f") << "the path is not touched";
  rule_.rewrite.path = routing::PathRewrite::kPrefixMatch;
  rule_.rewrite.prefix = "/v1";
  rule_.rewrite.replacement = "/v2";
  EXPECT_EQ(sent(), "/v2/a%2Fb?x=%2f");
  rule_.rewrite = {};
  backend_.rewrite.path = routing::PathRewrite::kFullPath;
  backend_.rewrite.replacement = "/all";
  EXPECT_EQ(sent(), "/all?x=%2f");
}

TEST_F(AttemptHead, PrefersTheRewriteOfTheHostToASetField) {
  rule_.requestHeaders.emplace().authority = "set.example.com";
  rule_.rewrite.authority = "rewritten.example.com";
  EXPECT_EQ(make().authority, "rewritten.example.com");
}

TEST_F(AttemptHead, LeavesTheRequestItselfUntouched) {
  request_.headers.add(arena_, "x-a", "1");
  rule_.requestHeaders.emplace().set = {{"x-a", "2"}};
  const auto head = make();
  EXPECT_EQ(joined(head, "x-a"), "2");
  EXPECT_EQ(request_.headers.find("x-a")->value, "1");
  EXPECT_EQ(request_.authority, "gateway.local");
}

TEST_F(AttemptHead, AppendsItselfToVia) {
  request_.headers.add(arena_, http::FieldId::kVia, "1.0 other");
  EXPECT_EQ(joined(make(), "via"), "1.0 other | 1.1 sluice-test");
  request_.version = http::Version::kHttp2;
  EXPECT_EQ(joined(make(), "via"), "1.0 other | 2 sluice-test");
  request_.version = http::Version::kHttp10;
  EXPECT_EQ(joined(make(), "via"), "1.0 other | 1.0 sluice-test");
}

TEST_F(AttemptHead, LeavesViaOutForABackendThatGetsNone) {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->connection.sendsVia = false;
  backend_.backend = plan;
  request_.headers.add(arena_, http::FieldId::kVia, "1.0 other");
  request_.headers.add(arena_, http::FieldId::kSluiceVia, "1.1 sluice-a");
  EXPECT_EQ(joined(make(), "via"), "");
  EXPECT_EQ(joined(make(), "sluice-via"), "1.0 other | 1.1 sluice-a | 1.1 sluice-test");
  EXPECT_EQ(request_.headers.find(http::FieldId::kVia)->value, "1.0 other") << "another attempt may send it";
}

TEST_F(AttemptHead, DropsForwardedFieldsOfTheClient) {
  for (const char* name : {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "forwarded",
                           "x-real-ip", "x-forwarded-client-cert"}) {
    request_.headers.add(arena_, std::string_view(name), "spoofed");
  }
  EXPECT_EQ(make().headers.size(), 1U) << "only Via";
}

TEST_F(AttemptHead, AppendsForwardedFieldsIfAsked) {
  identity_.forwarded.mode = base::ForwardedHeaders::kAppend;
  request_.headers.add(arena_, http::FieldId::kXForwardedFor, "198.51.100.1");
  request_.headers.add(arena_, http::FieldId::kXForwardedProto, "gopher");
  const auto head = make();
  EXPECT_EQ(joined(head, "x-forwarded-for"), "198.51.100.1, 192.0.2.7");
  EXPECT_EQ(joined(head, "x-forwarded-proto"), "https");
  EXPECT_EQ(joined(head, "x-forwarded-host"), "gateway.local");
}

TEST_F(AttemptHead, AppendsItsClientToTheChainAndDropsOtherForwardedFields) {
  identity_.forwarded.mode = base::ForwardedHeaders::kAppend;
  for (const char* name : {"forwarded", "x-forwarded-port", "x-real-ip", "x-forwarded-host"}) {
    request_.headers.add(arena_, std::string_view(name), "spoofed");
  }
  request_.headers.add(arena_, http::FieldId::kXForwardedFor, "198.51.100.1");
  request_.headers.add(arena_, http::FieldId::kXForwardedFor, "198.51.100.2, 198.51.100.3");
  const auto head = make();
  EXPECT_EQ(joined(head, "x-forwarded-for"), "198.51.100.1, 198.51.100.2, 198.51.100.3, 192.0.2.7");
  for (const http::Field& field : head.headers) EXPECT_NE(field.value, "spoofed") << field.name;
}

}  // namespace
}  // namespace sluice::exchange
