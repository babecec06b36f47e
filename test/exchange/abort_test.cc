// When one side breaks off, at any time, the other side is cut at once, the exchange ends once, and nothing stays
// behind.
#include <gtest/gtest.h>

#include <tuple>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using test::BackendPeer;
using test::Rig;
using test::RigOptions;

class Abort : public ::testing::TestWithParam<std::tuple<Version, Version>> {
 protected:
  Abort() : rig_(speaking(backendVersion())), client_(rig_.connect(std::get<0>(GetParam()))) {}
  static Version backendVersion() { return std::get<1>(GetParam()); }
  BackendPeer& open() {
    EXPECT_TRUE(rig_.settle());
    return rig_.accept(0, backendVersion());
  }
  std::size_t get() { return client_.ask({.target = "/ok"}); }
  std::size_t post() { return client_.ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd}); }
  /// Breaks the exchange off. HTTP/1.1 can only end the connection.
  void clientAborts(std::size_t index) {
    if (std::get<0>(GetParam()) == Version::kHttp2) {
      client_.cancel(index);
    } else {
      client_.wire().reset();
    }
    EXPECT_TRUE(rig_.settle());
  }
  void expectClientGone(std::uint16_t status) {
    ASSERT_EQ(rig_.told.size(), 1U);
    EXPECT_EQ(rig_.told[0].status, status);
    ASSERT_TRUE(rig_.told[0].error);
    EXPECT_EQ(rig_.told[0].error->type, base::ErrorType::kConnectionTerminated);
    EXPECT_EQ(rig_.told[0].error->origin, base::ErrorOrigin::kDownstream);
  }
  void expectCut(BackendPeer& backend) {
    EXPECT_TRUE(backend.request(0).reset);
    EXPECT_EQ(backend.wire().over(), backendVersion() == Version::kHttp11) << "on HTTP/2 other streams go on";
  }
  void expectClean() {
    EXPECT_TRUE(rig_.quiet());
    EXPECT_EQ(rig_.exchanges.size(), 0U);
    EXPECT_EQ(rig_.told.size(), 1U);
    EXPECT_EQ(rig_.budget().requests.count(), 0U);
    rig_.close();
    EXPECT_EQ(rig_.budget().connections.count(), 0U);
    EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
  }

  Rig rig_;
  test::ClientPeer& client_;
};

INSTANTIATE_TEST_SUITE_P(Versions, Abort,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(Abort, TheClientMayAbortWhileTheNameResolves) {
  rig_.resolver.forget(Rig::kHost);
  const std::size_t index = get();
  ASSERT_TRUE(rig_.settle());
  clientAborts(index);
  expectClientGone(0);
  rig_.resolver.know(Rig::kHost, {"192.0.2.1"});
  rig_.resolver.answer();
  EXPECT_EQ(rig_.dialled(), 0U) << "nobody waits any more";
  expectClean();
}

TEST_P(Abort, TheClientMayAbortWhileTheConnectionIsMade) {
  const std::size_t index = get();
  ASSERT_TRUE(rig_.settle());
  clientAborts(index);
  expectClientGone(0);
  EXPECT_EQ(open().requests(), 0U);
  EXPECT_EQ(rig_.dialled(), 1U);
  expectClean();
}

TEST_P(Abort, TheClientMayAbortWithinItsBody) {
  const std::size_t index = post();
  client_.body(index, "some");
  BackendPeer& backend = open();
  EXPECT_EQ(backend.request(0).body, "some");
  clientAborts(index);
  expectClientGone(0);
  expectCut(backend);
  EXPECT_FALSE(backend.request(0).ended);
  EXPECT_EQ(backend.wire().aborted, backendVersion() == Version::kHttp11) << "half a request ends with no FIN";
  expectClean();
}

TEST_P(Abort, TheClientMayAbortBeforeTheBackendAnswers) {
  const std::size_t index = get();
  BackendPeer& backend = open();
  clientAborts(index);
  expectClientGone(0);
  expectCut(backend);
  expectClean();
}

TEST_P(Abort, TheClientMayAbortWithinTheResponse) {
  const std::size_t index = get();
  BackendPeer& backend = open();
  backend.head(0, {.body = Body::kUntilEnd});
  backend.body(0, "some");
  ASSERT_TRUE(rig_.settle());
  clientAborts(index);
  expectClientGone(200);
  expectCut(backend);
  expectClean();
}

TEST_P(Abort, TheClientMayAbortAfterTheBackendIsDone) {
  const std::size_t index = get();
  BackendPeer& backend = open();
  client_.grants = false;
  client_.reads = false;
  client_.wire().allow(0);
  backend.respond(0, 200, std::string(250'000, 'x'));
  ASSERT_TRUE(rig_.settle());
  clientAborts(index);
  rig_.close();
  EXPECT_EQ(rig_.told.size(), 1U);
  EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
}

TEST_P(Abort, TheBackendMayAbortBeforeItsResponse) {
  const std::size_t index = post();
  client_.body(index, "some");
  BackendPeer& backend = open();
  backend.reset(0, http::ResetReason::kFailed);
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index).message.head.status, 502);
  ASSERT_EQ(rig_.told.size(), 1U);
  EXPECT_EQ(rig_.told[0].error->type, base::ErrorType::kConnectionTerminated);
  EXPECT_EQ(rig_.told[0].error->origin, base::ErrorOrigin::kUpstream);
  expectClean();
}

TEST_P(Abort, TheClientSeesThatTheBackendAbortsWithinItsResponse) {
  const std::size_t index = get();
  BackendPeer& backend = open();
  backend.head(0, {.body = Body::kUntilEnd});
  backend.body(0, "some");
  ASSERT_TRUE(rig_.settle());
  backend.reset(0, http::ResetReason::kFailed);
  ASSERT_TRUE(rig_.settle());
  EXPECT_FALSE(client_.answer(index).ended);
  EXPECT_TRUE(client_.answer(index).reset) << "it must not pass for the whole response";
  ASSERT_EQ(rig_.told.size(), 1U);
  EXPECT_EQ(rig_.told[0].status, 200);
  EXPECT_EQ(rig_.told[0].error->origin, base::ErrorOrigin::kUpstream);
  expectClean();
}

TEST_P(Abort, TheBackendConnectionMayBeLostWithinARequestBody) {
  const std::size_t index = post();
  client_.body(index, "some");
  BackendPeer& backend = open();
  backend.wire().reset();
  client_.body(index, "more");
  client_.finish(index);
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index).message.head.status, 502);
  expectClean();
}

TEST_P(Abort, AResponseThatIsNoHttpIsRefused) {
  const std::size_t index = get();
  ASSERT_TRUE(rig_.settle());
  rig_.wire(0).accept(backendVersion() == Version::kHttp2 ? "h2" : "http/1.1");
  rig_.wire(0).deliver("SSH-2.0-OpenSSH_9.2 and so on, long enough to be no frame of anything\r\n\r\n");
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index).message.head.status, 502);
  EXPECT_TRUE(rig_.wire(0).over());
  expectClean();
}

TEST_P(Abort, TheEndOfTheProcessReportsExchangesInFlight) {
  const std::size_t index = get();
  BackendPeer& backend = open();
  backend.head(0, {.body = Body::kUntilEnd});
  backend.body(0, "some");
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index).body, "some");
  rig_.close();
  EXPECT_EQ(rig_.told.size(), 1U);
  EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
  EXPECT_EQ(rig_.budget().requests.count(), 0U);
}

// A head that has not left gives way to an error, which tells the client more than the end of its connection.
class BrokenAtOnce : public ::testing::TestWithParam<Version> {};

INSTANTIATE_TEST_SUITE_P(Versions, BrokenAtOnce, ::testing::Values(Version::kHttp11, Version::kHttp2));

TEST_P(BrokenAtOnce, IsAnError) {
  Rig rig(speaking(Version::kHttp11));
  test::ClientPeer& client = rig.connect(GetParam());
  const std::size_t index = client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.wire(0).accept();
  rig.wire(0).take();
  rig.wire(0).deliver("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nno size\r\n");
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(client.answer(index).ended);
  EXPECT_EQ(client.answer(index).message.head.status, 502);
  EXPECT_EQ(client.answer(index).body.find("hello"), std::string::npos);
  ASSERT_EQ(rig.told.size(), 1U);
  EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kHttpProtocolError);
  EXPECT_EQ(rig.exchanges.size(), 0U);
  rig.close();
  EXPECT_EQ(rig.worker.chunks().inUse(), 0U);
}

// Bytes that an HTTP/1.1 codec has read ahead of a slow client outlive the backend's connection.
class ReadAhead : public ::testing::Test {
 protected:
  ReadAhead() : rig_(small()), client_(rig_.connect()) {
    index_ = client_.ask({.target = "/ok"});
    EXPECT_TRUE(rig_.settle());
    rig_.wire(0).accept();
    rig_.wire(0).take();
    client_.wire().allow(0);
  }
  static RigOptions small() {
    RigOptions options;
    options.limits.streamWindow = 8 * 1024;
    return options;
  }
  Rig rig_;
  test::ClientPeer& client_;
  std::size_t index_ = 0;
};

TEST_F(ReadAhead, AWholeResponseIsDeliveredAlthoughTheConnectionWasReset) {
  const std::string body(50'000, 'b');
  rig_.wire(0).deliver("HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n" + body);
  ASSERT_EQ(rig_.wire(0).waiting(), 0U) << "all of it was read";
  rig_.wire(0).reset();
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(rig_.exchanges.size(), 1U);
  client_.wire().allowAll();
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index_).body, body);
  EXPECT_TRUE(client_.answer(index_).ended);
  EXPECT_EQ(rig_.exchanges.size(), 0U);
  EXPECT_FALSE(rig_.told.at(0).error);
  EXPECT_EQ(rig_.budget().connections.count(), 0U);
}

TEST_F(ReadAhead, ACutResponseEndsTheExchangeOnceItsBytesAreTaken) {
  rig_.wire(0).deliver("HTTP/1.1 200 OK\r\ncontent-length: 50001\r\n\r\n" + std::string(50'000, 'b'));
  rig_.wire(0).reset();
  ASSERT_TRUE(rig_.settle());
  client_.wire().allowAll();
  ASSERT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.answer(index_).reset);
  EXPECT_FALSE(client_.answer(index_).ended);
  EXPECT_EQ(rig_.exchanges.size(), 0U);
  rig_.close();
  EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
}

TEST_F(ReadAhead, AClientThatGoesAwayMeanwhileTakesTheConnectionWithIt) {
  rig_.wire(0).deliver("HTTP/1.1 200 OK\r\ncontent-length: 50001\r\n\r\n" + std::string(50'000, 'b'));
  rig_.wire(0).reset();
  client_.wire().reset();
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(rig_.exchanges.size(), 0U);
  EXPECT_TRUE(rig_.wire(0).letGo);
  EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
}

}  // namespace
}  // namespace sluice::exchange
