// A client that goes while its socket is not read, and so not polled, is noticed within a second. Time by hand, real
// sockets.
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>

#include "proxy/net/tcp.h"
#include "test/net/recording_sink.h"
#include "test/net/socket_pair.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using std::chrono::milliseconds;

class IdlePeers : public ::testing::Test {
 protected:
  IdlePeers() : worker_(clock_), pair_(test::makeSocketPair()), fd_(pair_.ours.get()) {
    transport_ = adoptTcp(worker_, pair_.ours.release(), *Address::parse("127.0.0.1", 7), sink_);
    transport_->setReadBudget(100);
  }

  void resetByPeer() {
    const linger now{1, 0};
    setsockopt(pair_.peers.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    pair_.peers.close();
  }
  /// Waits until the kernel has this state; the stream may not have seen it yet.
  void waitFor(int state) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    tcp_info info{};
    do {
      socklen_t length = sizeof(info);
      ASSERT_EQ(::getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    } while (info.tcpi_state != state && std::chrono::steady_clock::now() < until);
    ASSERT_EQ(info.tcpi_state, state);
  }
  void allow(std::size_t bytes) {
    const Worker::Turn turn(worker_);
    transport_->setReadBudget(bytes);
  }
  void pass(base::Duration time) {
    clock_.advance(time);
    const Worker::Turn turn(worker_);
  }

  test::ManualClock clock_;
  Worker worker_;
  test::SocketPair pair_;
  int fd_;
  test::RecordingSink sink_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(IdlePeers, AResetIsSeenWithinASecondWithoutReading) {
  allow(0);
  ASSERT_TRUE(test::sendAll(pair_.peers, "hello"));
  pass(milliseconds(900));
  EXPECT_EQ(sink_.failed + sink_.endsAhead, 0) << "it is still there";
  resetByPeer();
  waitFor(TCP_CLOSE);
  EXPECT_EQ(sink_.failed, 0);
  pass(milliseconds(1000));
  EXPECT_EQ(sink_.failed, 1);
  EXPECT_EQ(sink_.error->type, base::ErrorType::kConnectionTerminated);
  EXPECT_EQ(sink_.error->origin, base::ErrorOrigin::kDownstream);
  EXPECT_EQ(sink_.reads, 0);
  EXPECT_TRUE(worker_.timers().empty());
}

TEST_F(IdlePeers, AnEndIsReportedAheadOfUnreadBytes) {
  allow(0);
  ASSERT_TRUE(test::sendAll(pair_.peers, "hello"));
  ::shutdown(pair_.peers.get(), SHUT_WR);
  waitFor(TCP_CLOSE_WAIT);
  pass(milliseconds(1000));
  EXPECT_EQ(sink_.endsAhead, 1);
  EXPECT_EQ(sink_.unread, 5U);
  allow(100);
  ASSERT_TRUE(test::runUntil(worker_, [&] { return sink_.ended == 1; }));
  EXPECT_EQ(sink_.received, "hello");
  EXPECT_EQ(sink_.failed, 0);
  pass(milliseconds(1000));
  EXPECT_EQ(sink_.endsAhead, 1) << "the end itself was told";
}

TEST_F(IdlePeers, AResetBehindTheEndIsSeenToo) {
  ::shutdown(pair_.peers.get(), SHUT_WR);
  ASSERT_TRUE(test::runUntil(worker_, [&] { return sink_.ended == 1; }));
  resetByPeer();
  waitFor(TCP_CLOSE);
  pass(milliseconds(1000));
  EXPECT_EQ(sink_.failed, 1);
}

TEST_F(IdlePeers, AnOrderlyEndOfBothSidesIsNoFailure) {
  allow(0);
  ASSERT_TRUE(test::sendAll(pair_.peers, "hello"));
  ::shutdown(pair_.peers.get(), SHUT_WR);
  transport_->shutdown();
  waitFor(TCP_CLOSE);
  pass(milliseconds(1000));
  EXPECT_EQ(sink_.failed, 0);
  allow(100);
  ASSERT_TRUE(test::runUntil(worker_, [&] { return sink_.ended == 1; }));
  EXPECT_EQ(sink_.received, "hello");
}

TEST_F(IdlePeers, ASocketThatIsReadIsNotWatched) {
  EXPECT_TRUE(worker_.timers().empty());
  allow(0);
  EXPECT_FALSE(worker_.timers().empty());
  allow(100);
  pass(milliseconds(1000));
  EXPECT_TRUE(worker_.timers().empty());
  EXPECT_EQ(sink_.failed + sink_.ended + sink_.endsAhead, 0);
}

/// Runs the loop until it has seen that the socket is readable, and has nothing left to do.
void runRounds(Worker& worker) {
  for (int i = 0; i < 5; ++i) uv_run(worker.loop(), UV_RUN_NOWAIT);
}

TEST_F(IdlePeers, BytesWithoutABudgetWaitForOne) {
  for (int i = 1; i <= 3; ++i) {
    allow(0);
    allow(100);
    allow(0);
    ASSERT_TRUE(test::sendAll(pair_.peers, "hello"));
    runRounds(worker_);
    EXPECT_EQ(sink_.reads, i - 1);
    allow(100);
    ASSERT_TRUE(test::runUntil(worker_, [&] { return sink_.reads == i; }));
  }
  EXPECT_EQ(sink_.received, "hellohellohello");
  allow(0);
  runRounds(worker_);
  ASSERT_TRUE(test::sendAll(pair_.peers, "hello"));
  runRounds(worker_);
  resetByPeer();
  waitFor(TCP_CLOSE);
  runRounds(worker_);
  EXPECT_EQ(sink_.failed, 0);
  pass(milliseconds(1000));
  EXPECT_EQ(sink_.failed, 1) << "it is noticed although the socket is not polled any more";
}

TEST_F(IdlePeers, TheLastBytesOfABackendThatHasGoneAreStillRead) {
  const ListenSocket listening = test::listenOnLoopback();
  test::RecordingSink sink;
  const auto transport = connectTcp(worker_, listening.address(), sink);
  ASSERT_TRUE(test::runUntil(worker_, [&] { return sink.opened == 1; }));
  transport->setReadBudget(100);
  transport->setReadBudget(0);
  EXPECT_TRUE(worker_.timers().empty());
}

}  // namespace
}  // namespace sluice::net
