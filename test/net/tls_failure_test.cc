// Tests peers that do not use TLS, or stop in the middle of a handshake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/net/tls_harness.h"

namespace sluice::net {
namespace {

using ::testing::HasSubstr;

class TlsFailure : public ::testing::Test {
 protected:
  TlsClientContext& client() {
    TlsClientSettings settings;
    settings.serverName = "api.test";
    settings.trust = test::trustOf(root.certificate);
    return harness.client(settings);
  }
  const TlsServerContext& server() {
    return harness.server({{test::serverIdentity(test::issueServer(root, "api.test"))}, {}});
  }

  /// Returns the server's end of a connection whose client sends `bytes` and then ends, or waits.
  test::TlsEnd& serve(const std::string& bytes, bool end) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const Address to = harness.listener.address();
    EXPECT_EQ(::connect(fd, to.sockaddrPtr(), to.length()), 0);
    test::TlsEnd& far = harness.adopt(harness.listener.accept(), server());
    EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    if (end) ::shutdown(fd, SHUT_WR);
    harness.until([&] { return far.over(); });
    EXPECT_FALSE(far.opened);
    EXPECT_EQ(far.failed->origin, base::ErrorOrigin::kDownstream);
    ::close(fd);
    return far;
  }

  test::CertifiedKey root = test::makeAuthority();
  test::TlsHarness harness;
};

TEST_F(TlsFailure, PlainHttpFromABackendIsAProtocolError) {
  test::RawTcpServer peer("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "tls_protocol_error");
  EXPECT_THAT(near.detail(), HasSubstr("wrong version number"));
  EXPECT_EQ(near.failed->origin, base::ErrorOrigin::kUpstream);
}

TEST_F(TlsFailure, GarbageFromABackendIsAProtocolError) {
  test::RawTcpServer peer(std::string(1000, '\xff'));
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "tls_protocol_error");
}

TEST_F(TlsFailure, ABackendThatClosesInTheHandshakeHasTerminatedTheConnection) {
  test::RawTcpServer peer("");
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "connection_terminated");
}

TEST_F(TlsFailure, APortWithoutAListenerIsARefusedConnection) {
  std::optional<Address> gone;
  {
    const test::LoopbackListener listener;
    gone = listener.address();
  }
  auto& near = harness.connect(*gone, client());
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "connection_refused");
}

TEST_F(TlsFailure, PlainHttpToATlsPortIsAProtocolError) {
  EXPECT_EQ(serve("GET / HTTP/1.1\r\nHost: a\r\n\r\n", false).detail(), "TLS: http request");
  EXPECT_EQ(serve("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false).failure(), "tls_protocol_error");
}

TEST_F(TlsFailure, GarbageToATlsPortIsAProtocolError) {
  EXPECT_EQ(serve(std::string(100, '\0'), false).failure(), "tls_protocol_error");
  EXPECT_EQ(serve(std::string("\x16\x03\x01\xff\xff", 5) + std::string(100, 'a'), false).failure(),
            "tls_protocol_error");
}

TEST_F(TlsFailure, AClientThatStopsInTheHandshakeHasTerminatedTheConnection) {
  EXPECT_EQ(serve("", true).failure(), "connection_terminated");
  EXPECT_EQ(serve(std::string("\x16\x03\x01\x01", 4), true).failure(), "connection_terminated");
}

TEST_F(TlsFailure, IsReportedToThePeerByAnAlert) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Address to = harness.listener.address();
  ASSERT_EQ(::connect(fd, to.sockaddrPtr(), to.length()), 0);
  test::TlsEnd& far = harness.adopt(harness.listener.accept(), server());
  const std::string hello("\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9);  // a ClientHello without content
  ASSERT_EQ(::send(fd, hello.data(), hello.size(), MSG_NOSIGNAL), 9);
  harness.until([&] { return far.over(); });
  char alert[7] = {};
  EXPECT_EQ(::recv(fd, alert, sizeof alert, MSG_WAITALL), 7);
  EXPECT_EQ(alert[0], SSL3_RT_ALERT);
  EXPECT_EQ(alert[5], SSL3_AL_FATAL);
  ::close(fd);
}

TEST_F(TlsFailure, MayBeDestroyedInAnyState) {
  auto [near, far] = harness.pair(client(), server());
  harness.destroy(near);
  harness.until([&far = far] { return far.over(); });
  harness.destroy(far);
  auto [shut, other] = harness.pair(client(), server());
  {
    const Worker::Turn turn(harness.worker);
    shut.transport->shutdown();
    other.transport->shutdown();
  }
  harness.until([&shut = shut, &other = other] { return shut.over() || other.over(); });
}

}  // namespace
}  // namespace sluice::net
