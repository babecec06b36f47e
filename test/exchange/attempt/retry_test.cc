// Without a rule's `retry`, a request is sent again only if the backend cannot have acted on it, a few times, and only
// with its whole body.
#include <gtest/gtest.h>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using test::BackendPeer;
using test::HeadSpec;
using test::Rig;

/// The fixture has a backend connection that has served one request and waits in the pool.
class Retry : public ::testing::Test {
 protected:
  explicit Retry(Version version = Version::kHttp11) : rig_(speaking(version)), client_(rig_.connect(Version::kHttp2)) {
    const std::size_t index = client_.ask({.target = "/ok"});
    EXPECT_TRUE(rig_.settle());
    rig_.accept(0, version).respond(0, 200, "first");
    EXPECT_TRUE(rig_.settle());
    EXPECT_EQ(client_.answer(index).body, "first");
    rig_.told.clear();
  }
  /// Waits until the request has reached the pooled connection.
  std::size_t ask(const HeadSpec& spec) {
    const std::size_t index = client_.ask(spec);
    EXPECT_TRUE(rig_.settle());
    EXPECT_EQ(rig_.backends[0]->requests(), 2U);
    return index;
  }
  void expectTold(std::uint16_t status, std::uint32_t attempts) {
    ASSERT_TRUE(rig_.settle());
    ASSERT_EQ(rig_.told.size(), 1U);
    EXPECT_EQ(rig_.told[0].status, status);
    EXPECT_EQ(rig_.told[0].attempts, attempts);
    EXPECT_EQ(rig_.exchanges.size(), 0U);
    EXPECT_EQ(rig_.budget().requests.count(), 0U);
  }
  BackendPeer& pooled() { return *rig_.backends[0]; }

  Rig rig_;
  test::ClientPeer& client_;
};

class RetryOverH2 : public Retry {
 protected:
  RetryOverH2() : Retry(Version::kHttp2) {}
};

TEST_F(Retry, AStalePooledConnectionIsReplacedOnce) {
  const std::size_t index = ask({.target = "/ok"});
  pooled().wire().end();
  ASSERT_TRUE(rig_.settle());
  ASSERT_EQ(rig_.dialled(), 2U);
  rig_.accept(1).respond(0, 200, "again");
  expectTold(200, 1);
  EXPECT_EQ(client_.answer(index).body, "again");
  EXPECT_FALSE(rig_.told[0].error) << "nothing went wrong for the client";
}

TEST_F(Retry, NoOtherIdleConnectionIsTriedThen) {
  // Two connections are idle, because the requests overlapped.
  client_.ask({.target = "/ok"});
  client_.ask({.target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  pooled().respond(1, 200, "");
  rig_.accept(1).respond(0, 200, "");
  ASSERT_TRUE(rig_.settle());
  rig_.told.clear();
  const std::size_t index = client_.ask({.target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  for (std::size_t i = 0; i < 2; ++i) {
    if (rig_.backends[i]->requests() > (i == 0 ? 2U : 1U)) rig_.backends[i]->wire().reset();
  }
  ASSERT_TRUE(rig_.settle());
  ASSERT_EQ(rig_.dialled(), 3U);
  rig_.accept(2).respond(0, 200, "again");
  expectTold(200, 1);
  EXPECT_EQ(client_.answer(index).body, "again");
}

TEST_F(Retry, AConnectionThatIsResetIsReplacedToo) {
  const std::size_t index = ask({.target = "/ok"});
  pooled().wire().reset();
  ASSERT_TRUE(rig_.settle());
  rig_.accept(1).respond(0, 200, "again");
  expectTold(200, 1);
  EXPECT_EQ(client_.answer(index).body, "again");
}

TEST_F(Retry, TheSecondAttemptIsTheLast) {
  ask({.target = "/ok"});
  pooled().wire().end();
  ASSERT_TRUE(rig_.settle());
  rig_.accept(1).wire().end();
  expectTold(502, 1);
  EXPECT_EQ(rig_.dialled(), 2U);
}

TEST_F(Retry, AFreshConnectionThatFailsIsNotReplaced) {
  pooled().wire().end();
  ASSERT_TRUE(rig_.settle());
  client_.ask({.target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  rig_.accept(1).wire().end();
  expectTold(502, 1);
}

TEST_F(Retry, ARequestThatIsNotIdempotentIsNotSentTwice) {
  for (const bool clean : {true, false}) {
    Rig rig;
    test::ClientPeer& client = rig.connect();
    client.ask({.target = "/ok"});
    ASSERT_TRUE(rig.settle());
    BackendPeer& backend = rig.accept(0);
    backend.respond(0, 200, "");
    ASSERT_TRUE(rig.settle());
    client.ask({.method = Method::kPost, .target = "/ok"});
    ASSERT_TRUE(rig.settle());
    ASSERT_EQ(backend.requests(), 2U);
    clean ? backend.wire().end() : backend.wire().reset();
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(rig.told.back().status, 502);
    EXPECT_EQ(rig.told.back().attempts, 1U);
    EXPECT_EQ(rig.dialled(), 1U) << "the backend may have acted on it";
  }
}

TEST_F(Retry, ARequestWhoseBodyHasGoneIsNotSentAgain) {
  const std::size_t index = ask({.method = Method::kPut, .target = "/ok", .body = Body::kUntilEnd});
  client_.body(index, "taken");
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(pooled().request(1).body, "taken");
  pooled().wire().end();
  expectTold(502, 1);
  EXPECT_EQ(rig_.dialled(), 1U);
}

TEST_F(Retry, ABodyThatHasNotGoneIsSentAgainWhole) {
  const std::size_t index = ask({.method = Method::kPut, .target = "/ok", .body = Body::kUntilEnd});
  pooled().wire().end();
  ASSERT_TRUE(rig_.settle());
  BackendPeer& fresh = rig_.accept(1);
  client_.body(index, "whole");
  client_.finish(index);
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(fresh.request(0).body, "whole");
  fresh.respond(0, 200, "");
  expectTold(200, 1);
}

TEST_F(Retry, ARequestIsNotSentAgainAfterAMalformedAnswer) {
  ask({.target = "/ok"});
  pooled().wire().deliver("HTTP/9.9 what\r\n\r\n");
  expectTold(502, 1);
  EXPECT_EQ(rig_.dialled(), 1U);
}

TEST_F(Retry, AResponseThatHasBegunIsNotReplaced) {
  const std::size_t index = ask({.target = "/ok"});
  pooled().head(1, {.body = Body::kUntilEnd});
  ASSERT_TRUE(rig_.settle());
  pooled().wire().reset();
  expectTold(200, 1);
  EXPECT_TRUE(client_.answer(index).reset);
}

TEST_F(Retry, TheClientGetsContinueOnlyOnce) {
  const std::size_t index =
      ask({.method = Method::kPut, .target = "/ok", .body = Body::kUntilEnd, .expectContinue = true});
  pooled().wire().end();
  ASSERT_TRUE(rig_.settle());
  BackendPeer& second = rig_.accept(1);
  EXPECT_TRUE(second.request(0).message.head.expectContinue) << "the client still waits";
  for (int i = 0; i < 2; ++i) second.interim(0, 100);
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index).interims, (std::vector<std::uint16_t>{100}));
}

TEST_F(Retry, AClientThatLeavesBetweenLeaseAndUseCostsThePoolNothing) {
  // The request and its reset come in one read.
  const std::size_t index = client_.ask({.target = "/ok"});
  const std::string begin = test::produced(*client_.codec, client_.pool);
  client_.cancel(index);
  client_.wire().deliver(begin + test::produced(*client_.codec, client_.pool));
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(rig_.told.size(), 1U);
  EXPECT_EQ(pooled().requests(), 1U);
  client_.ask({.target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(pooled().requests(), 2U) << "the connection that was not used is still in the pool";
  EXPECT_EQ(rig_.dialled(), 1U);
}

TEST_F(RetryOverH2, ARefusedStreamIsSentAgainWhateverItsMethod) {
  const std::size_t index = ask({.method = Method::kPost, .target = "/ok"});
  pooled().reset(1, http::ResetReason::kRefused);
  ASSERT_TRUE(rig_.settle());
  ASSERT_EQ(pooled().requests(), 3U);
  pooled().respond(2, 200, "again");
  expectTold(200, 1);
  EXPECT_EQ(client_.answer(index).body, "again");
}

TEST_F(RetryOverH2, ARequestThatIsAlwaysRefusedIsSentAgainAFewTimes) {
  ask({.method = Method::kPost, .target = "/ok"});
  for (std::size_t i = 0; i <= upstream::kMostRepeats; ++i) {
    ASSERT_EQ(pooled().requests(), i + 2);
    pooled().reset(i + 1, http::ResetReason::kRefused);
    ASSERT_TRUE(rig_.settle());
  }
  expectTold(502, 1);
  EXPECT_EQ(pooled().requests(), upstream::kMostRepeats + 2);
}

TEST_F(RetryOverH2, ARefusedStreamWhoseBodyHasGoneIsNotSentAgain) {
  const std::size_t index = ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
  client_.body(index, "taken");
  ASSERT_TRUE(rig_.settle());
  pooled().reset(1, http::ResetReason::kRefused);
  expectTold(502, 1);
}

TEST_F(RetryOverH2, AResetStreamIsNotSentAgain) {
  ask({.target = "/ok"});
  pooled().reset(1, http::ResetReason::kCancelled);
  expectTold(502, 1);
  EXPECT_EQ(pooled().requests(), 2U);
}

TEST_F(RetryOverH2, ALostConnectionIsReplacedForIdempotentRequestsOnly) {
  const std::size_t get = client_.ask({.target = "/ok"});
  const std::size_t post = client_.ask({.method = Method::kPost, .target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  ASSERT_EQ(pooled().requests(), 3U);
  pooled().wire().reset();
  ASSERT_TRUE(rig_.settle());
  ASSERT_EQ(rig_.dialled(), 2U);
  rig_.accept(1, Version::kHttp2).respond(0, 200, "again");
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(get).message.head.status, 200);
  EXPECT_EQ(client_.answer(post).message.head.status, 502);
  EXPECT_EQ(rig_.backends[1]->requests(), 1U);
}

}  // namespace
}  // namespace sluice::exchange
