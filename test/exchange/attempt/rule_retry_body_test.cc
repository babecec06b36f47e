// Tests that a rule with `retry` sends a request again with its body byte for byte, as long as limits.replayBuffer
// holds the bytes that were sent.
#include <string>

#include "test/exchange/attempt/rule_retry_fixture.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Version;
using test::BackendPeer;
using test::Rig;
using test::RigOptions;

class RuleRetryBody : public RuleRetry {};

INSTANTIATE_TEST_SUITE_P(Versions, RuleRetryBody,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(RuleRetryBody, ABodyWithinTheBoundIsSentAgainByteForByte) {
  Rig& rig = make(2);
  const std::size_t index = post();
  std::string body(64 * 1024, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + (i * 7 + i / 1021) % 26);
  BackendPeer& first = accept(0);
  client_->body(index, body.substr(0, 20000));
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(first.request(0).body.size(), 20000U);
  respond(first, 503, "");  // an early response: the rest of the body is still to come
  client_->body(index, body.substr(20000, 30000));
  ASSERT_TRUE(rig.settle());
  passBackoff();
  BackendPeer& second = backendVersion() == Version::kHttp2 ? first : accept(1);
  const std::size_t at = second.requests() - 1;
  EXPECT_EQ(second.request(at).body, body.substr(0, 50000));
  client_->body(index, body.substr(50000));
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(second.request(at).body, body);
  EXPECT_TRUE(second.request(at).ended);
  respond(second, 503, "");
  passBackoff(2);
  ASSERT_EQ(second.requests(), at + 2);
  EXPECT_EQ(second.request(at + 1).body, body) << "all 64Ki of it";
  EXPECT_TRUE(second.request(at + 1).ended);
  respond(second, 200, "");
  EXPECT_FALSE(limited("replayBuffer"));
  EXPECT_EQ(status(index), 200);
  expectTold(200, 3);
}

TEST_P(RuleRetryBody, ABodyBeyondTheBoundIsSentOnce) {
  RigOptions options = retrying(backendVersion(), 2);
  options.bounds.replayBuffer = 64 * 1024;
  make(options);
  const std::size_t index = post();
  BackendPeer& backend = accept(0);
  send(index, std::string(64 * 1024 + 1, 'x'));
  respond(backend, 503, "not now");
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(client_->answer(index).body, "not now");
  EXPECT_TRUE(limited("replayBuffer"));
  expectTold(503, 1);
  const std::string counted = "sluice_retry_unreplayable_total{route=\"demo/route\",backend=\"demo/backend\"} 1";
  EXPECT_NE(rig_->metricsText().find(counted), std::string::npos);
}

TEST_P(RuleRetryBody, TheBoundOfTheRuleAppliesWithinThatOfProcessors) {
  for (const std::size_t most : {std::size_t{3000}, std::size_t{2000}}) {
    for (const std::size_t size : {std::size_t{2000}, std::size_t{2001}}) {
      RigOptions options = retrying(backendVersion(), 1, [](routing::Rule& rule) { rule.retry->replayBytes = 3000; });
      options.bounds.processorBuffer = most;
      make(options);
      const std::size_t index = post();
      BackendPeer& first = accept(0);
      send(index, std::string(size, 'x'));
      respond(first, 503, "");
      passBackoff();
      const bool isKept = size <= most;
      EXPECT_EQ(rig_->told.empty(), isKept) << size << " of " << most;
      EXPECT_EQ(limited("replayBuffer"), !isKept);
      rig_->close();
    }
  }
}

TEST_P(RuleRetryBody, ABodyWithoutRoomForACopyIsSentOnce) {
  RigOptions options = retrying(backendVersion(), 2);
  options.bounds.processorBufferTotal = 32 * 1024;
  make(options);
  const std::size_t index = post();
  BackendPeer& backend = accept(0);
  send(index, std::string(100 * 1024, 'x'));
  EXPECT_EQ(backend.request(0).body.size(), 100U * 1024);
  respond(backend, 503, "not now");
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(client_->answer(index).body, "not now");
  EXPECT_TRUE(limited("processorBufferTotal"));
  EXPECT_FALSE(limited("replayBuffer"));
  expectTold(503, 1);
}

TEST_P(RuleRetryBody, ALongBodyThatNobodyHasTakenYetIsNotLost) {
  Rig& rig = make();
  const std::size_t index = post();
  const std::string body(200 * 1024, 'x');
  send(index, body);
  rig.wire(0).refuse();
  ASSERT_TRUE(rig.settle());
  passBackoff();
  BackendPeer& backend = accept(1);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(backend.request(0).body.size(), body.size());
  EXPECT_TRUE(backend.request(0).ended);
  respond(backend, 200, "");
  expectTold(200, 2);
}

// Bytes that are sent again were granted once, so an upload must move on when the attempt changes in the middle of it.
TEST_P(RuleRetryBody, AnUploadGoesOnAfterARetryToItsEnd) {
  RigOptions options = retrying(backendVersion(), 2);
  options.limits.streamWindow = 16 * 1024;
  Rig& rig = make(options);
  const std::size_t index = post();
  const std::string body(1024 * 1024, 'x');
  BackendPeer& first = accept(0);
  client_->body(index, body.substr(0, 60000));
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(first.request(0).body.size(), 60000U);
  respond(first, 503, "");
  passBackoff();
  BackendPeer& second = backendVersion() == Version::kHttp2 ? first : accept(1);
  send(index, body.substr(60000));
  const std::size_t at = second.requests() - 1;
  EXPECT_EQ(second.request(at).body.size(), body.size());
  respond(second, 200, "");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 2);
}

TEST_P(RuleRetryBody, TrailersAreSentAgainToo) {
  make();
  const std::size_t index = post();
  client_->body(index, "body");
  client_->finish(index, {{"x-sum", "1"}});
  BackendPeer& backend = accept(0);
  respond(backend, 503, "");
  passBackoff();
  ASSERT_EQ(backend.requests(), 2U);
  EXPECT_EQ(backend.request(1).body, "body");
  EXPECT_EQ(backend.request(1).trailers, backend.request(0).trailers);
  respond(backend, 200, "");
  expectTold(200, 2);
}

}  // namespace
}  // namespace sluice::exchange
