// A client that waits for 100 (Continue) gets the answer of the Backend, in every pair of HTTP versions; the gateway's
// own after a while; and never more than one.
#include "proxy/exchange/attempt/expectation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/exchange/attempt/rule_retry_fixture.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using std::chrono::seconds;
using test::BackendPeer;

class Expectations : public RuleRetry {
 protected:
  std::size_t expect() {
    return ask({.method = Method::kPost, .target = "/ok", .body = Body::kLength, .length = 5, .expectContinue = true});
  }
  void interim(BackendPeer& backend, std::uint16_t status) {
    backend.interim(backend.requests() - 1, status);
    EXPECT_TRUE(rig_->settle());
  }
  std::vector<std::uint16_t> interims(std::size_t index) { return client_->answer(index).interims; }
  bool asks(BackendPeer& backend) { return backend.request(backend.requests() - 1).message.head.expectContinue; }
  bool ofHttp1() const { return std::get<0>(GetParam()) == Version::kHttp11; }

  static inline const std::vector<std::uint16_t> kNone;
  static inline const std::vector<std::uint16_t> kOne{100};
};

INSTANTIATE_TEST_SUITE_P(Versions, Expectations,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(Expectations, AreForTheBackendToMeetOnce) {
  make();
  const std::size_t index = expect();
  BackendPeer& backend = accept(0);
  EXPECT_TRUE(asks(backend));
  EXPECT_EQ(interims(index), kNone);
  for (const std::uint16_t status : std::vector<std::uint16_t>{103, 100, 100}) interim(backend, status);
  EXPECT_EQ(interims(index), (std::vector<std::uint16_t>{103, 100}));
  send(index, "hello");
  EXPECT_EQ(backend.request(0).body, "hello");
  respond(backend, 200, "thanks");
  EXPECT_EQ(client_->answer(index).body, "thanks");
  const std::size_t next = get();
  respond(backend, 200, "again");
  EXPECT_EQ(client_->answer(next).body, "again") << "both connections go on";
  EXPECT_EQ(rig_->dialled(), 1U);
}

TEST_P(Expectations, AreForTheBackendToRefuse) {
  for (const std::uint16_t refusal : std::vector<std::uint16_t>{417, 403, 302}) {
    for (const char* text : {"", "no"}) {
      make();
      const std::size_t index = expect();
      BackendPeer& backend = accept(0);
      respond(backend, refusal, text);
      EXPECT_EQ(status(index), refusal);
      EXPECT_EQ(client_->answer(index).body, text);
      EXPECT_EQ(interims(index), kNone);
      EXPECT_EQ(client_->codec->availableStreams() == 0, ofHttp1()) << "nobody knows what comes next";
      send(index, "hello");
      EXPECT_EQ(backend.request(0).body, "");
      rig_->connect(Version::kHttp2).ask({.target = "/ok"});
      ASSERT_TRUE(rig_->settle());
      EXPECT_EQ(rig_->dialled(), backendVersion() == Version::kHttp11 ? 2U : 1U);
      EXPECT_TRUE(rig_->limits.empty());
    }
  }
}

TEST_P(Expectations, AreMetByTheGatewayIfTheBackendIsSilent) {
  test::RigOptions options = speaking(backendVersion());
  options.timeouts.expectContinue = seconds(5);
  test::Rig& rig = make(options);
  const std::size_t index = expect();
  BackendPeer& backend = accept(0);
  interim(backend, 103);
  rig.advanceShortOf(seconds(5));
  EXPECT_EQ(interims(index), std::vector<std::uint16_t>{103});
  rig.advancePast();
  EXPECT_EQ(interims(index), (std::vector<std::uint16_t>{103, 100}));
  EXPECT_EQ(rig.limits, std::vector<std::string>{"expectContinue"});
  interim(backend, 100);
  EXPECT_EQ(interims(index), (std::vector<std::uint16_t>{103, 100})) << "the Backend's comes too late";
  rig.advance(seconds(50));
  send(index, "hello");
  EXPECT_EQ(backend.request(0).body, "hello");
  respond(backend, 200, "thanks");
  expectTold(200, 1);
}

// timeouts.bodyIdle runs from the 100 on.
TEST_P(Expectations, OweTheClientAnAnswerBeforeItOwesItsBody) {
  test::RigOptions options = speaking(backendVersion());
  options.timeouts.expectContinue = seconds(200);
  test::Rig& rig = make(options);
  const std::size_t index = expect();
  BackendPeer& backend = accept(0);
  for (int i = 0; i < 3; ++i) rig.advance(seconds(60));
  EXPECT_FALSE(client_->answer(index).answered);
  interim(backend, 100);
  rig.advanceShortOf(seconds(60));
  EXPECT_FALSE(client_->answer(index).answered);
  rig.advancePast();
  EXPECT_EQ(status(index), 408);
  EXPECT_EQ(rig.limits, std::vector<std::string>{"bodyIdle"});
}

TEST_P(Expectations, GoToEachAttemptUntilTheyAreMet) {
  make(3);
  const std::size_t index = expect();
  accept(0);
  for (int attempt = 0; attempt < 2; ++attempt) {
    BackendPeer& backend = *rig_->backends.back();
    EXPECT_TRUE(asks(backend)) << attempt;
    if (attempt == 1) {
      interim(backend, 100);
      send(index, "hello");
    }
    respond(backend, 503, "not now");
    passBackoff(attempt + 1);
    if (rig_->dialled() > rig_->backends.size()) accept(rig_->backends.size());
  }
  BackendPeer& last = *rig_->backends.back();
  EXPECT_FALSE(asks(last)) << "the client sends its body now";
  EXPECT_EQ(last.request(last.requests() - 1).body, "hello");
  respond(last, 200, "thanks");
  EXPECT_EQ(client_->answer(index).body, "thanks");
  EXPECT_EQ(interims(index), kOne);
  expectTold(200, 3);
}

TEST_P(Expectations, AreNotThoseOfAClientThatSendsItsBodyAtOnce) {
  test::Rig& rig = make();
  const std::size_t index = expect();
  send(index, "hello");
  BackendPeer& backend = accept(0);
  EXPECT_FALSE(asks(backend));
  rig.advance(seconds(2));
  respond(backend, 200, "thanks");
  EXPECT_EQ(interims(index), kNone);
  expectTold(200, 1);
}

// A 100 ends the wait for it alone.
TEST_P(Expectations, DoNotExtendTheTimeOfTheAttempt) {
  test::RigOptions options = speaking(backendVersion());
  options.rule = [](routing::Rule& rule) { rule.backendRequestTimeout = seconds(10); };
  test::Rig& rig = make(options);
  const std::size_t index = expect();
  BackendPeer& backend = accept(0);
  interim(backend, 100);
  send(index, "hello");
  rig.advanceShortOf(seconds(10));
  EXPECT_FALSE(client_->answer(index).answered);
  rig.advancePast();
  EXPECT_EQ(status(index), 504);
}

TEST_P(Expectations, EndWithAClientThatLeaves) {
  test::Rig& rig = make();
  const std::size_t index = expect();
  accept(0);
  client_->cancel(index);
  client_->wire().reset();
  ASSERT_TRUE(rig.settle());
  rig.advance(seconds(2));
  EXPECT_TRUE(rig.limits.empty());
  EXPECT_EQ(rig.exchanges.size(), 0U);
}

}  // namespace
}  // namespace sluice::exchange
