// Tests that a pool gives connections to requests and opens others, and that no request waits for ever.
#include <gtest/gtest.h>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

PoolOptions speaking(routing::UpstreamProtocol protocol, bool tls = false) {
  PoolOptions options;
  options.protocol = protocol;
  options.tls = tls;
  return options;
}

TEST(H1Pool, OneRequestOpensOneConnection) {
  PoolRig rig;
  const std::size_t request = rig.want();
  EXPECT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(rig.wire(0).address().toString(), "192.0.2.1:8080");
  rig.accept(0);
  EXPECT_TRUE(rig.begun(request));
  EXPECT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(rig.budget().connections.count(), 1U);
}

TEST(H1Pool, EachWaiterGetsAConnectionOfItsOwn) {
  PoolRig rig;
  for (int i = 0; i < 5; ++i) rig.want();
  EXPECT_EQ(rig.dialled(), 5U);
  for (std::size_t i = 0; i < 5; ++i) rig.accept(i);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(rig.begun(i));
  EXPECT_EQ(rig.dialled(), 5U);
}

TEST(H1Pool, TheLastUsedConnectionIsUsedNext) {
  PoolRig rig;
  for (int i = 0; i < 3; ++i) rig.want();
  for (std::size_t i = 0; i < 3; ++i) rig.accept(i);
  for (const std::size_t i : {2U, 0U, 1U}) {
    rig.backends[i]->respond(0, 200, "");
    ASSERT_TRUE(rig.settle());
  }
  for (const std::size_t expected : {1U, 0U, 2U}) {
    const std::size_t request = rig.want();
    EXPECT_EQ(rig.connectionOf(request), rig.connectionOf(expected));
  }
  EXPECT_EQ(rig.dialled(), 3U);
}

TEST(H1Pool, AFreedConnectionGoesToTheRequestThatHasWaitedLongest) {
  PoolOptions options;
  options.maxConnections = 1;
  PoolRig rig(options);
  for (int i = 0; i < 4; ++i) rig.want();
  rig.accept(0);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(rig.begun(i)) << i;
    EXPECT_FALSE(i + 1 < 4 && rig.begun(i + 1)) << i;
    rig.backends[0]->respond(i, 200, "");
    ASSERT_TRUE(rig.settle());
  }
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST(H1Pool, AWaiterThatLeavesIsNotServedAndBlocksNobody) {
  PoolOptions options;
  options.maxConnections = 1;
  PoolRig rig(options);
  rig.want();
  const std::size_t left = rig.want();
  const std::size_t stays = rig.want();
  rig.accept(0);
  rig.leave(left);
  rig.backends[0]->respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  EXPECT_FALSE(rig.begun(left));
  EXPECT_TRUE(rig.begun(stays));
}

TEST(H1Pool, AConnectionThatEndsWhileIdleIsNotGivenOut) {
  PoolRig rig;
  rig.want();
  rig.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  rig.wire(0).end();
  EXPECT_TRUE(rig.wire(0).letGo);
  EXPECT_EQ(rig.budget().connections.count(), 0U);
  const std::size_t request = rig.want();
  EXPECT_EQ(rig.dialled(), 2U);
  rig.accept(1);
  EXPECT_TRUE(rig.begun(request));
}

TEST(H1Pool, UnsolicitedBytesEndTheConnection) {
  PoolRig rig;
  rig.want();
  rig.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  rig.wire(0).deliver("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_TRUE(rig.wire(0).letGo);
}

TEST(H1Pool, ABackendThatClosesAfterEachResponseIsDialledAgain) {
  PoolRig rig;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t request = rig.want();
    ASSERT_EQ(rig.dialled(), i + 1);
    rig.wire(i).accept();
    EXPECT_TRUE(rig.begun(request));
    rig.wire(i).deliver("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx");
    EXPECT_EQ(rig.answer(request).body, "x");
    EXPECT_TRUE(rig.answer(request).ended);
    EXPECT_TRUE(rig.wire(i).letGo);
  }
  EXPECT_EQ(rig.budget().connections.count(), 0U);
}

TEST(H1Pool, ACancelledRequestTakesItsConnectionWithIt) {
  PoolRig rig;
  const std::size_t request = rig.want();
  rig.accept(0);
  rig.cancel(request);
  EXPECT_TRUE(rig.wire(0).letGo);
  EXPECT_EQ(rig.budget().connections.count(), 0U);
}

TEST(H2Pool, RequestsShareOneConnection) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kHttp2));
  for (int i = 0; i < 8; ++i) rig.want();
  EXPECT_EQ(rig.dialled(), 1U);
  rig.accept(0, Version::kHttp2);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(rig.begun(i));
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST(H2Pool, BusyConnectionsLeadToUpToThree) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kHttp2));
  for (int i = 0; i < 8; ++i) rig.want();
  rig.accept(0, Version::kHttp2);
  EXPECT_EQ(rig.dialled(), 1U) << "eight are not many";
  rig.want();
  ASSERT_EQ(rig.dialled(), 2U) << "the ninth finds it busy";
  EXPECT_TRUE(rig.begun(8)) << "but does not wait";
  rig.accept(1, Version::kHttp2);
  for (int i = 0; i < 8; ++i) rig.want();
  EXPECT_EQ(rig.backends[1]->requests(), 0U);
  ASSERT_TRUE(rig.settle());
  EXPECT_GE(rig.backends[1]->requests(), 7U) << "the least loaded is taken";
  for (int i = 0; i < 10; ++i) rig.want();
  ASSERT_EQ(rig.dialled(), 3U);
  rig.accept(2, Version::kHttp2);
  for (int i = 0; i < 200; ++i) rig.want();
  EXPECT_EQ(rig.dialled(), 3U) << "no fourth as long as there is room";
}

TEST(H2Pool, MoreThanThreeOnlyIfAllAreFull) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kHttp2));
  http::Limits narrow;
  narrow.concurrentStreams = 2;
  rig.want();
  rig.accept(0, Version::kHttp2, narrow);
  for (std::size_t i = 1; i < 4; ++i) {
    rig.want();
    rig.want();
    ASSERT_EQ(rig.dialled(), i + 1);
    rig.accept(i, Version::kHttp2, narrow);
  }
  for (std::size_t i = 0; i < 7; ++i) EXPECT_TRUE(rig.begun(i)) << i;
}

TEST(H2Pool, AStreamThatEndsLetsAWaiterBegin) {
  PoolOptions options = speaking(routing::UpstreamProtocol::kHttp2);
  options.maxConnections = 1;
  PoolRig rig(options);
  http::Limits narrow;
  narrow.concurrentStreams = 1;
  rig.want();
  rig.accept(0, Version::kHttp2, narrow);
  const std::size_t second = rig.want();
  const std::size_t third = rig.want();
  EXPECT_FALSE(rig.begun(second));
  rig.backends[0]->respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(rig.begun(second));
  EXPECT_FALSE(rig.begun(third));
  rig.cancel(second);
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(rig.begun(third)) << "a cancelled stream makes room too";
}

TEST(H2Pool, GoawaySendsNewRequestsToANewConnection) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kHttp2));
  const std::size_t old = rig.want();
  test::BackendPeer& leaving = rig.accept(0, Version::kHttp2);
  leaving.codec->drain();
  ASSERT_TRUE(rig.settle());
  const std::size_t next = rig.want();
  ASSERT_EQ(rig.dialled(), 2U);
  rig.accept(1, Version::kHttp2);
  EXPECT_TRUE(rig.begun(next));
  leaving.respond(0, 200, "still");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(rig.answer(old).body, "still") << "what was begun is finished";
  EXPECT_TRUE(rig.wire(0).letGo);
  EXPECT_FALSE(rig.wire(1).letGo);
}

TEST(ProbingPool, OneConnectionFindsOutForAll) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kAuto, true));
  for (int i = 0; i < 6; ++i) rig.want();
  EXPECT_EQ(rig.dialled(), 1U);
  EXPECT_TRUE(rig.wire(0).isTls());
  rig.accept(0, Version::kHttp2);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(rig.begun(i));
  EXPECT_EQ(rig.dialled(), 1U);
}

TEST(ProbingPool, ABackendOfHttp11IsThenDialledForEach) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kAuto, true));
  for (int i = 0; i < 4; ++i) rig.want();
  EXPECT_EQ(rig.dialled(), 1U);
  rig.accept(0);
  EXPECT_TRUE(rig.begun(0));
  ASSERT_EQ(rig.dialled(), 4U) << "one each, and none too many";
  for (std::size_t i = 1; i < 4; ++i) rig.accept(i);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(rig.begun(i));
}

TEST(ProbingPool, AProbeThatFailsFailsAll) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kAuto, true));
  for (int i = 0; i < 3; ++i) rig.want();
  rig.wire(0).fail(base::Error::upstream(base::ErrorType::kTlsCertificateError, "expired"));
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(rig.failed(i));
    EXPECT_EQ(rig.error(i).type, base::ErrorType::kTlsCertificateError);
  }
  EXPECT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(rig.budget().connections.count(), 0U);
  EXPECT_TRUE(
      rig.counted("sluice_upstream_tls_handshakes_total{result=\"tls_certificate_error\",resumed=\"false\",backend="
                  "\"demo/backend\"} 1"));
  rig.want();
  EXPECT_EQ(rig.dialled(), 2U) << "the next request tries again";
}

TEST(ProbingPool, AConnectionThatIsRefusedIsNoHandshake) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kAuto, true));
  const std::size_t request = rig.want();
  rig.wire(0).fail(base::Error::upstream(base::ErrorType::kConnectionRefused, "nobody listens"));
  ASSERT_TRUE(rig.failed(request));
  EXPECT_FALSE(rig.error(request).address.empty()) << "logs say where it went";
  EXPECT_FALSE(rig.counted("sluice_upstream_tls_handshakes_total{"));
}

TEST(ProbingPool, AServerMayAnswerWithAnotherVersionThanBefore) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kAuto, true));
  rig.want();
  rig.accept(0, Version::kHttp2);
  for (int i = 0; i < 9; ++i) rig.want();
  ASSERT_EQ(rig.dialled(), 2U);
  rig.accept(1, Version::kHttp11);
  const std::size_t more = rig.want();
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(rig.begun(more)) << "the shared connection still has room";
}

TEST(ProbingPool, APlanForHttp2AloneRefusesOtherVersions) {
  PoolRig rig(speaking(routing::UpstreamProtocol::kHttp2, true));
  const std::size_t request = rig.want();
  rig.accept(0, Version::kHttp11);
  ASSERT_TRUE(rig.failed(request));
  EXPECT_EQ(rig.error(request).type, base::ErrorType::kTlsProtocolError);
  EXPECT_TRUE(
      rig.counted("sluice_upstream_tls_handshakes_total{result=\"tls_protocol_error\",resumed=\"false\",backend=\"demo/"
                  "backend\"} 1"));
  EXPECT_FALSE(rig.counted(
      "sluice_upstream_tls_handshakes_total{result=\"success\",resumed=\"false\",backend=\"demo/backend\"} 1"))
      << "one handshake, one count";
}

TEST(ReadyConnections, AreNotUsedIfTheyHaveEndedWhileIdle) {
  for (const Version version : {Version::kHttp11, Version::kHttp2}) {
    PoolOptions options;
    if (version == Version::kHttp2) options.protocol = routing::UpstreamProtocol::kHttp2;
    PoolRig rig(options);
    rig.want();
    rig.accept(0, version).respond(0, 200, "");
    ASSERT_TRUE(rig.settle());
    rig.done(0);
    rig.advance(std::chrono::seconds(2));
    rig.wire(0).endUnnoticed();
    rig.want();
    EXPECT_EQ(rig.dialled(), 2U) << "its events have not told";
    // TLS may have read the bytes without an event: an idle connection of HTTP/1.1 must stay on a list.
    EXPECT_EQ(rig.wire(0).finished, version == Version::kHttp11);
  }
}

}  // namespace
}  // namespace sluice::upstream
