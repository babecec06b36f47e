// The buffers that OpenSSL has for records: kept while a connection is used, given back when it rests.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "test/net/tls_harness.h"
#include "test/support/live_bytes.h"

namespace sluice::net {
namespace {

constexpr std::size_t kRecord = std::size_t{16} * 1024;

class TlsBuffers : public ::testing::Test {
 protected:
  TlsClientContext& client() {
    TlsClientSettings settings;
    settings.serverName = "api.test";
    settings.trust = test::trustOf(root_.certificate);
    return harness_.client(settings);
  }
  std::pair<test::TlsEnd&, test::TlsEnd&> opened() {
    auto [near, far] = harness_.pair(client(), harness_.server({{test::serverIdentity(leaf_)}, {}}));
    harness_.until([&near = near, &far = far] { return near.opened && far.opened; });
    return {near, far};
  }
  /// Sends a record in both directions.
  void exchange(test::TlsEnd& near, test::TlsEnd& far) {
    near.received.reserve(10 * kRecord);
    far.received.reserve(10 * kRecord);
    near.received.clear();
    far.received.clear();
    harness_.send(near, std::string(kRecord, 'a'));
    harness_.send(far, std::string(kRecord, 'b'));
    harness_.until([&] { return near.received.size() == kRecord && far.received.size() == kRecord; });
    EXPECT_EQ(near.received, std::string(kRecord, 'b'));
    EXPECT_EQ(far.received, std::string(kRecord, 'a'));
  }
  /// Lets time pass until no connection that was used before is still used.
  void rest() {
    for (int i = 0; i < 3; ++i) harness_.pass(std::chrono::milliseconds(1100));
  }

  test::CertifiedKey root_ = test::makeAuthority();
  test::CertifiedKey leaf_ = test::issueServer(root_, "api.test");
  test::TlsHarness harness_;
};

TEST_F(TlsBuffers, AreGivenBackWhenAConnectionRestsAndTakenAgain) {
  auto [near, far] = opened();
  for (int round = 0; round < 3; ++round) {
    exchange(near, far);
    EXPECT_EQ(harness_.worker.recordBuffers(), 1u) << "the server's end";
    const std::size_t busy = test::liveBytes();
    rest();
    EXPECT_EQ(harness_.worker.recordBuffers(), 0u);
    EXPECT_LT(test::liveBytes() + 4 * kRecord, busy + 1024) << "two of each end";
  }
}

TEST_F(TlsBuffers, AreKeptWhileAConnectionIsUsed) {
  auto [near, far] = opened();
  exchange(near, far);
  const std::size_t busy = test::liveBytes();
  for (int round = 0; round < 5; ++round) {
    harness_.pass(std::chrono::milliseconds(600));
    EXPECT_EQ(harness_.worker.recordBuffers(), 1u) << "the server's end";
    EXPECT_GT(test::liveBytes() + kRecord, busy);
    exchange(near, far);
  }
}

TEST_F(TlsBuffers, AreGivenBackAfterEachUseIfManyConnectionsKeepTheirs) {
  Worker& worker = harness_.worker;
  auto [near, far] = opened();
  exchange(near, far);
  const std::size_t busy = test::liveBytes();
  rest();
  while (worker.keepRecordBuffers()) continue;
  EXPECT_EQ(worker.recordBuffers(), Worker::kMostRecordBuffers);
  for (int round = 0; round < 3; ++round) {
    exchange(near, far);
    EXPECT_LT(test::liveBytes() + 2 * kRecord, busy + 1024) << "the server's end has none";
    EXPECT_GT(test::liveBytes() + 3 * kRecord, busy) << "the client's end keeps both";
  }
  harness_.destroy(near);
  harness_.destroy(far);
  EXPECT_EQ(worker.recordBuffers(), Worker::kMostRecordBuffers) << "those of others stay counted";
}

TEST_F(TlsBuffers, AreCountedUntilTheConnectionIsDestroyed) {
  auto [near, far] = opened();
  exchange(near, far);
  harness_.destroy(near);
  EXPECT_EQ(harness_.worker.recordBuffers(), 1u) << "the server's end";
  harness_.until([&far = far] { return far.over(); });
  harness_.destroy(far);
  EXPECT_EQ(harness_.worker.recordBuffers(), 0u);
}

class TlsBuffersInARecord : public TlsBuffers, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(TlsBuffersInARecord, StayUntilItsEndHasArrived) {
  std::promise<void> rested;
  test::RawTlsServer peer(leaf_, nullptr, [&rested](SSL* ssl, int) {
    const int fd = SSL_get_fd(ssl);
    BIO* records = BIO_new(BIO_s_mem());
    SSL_set0_wbio(ssl, records);
    SSL_write(ssl, "good", 4);
    char* bytes = nullptr;
    const long whole = BIO_ctrl(records, BIO_CTRL_INFO, 0, &bytes);
    SSL_write(ssl, std::string(5000, 'x').data(), 5000);
    const long all = BIO_ctrl(records, BIO_CTRL_INFO, 0, &bytes);
    const long first = whole + static_cast<long>(GetParam());
    EXPECT_EQ(::send(fd, bytes, static_cast<std::size_t>(first), MSG_NOSIGNAL), first);
    rested.get_future().wait();
    EXPECT_EQ(::send(fd, bytes + first, static_cast<std::size_t>(all - first), MSG_NOSIGNAL), all - first);
    char byte = 0;
    EXPECT_EQ(::recv(fd, &byte, 1, 0), 0) << "the other end has gone";
  });
  auto& near = harness_.connect(peer.address(), client());
  near.received.reserve(kRecord);
  harness_.until([&] { return near.received == "good"; });
  const std::size_t busy = test::liveBytes();
  rest();
  EXPECT_GT(test::liveBytes() + kRecord, busy);
  rested.set_value();
  harness_.until([&] { return near.received.size() == 5004; });
  EXPECT_EQ(near.received, "good" + std::string(5000, 'x'));
  rest();
  EXPECT_LT(test::liveBytes() + 2 * kRecord, busy + 1024);
  harness_.destroy(near);
}

INSTANTIATE_TEST_SUITE_P(Parts, TlsBuffersInARecord, ::testing::Values(1, 4, 5, 6, 3000));

}  // namespace
}  // namespace sluice::net
