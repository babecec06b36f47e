// Every timeout of settings.yaml that an exchange enforces is tested on both sides of it, with its counter. The tests
// move the time.
#include <gtest/gtest.h>

#include <algorithm>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using std::chrono::seconds;
using test::BackendPeer;
using test::Rig;
using test::RigOptions;

class ExchangeTimeouts : public ::testing::TestWithParam<Version> {
 protected:
  Rig& make(const RigOptions& options = {}) {
    rig_.emplace(options);
    client_ = &rig_->connect(GetParam());
    return *rig_;
  }
  std::size_t get() { return client_->ask({.target = "/ok"}); }
  std::size_t post() { return client_->ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd}); }
  BackendPeer& open() {
    EXPECT_TRUE(rig_->settle());
    return rig_->accept(0);
  }
  void expectWaiting() {
    EXPECT_EQ(rig_->exchanges.size(), 1U);
    EXPECT_TRUE(rig_->limits.empty());
  }
  void expectTold(std::uint16_t status, base::ErrorType type, base::ErrorOrigin origin, std::string_view limit) {
    ASSERT_EQ(rig_->told.size(), 1U);
    EXPECT_EQ(rig_->told[0].status, status);
    ASSERT_TRUE(rig_->told[0].error);
    EXPECT_EQ(rig_->told[0].error->type, type);
    EXPECT_EQ(rig_->told[0].error->origin, origin);
    EXPECT_NE(rig_->metricsText().find("sluice_limit_hits_total{limit=\"" + std::string(limit) + "\"} 1\n"),
              std::string::npos);
    EXPECT_EQ(rig_->exchanges.size(), 0U);
    rig_->close();
    EXPECT_EQ(rig_->worker.chunks().inUse(), 0U);
  }

  std::optional<Rig> rig_;
  test::ClientPeer* client_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Clients, ExchangeTimeouts, ::testing::Values(Version::kHttp11, Version::kHttp2));

TEST_P(ExchangeTimeouts, BodyIdleEndsARequestWhoseBodyDoesNotCome) {
  Rig& rig = make();
  const std::size_t index = post();
  BackendPeer& backend = open();
  rig.advanceShortOf(seconds(60));
  expectWaiting();
  rig.advancePast();
  EXPECT_EQ(client_->answer(index).message.head.status, 408);
  EXPECT_TRUE(backend.request(0).reset);
  expectTold(408, base::ErrorType::kHttpRequestError, base::ErrorOrigin::kDownstream, "bodyIdle");
}

TEST_P(ExchangeTimeouts, BodyIdleBeginsAgainWithEveryKilobyte) {
  Rig& rig = make();
  const std::size_t index = post();
  open();
  for (int i = 0; i < 5; ++i) {
    rig.advance(seconds(50));
    client_->body(index, std::string(1024, 'x'));
    ASSERT_TRUE(rig.settle());
  }
  rig.advanceShortOf(seconds(60));
  expectWaiting();
  rig.advancePast();
  EXPECT_EQ(client_->answer(index).message.head.status, 408);
}

TEST_P(ExchangeTimeouts, ABodyThatDripsIsNoProgress) {
  Rig& rig = make();
  const std::size_t index = post();
  open();
  for (int i = 0; i < 6; ++i) {
    rig.advance(seconds(9));
    client_->body(index, "x");
    ASSERT_TRUE(rig.settle());
  }
  expectWaiting();
  rig.advance(seconds(7));
  EXPECT_EQ(client_->answer(index).message.head.status, 408);
}

TEST_P(ExchangeTimeouts, BodyIdleIsExactAfterALongWaitForTheBackend) {
  RigOptions options;
  options.timeouts.connect = seconds(200);
  Rig& rig = make(options);
  const std::size_t index = post();
  client_->body(index, std::string(2000, 'x'));
  ASSERT_TRUE(rig.settle());
  for (int i = 0; i < 7; ++i) rig.advance(seconds(20));
  expectWaiting();
  open();  // the body is being read, so the client owes its remaining bytes from here on
  rig.advance(seconds(59));
  expectWaiting();
  for (int i = 0; i < 3; ++i) rig.advance(seconds(20));
  EXPECT_EQ(client_->answer(index).message.head.status, 408) << "at most one bodyIdle late";
}

TEST_P(ExchangeTimeouts, AClientIsNotBlamedWhileNothingTakesItsBody) {
  RigOptions options;
  options.timeouts.connect = seconds(200);
  Rig& rig = make(options);
  client_->ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd, .expectContinue = true});
  ASSERT_TRUE(rig.settle());
  for (int i = 0; i < 9; ++i) rig.advance(seconds(20));
  expectWaiting();
}

TEST_P(ExchangeTimeouts, StreamIdleEndsABackendThatDoesNotAnswer) {
  Rig& rig = make();
  const std::size_t index = get();
  BackendPeer& backend = open();
  rig.advanceShortOf(seconds(300));
  expectWaiting();
  rig.advancePast();
  EXPECT_EQ(client_->answer(index).message.head.status, 504);
  EXPECT_TRUE(backend.request(0).reset);
  expectTold(504, base::ErrorType::kHttpResponseTimeout, base::ErrorOrigin::kUpstream, "streamIdle");
}

TEST_P(ExchangeTimeouts, StreamIdleCutsAResponseThatStopsHalfWay) {
  Rig& rig = make();
  const std::size_t index = get();
  BackendPeer& backend = open();
  backend.head(0, {.body = Body::kUntilEnd});
  for (int i = 0; i < 3; ++i) {
    rig.advance(seconds(290));
    backend.body(0, "x");
    ASSERT_TRUE(rig.settle());
  }
  rig.advanceShortOf(seconds(300));
  expectWaiting();
  rig.advancePast();
  EXPECT_TRUE(client_->answer(index).reset);
  EXPECT_FALSE(client_->answer(index).ended);
  expectTold(200, base::ErrorType::kHttpResponseTimeout, base::ErrorOrigin::kUpstream, "streamIdle");
}

TEST_P(ExchangeTimeouts, StreamIdleEndsAClientThatDoesNotTakeItsResponse) {
  RigOptions options;
  options.bounds.responseRate = 0;  // otherwise responseIdle comes first, which response_rate_test.cc tests
  Rig& rig = make(options);
  get();
  BackendPeer& backend = open();
  client_->wire().allow(0);
  backend.respond(0, 200, std::string(2'000'000, 'x'));
  ASSERT_TRUE(rig.settle());
  rig.advanceShortOf(seconds(300));
  expectWaiting();
  rig.advancePast();
  expectTold(200, base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream, "streamIdle");
}

TEST_P(ExchangeTimeouts, RequestBoundsTheWholeExchange) {
  RigOptions options;
  options.timeouts.request = seconds(7);
  Rig& rig = make(options);
  const std::size_t index = get();
  open().interim(0, 103);
  ASSERT_TRUE(rig.settle());
  rig.advanceShortOf(seconds(7));
  expectWaiting();
  rig.advancePast();
  EXPECT_EQ(client_->answer(index).message.head.status, 504);
  EXPECT_TRUE(client_->answer(index).ended);
  expectTold(504, base::ErrorType::kHttpResponseTimeout, base::ErrorOrigin::kUpstream, "request");
}

TEST_P(ExchangeTimeouts, ALocalReplyHasTimeToBeReadAfterRequestHasPassed) {
  RigOptions options;
  options.timeouts.request = seconds(7);
  options.timeouts.streamIdle = seconds(100);
  Rig& rig = make(options);
  // This is more than the window of an HTTP/2 client that takes nothing, so the answer waits.
  const std::size_t first = get();
  open();
  client_->wire().allow(0);
  rig.advance(seconds(8));
  rig.advance(seconds(50));
  client_->wire().allowAll();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client_->answer(first).message.head.status, 504);
  EXPECT_TRUE(client_->answer(first).ended);
  EXPECT_EQ(rig.exchanges.size(), 0U);
}

TEST_P(ExchangeTimeouts, ConnectBoundsTheWayToTheBackend) {
  Rig& rig = make();
  const std::size_t index = get();
  ASSERT_TRUE(rig.settle());
  rig.advanceShortOf(seconds(5));
  expectWaiting();
  rig.advancePast();
  EXPECT_EQ(client_->answer(index).message.head.status, 504);
  EXPECT_TRUE(rig.wire(0).letGo);
  expectTold(504, base::ErrorType::kConnectionTimeout, base::ErrorOrigin::kUpstream, "connect");
  EXPECT_EQ(rig.budget().connections.count(), 0U);
}

// A streaming call may send nothing for long. HTTP/1.1 carries no gRPC, whatever its Content-Type claims.
TEST_P(ExchangeTimeouts, OnlyGrpcOverHttp2IsNotHurriedByBodyIdle) {
  Rig& rig = make();
  const std::size_t index = client_->ask({.method = Method::kPost,
                                          .target = "/ok",
                                          .fields = {{"content-type", "application/grpc"}},
                                          .body = Body::kUntilEnd});
  BackendPeer& backend = open();
  if (GetParam() != Version::kHttp2) {
    rig.advance(seconds(61));
    EXPECT_EQ(client_->answer(index).message.head.status, 408);
    return expectTold(408, base::ErrorType::kHttpRequestError, base::ErrorOrigin::kDownstream, "bodyIdle");
  }
  for (int i = 0; i < 4; ++i) rig.advance(seconds(61));
  expectWaiting();
  client_->finish(index);
  backend.respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(client_->answer(index).ended);
}

// The client has a window of nothing, so that even an answer of a few bytes cannot be taken.
TEST(LocalReplyTimeout, EndsAReplyThatTheClientDoesNotTake) {
  RigOptions options;
  options.bounds.responseRate = 0;
  Rig rig(options);
  http::Limits limits;
  limits.streamWindow = 0;
  test::ClientPeer& client = rig.connect(Version::kHttp2, limits);
  const std::size_t lost = client.ask({.target = "/nowhere"});
  const std::size_t late = client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.accept(0);
  EXPECT_EQ(client.answer(lost).message.head.status, 404);
  EXPECT_EQ(rig.exchanges.size(), 2U);
  rig.advanceShortOf(seconds(120));
  EXPECT_EQ(rig.exchanges.size(), 2U);
  rig.advancePast();
  EXPECT_EQ(rig.exchanges.size(), 1U) << "the 404 has had clientIdle to be taken";
  EXPECT_NE(std::find(rig.limits.begin(), rig.limits.end(), "clientIdle"), rig.limits.end());
  rig.advance(seconds(181));
  EXPECT_EQ(client.answer(late).message.head.status, 504);
  EXPECT_EQ(rig.exchanges.size(), 1U) << "the 504 has its own time";
  rig.advance(seconds(118));
  EXPECT_EQ(rig.exchanges.size(), 1U);
  rig.advance(seconds(3));
  EXPECT_EQ(rig.exchanges.size(), 0U);
  ASSERT_EQ(rig.told.size(), 2U);
  EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kDestinationNotFound);
  EXPECT_EQ(rig.told[1].error->type, base::ErrorType::kHttpResponseTimeout)
      << "the reason stays what the client was told";
}

// A client that takes a byte now and then must not keep the answer for ever.
TEST(LocalReplyTimeout, IsNotPutOffByBytesThatAreTaken) {
  Rig rig;
  http::Limits limits;
  limits.streamWindow = 1;
  test::ClientPeer& client = rig.connect(Version::kHttp2, limits);
  client.grants = false;
  const std::size_t lost = client.ask({.target = "/nowhere"});
  ASSERT_TRUE(rig.settle());
  for (int i = 0; i < 5; ++i) {
    rig.advance(seconds(23));
    client.grant(lost, 1);
    ASSERT_TRUE(rig.settle());
  }
  EXPECT_EQ(rig.exchanges.size(), 1U);
  EXPECT_EQ(client.answer(lost).body.size(), 6U);
  rig.advance(seconds(6));
  EXPECT_EQ(rig.exchanges.size(), 0U);
}

}  // namespace
}  // namespace sluice::exchange
