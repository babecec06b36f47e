// Bulk transfers, slow readers, budgets, and the ends of connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/net/tls_harness.h"

namespace sluice::net {
namespace {

using ::testing::HasSubstr;

std::string scatteredBytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

class TlsTransfer : public ::testing::Test {
 protected:
  TlsClientContext& client() {
    TlsClientSettings settings;
    settings.serverName = "api.test";
    settings.trust = test::trustOf(root.certificate);
    return harness.client(settings);
  }
  std::pair<test::TlsEnd&, test::TlsEnd&> opened() {
    auto [near, far] = harness.pair(client(), harness.server({{test::serverIdentity(leaf)}, {}}));
    harness.until([&near = near, &far = far] { return near.opened && far.opened; });
    return {near, far};
  }

  test::CertifiedKey root = test::makeAuthority();
  test::CertifiedKey leaf = test::issueServer(root, "api.test");
  test::TlsHarness harness;
};

TEST_F(TlsTransfer, CarriesTenMegabytesBothWaysAtOnce) {
  auto [near, far] = opened();
  const std::string up = scatteredBytes(10'000'000);
  const std::string down = scatteredBytes(10'000'001);
  harness.send(near, up);
  harness.send(far, down);
  harness.finish(near);
  harness.finish(far);
  harness.until([&near = near, &far = far] { return near.over() && far.over(); });
  EXPECT_TRUE(near.received == down);
  EXPECT_TRUE(far.received == up);
  EXPECT_EQ(near.ended, true);
  EXPECT_EQ(far.ended, true);
  EXPECT_EQ(harness.worker.chunks().inUse(), 0u);
}

TEST_F(TlsTransfer, KeepsABoundedNumberOfBytesForASlowReader) {
  auto [near, far] = opened();
  far.budget = 0;
  const std::string bytes = scatteredBytes(20'000'000);
  harness.send(near, bytes);
  harness.until([&near = near] { return near.transport->pending(); });
  const std::size_t left = near.out.size();
  EXPECT_GT(left, 0u);
  // All bytes that are neither in the queue nor in the kernel are encrypted and kept: at most one wire buffer.
  const std::size_t queued = (left + base::Chunk::kCapacity - 1) / base::Chunk::kCapacity + 1;
  EXPECT_LE(harness.worker.chunks().inUse(), queued + Worker::kWireBufferSize / base::Chunk::kCapacity + 2);
  {
    const Worker::Turn turn(harness.worker);
    near.transport->write(near.out);
  }
  EXPECT_EQ(near.out.size(), left) << "nothing is taken while pending";
  EXPECT_EQ(far.received, "");

  far.budget = 100'000;
  harness.until([&far = far, &bytes] { return far.received.size() == bytes.size(); });
  EXPECT_TRUE(far.received == bytes);
  EXPECT_GT(near.writable, 0);
  EXPECT_FALSE(near.transport->pending());
}

TEST_F(TlsTransfer, DeliversNoMoreThanTheBudgetAndOneRecord) {
  auto [near, far] = opened();
  far.budget = 100;
  const std::string bytes = scatteredBytes(300'000);
  harness.send(near, bytes);
  harness.until([&far = far, &bytes] { return far.received.size() == bytes.size(); });
  EXPECT_TRUE(far.received == bytes);
  EXPECT_LE(far.largest, 100u + 16 * 1024);
}

TEST_F(TlsTransfer, FillsTheWholePlainBufferBeforeItPassesItOn) {
  auto [near, far] = opened();
  far.budget = 0;
  harness.send(near, scatteredBytes(1'000'000));
  harness.until([&near = near] { return near.transport->pending() || near.out.empty(); });
  far.budget = 1 << 20;
  harness.until([&near = near, &far = far] { return near.out.empty() && far.received.size() == 1'000'000; });
  EXPECT_GT(far.largest, 64u * 1024);
}

TEST_F(TlsTransfer, SendsShortPiecesTogether) {
  auto [near, far] = opened();
  base::ByteQueue piece(harness.worker.chunks());
  std::string sent;
  for (int i = 0; i < 50; ++i) {
    const std::string bytes = scatteredBytes(static_cast<std::size_t>(i) * 7 + 1);
    sent += bytes;
    piece.append(bytes);
    near.out.splice(piece, piece.size());
  }
  harness.send(near, "");
  harness.until([&far = far, &sent] { return far.received.size() == sent.size(); });
  EXPECT_TRUE(far.received == sent);
}

TEST_F(TlsTransfer, EndsOneSideAndGoesOnWithTheOther) {
  auto [near, far] = opened();
  harness.send(near, "question");
  harness.finish(near);
  harness.until([&far = far] { return far.ended.has_value(); });
  EXPECT_EQ(far.ended, true);
  EXPECT_EQ(far.received, "question");
  harness.send(far, "answer");
  harness.finish(far);
  harness.until([&near = near] { return near.ended.has_value(); });
  EXPECT_EQ(near.received, "answer");
  EXPECT_EQ(near.ended, true);
}

TEST_F(TlsTransfer, SendsPendingBytesBeforeItEnds) {
  auto [near, far] = opened();
  far.budget = 0;
  const std::string bytes = scatteredBytes(20'000'000);
  harness.send(near, bytes);
  harness.until([&near = near] { return near.transport->pending(); });
  near.out.clear();
  {
    const Worker::Turn turn(harness.worker);
    near.transport->shutdown();
  }
  far.budget = 1 << 20;
  harness.until([&far = far] { return far.over(); });
  EXPECT_EQ(far.ended, true);
  EXPECT_TRUE(bytes.starts_with(far.received));
}

TEST_F(TlsTransfer, DistinguishesTruncationFromAnEnd) {
  test::RawTlsServer peer(leaf, nullptr, [](SSL* ssl, int) {
    SSL_write(ssl, "half of it", 10);
    ::shutdown(SSL_get_fd(ssl), SHUT_WR);
    char byte = 0;
    EXPECT_LE(SSL_read(ssl, &byte, 1), 0);
  });
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.received, "half of it");
  EXPECT_EQ(near.ended, false);
  harness.destroy(near);
}

TEST_F(TlsTransfer, AbortsByReset) {
  auto [near, far] = opened();
  {
    const Worker::Turn turn(harness.worker);
    near.transport->abort();
  }
  harness.until([&far = far] { return far.over(); });
  EXPECT_EQ(far.failure(), "connection_terminated");
  EXPECT_EQ(far.failed->origin, base::ErrorOrigin::kDownstream);
  EXPECT_FALSE(near.over()) << "no event after abort()";
}

TEST_F(TlsTransfer, NoticesAClientThatGoesWhileItIsNotRead) {
  auto [near, far] = opened();
  far.budget = 0;
  harness.send(near, scatteredBytes(20'000'000));
  harness.until([&near = near] { return near.transport->pending(); });
  {
    const Worker::Turn turn(harness.worker);
    near.transport->abort();
  }
  harness.until([&far = far] { return far.over(); });
  EXPECT_EQ(far.failure(), "connection_terminated");
}

TEST_F(TlsTransfer, RefusesRenegotiation) {
  const Address to = harness.listener.address();
  std::thread peer([&to] {
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(fd, to.sockaddrPtr(), to.length()), 0);
    SSL* ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    EXPECT_EQ(SSL_connect(ssl), 1);
    EXPECT_EQ(SSL_renegotiate(ssl), 1);
    EXPECT_NE(SSL_do_handshake(ssl), 1);
    EXPECT_EQ(ERR_GET_REASON(ERR_peek_last_error()), SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
    SSL_free(ssl);
    ::close(fd);
    SSL_CTX_free(context);
  });
  auto& far = harness.adopt(harness.listener.accept(), harness.server({{test::serverIdentity(leaf)}, {}}));
  harness.until([&] { return far.over(); });
  peer.join();
  EXPECT_TRUE(far.opened);
  EXPECT_EQ(far.received, "");
}

/// Asks for a renegotiation, and ends the connection as most servers do when it is refused.
void renegotiateInVain(SSL* ssl, int accepted) {
  EXPECT_EQ(accepted, 1);
  char byte = 0;
  EXPECT_EQ(SSL_read(ssl, &byte, 1), 1);
  EXPECT_EQ(SSL_renegotiate(ssl), 1);
  SSL_do_handshake(ssl);
  EXPECT_LE(SSL_read(ssl, &byte, 1), 0);
}

TEST_F(TlsTransfer, SaysThatItRefusesARenegotiation) {
  const auto useTls12 = [](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); };
  test::RawTlsServer peer(leaf, useTls12, renegotiateInVain);
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.opened; });
  harness.send(near, "x");
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.failure(), "tls_protocol_error");
  EXPECT_EQ(near.failed->detail, "the backend asks for a renegotiation of TLS, which this gateway refuses");
}

TEST_F(TlsTransfer, GoesOnIfTheServerDoesWithoutTheRenegotiation) {
  const auto useTls12 = [](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); };
  test::RawTlsServer peer(leaf, useTls12, [](SSL* ssl, int) {
    SSL_renegotiate(ssl);
    SSL_do_handshake(ssl);  // sends the request for it
    SSL_write(ssl, "fine", 4);
    SSL_shutdown(ssl);
    char refusal[64];
    EXPECT_GT(::recv(SSL_get_fd(ssl), refusal, sizeof refusal, 0), 0);
  });
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.received, "fine");
  EXPECT_EQ(near.ended, true);
}

TEST_F(TlsTransfer, SurvivesKeyUpdates) {
  test::RawTlsServer peer(leaf, nullptr, [](SSL* ssl, int) {
    for (int i = 0; i < 10; ++i) {
      SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
      SSL_write(ssl, "x", 1);
    }
    char byte = 0;
    EXPECT_EQ(SSL_read(ssl, &byte, 1), 1);
    SSL_shutdown(ssl);
  });
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.received.size() == 10; });
  harness.send(near, "y");
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.ended, true);
}

TEST_F(TlsTransfer, FailsOnADamagedRecord) {
  test::RawTlsServer peer(leaf, nullptr, [](SSL* ssl, int) {
    SSL_write(ssl, "good", 4);
    const std::string record("\x17\x03\x03\x00\x20 not a record of this session !!!!", 37);
    EXPECT_EQ(::send(SSL_get_fd(ssl), record.data(), record.size(), MSG_NOSIGNAL), 37);
    char byte = 0;
    EXPECT_LE(SSL_read(ssl, &byte, 1), 0);
  });
  auto& near = harness.connect(peer.address(), client());
  harness.until([&] { return near.over(); });
  EXPECT_EQ(near.received, "good");
  EXPECT_EQ(near.failure(), "tls_protocol_error");
  harness.destroy(near);
}

}  // namespace
}  // namespace sluice::net
