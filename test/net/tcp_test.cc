#include "proxy/net/tcp.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <string>

#include "test/net/recording_sink.h"
#include "test/net/socket_pair.h"
#include "test/support/held_port.h"
#include "test/support/loop_driver.h"

namespace sluice::net {
namespace {

using test::Descriptor;
using test::RecordingSink;

std::string letters(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  return text;
}

class TcpTest : public ::testing::Test {
 protected:
  TcpTest() : worker_(clock_), pair_(test::makeSocketPair()), outgoing_(worker_.chunks()) {}

  void adopt(std::size_t budget = 65536) {
    transport_ = adoptTcp(worker_, pair_.ours.release(), peer_, sink_);
    transport_->setReadBudget(budget);
  }
  bool until(const std::function<bool()>& done) { return test::runUntil(worker_, done); }
  /// Writes until both sides' socket buffers are full.
  void fill() {
    while (!transport_->pending()) {
      outgoing_.append(letters(1 << 20));
      transport_->write(outgoing_);
    }
  }

  base::SystemClock clock_;
  Worker worker_;
  test::SocketPair pair_;
  RecordingSink sink_;
  Address peer_ = *Address::parse("127.0.0.1", 7);
  base::ByteQueue outgoing_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(TcpTest, ReportsAConnectionInALaterTurn) {
  const ListenSocket listening = test::listenOnLoopback();
  const auto transport = connectTcp(worker_, listening.address(), sink_);
  EXPECT_EQ(sink_.opened, 0);
  ASSERT_TRUE(until([&] { return sink_.opened == 1; }));
  EXPECT_EQ(transport->peer(), listening.address());
  EXPECT_EQ(transport->tls(), nullptr);
}

TEST_F(TcpTest, ReportsHowMuchThePeersSystemHasAcknowledged) {
  adopt();
  // No event announces it, so the loop is kept awake.
  const auto acknowledged = [&](std::uint64_t least) {
    worker_.post([] {});
    return transport_->acknowledged() >= least;
  };
  EXPECT_EQ(transport_->acknowledged(), 0U);
  outgoing_.append(letters(1000));
  transport_->write(outgoing_);
  ASSERT_TRUE(until([&] { return acknowledged(1000); }));
  EXPECT_EQ(transport_->acknowledged(), 1000U);
  fill();
  ASSERT_TRUE(until([&] { return acknowledged(1001); }));
  const std::uint64_t full = transport_->acknowledged();
  std::string bytes(1 << 20, '\0');
  EXPECT_TRUE(until([&] {
    while (recv(pair_.peers.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
    return acknowledged(full + 1);
  }));
}

TEST_F(TcpTest, IsQuietUntilThePeerHasSentOrEnded) {
  adopt(0);
  EXPECT_TRUE(transport_->isQuiet());
  ASSERT_EQ(send(pair_.peers.get(), "x", 1, 0), 1);
  EXPECT_FALSE(transport_->isQuiet());
  transport_->setReadBudget(1);
  ASSERT_TRUE(until([&] { return sink_.received == "x"; }));
  EXPECT_TRUE(transport_->isQuiet());
  ASSERT_EQ(::shutdown(pair_.peers.get(), SHUT_WR), 0);
  EXPECT_FALSE(transport_->isQuiet()) << "before any event";
}

TEST_F(TcpTest, ARefusedConnectionFailsAsRefused) {
  const test::HeldPort port;
  const Address nobody = *Address::parse("127.0.0.1", port.port());
  const auto transport = connectTcp(worker_, nobody, sink_);
  ASSERT_TRUE(until([&] { return sink_.failed == 1; }));
  EXPECT_EQ(sink_.error->type, base::ErrorType::kConnectionRefused);
  EXPECT_EQ(sink_.error->origin, base::ErrorOrigin::kUpstream);
  EXPECT_EQ(sink_.error->detail, "connection refused");
  EXPECT_EQ(sink_.opened, 0);
}

TEST_F(TcpTest, AFailureThatIsKnownAtOnceStillComesAsAnEvent) {
  // The kernel refuses to route a stream to the broadcast address, without a packet.
  const auto transport = connectTcp(worker_, *Address::parse("255.255.255.255", 9), sink_);
  EXPECT_EQ(sink_.failed, 0);
  ASSERT_TRUE(until([&] { return sink_.failed == 1; }));
  EXPECT_EQ(sink_.error->type, base::ErrorType::kConnectionRefused);
}

TEST_F(TcpTest, AConnectionBeyondTheDescriptorsOfItsWorkerFails) {
  const ListenSocket listening = test::listenOnLoopback();
  const auto first = connectTcp(worker_, listening.address(), sink_);  // libuv opens its own descriptors here
  const int next = ::dup(0);
  ::close(next);
  worker_.setDescriptors(static_cast<std::size_t>(next) + 1);
  const auto fits = connectTcp(worker_, listening.address(), sink_);
  const auto beyond = connectTcp(worker_, listening.address(), sink_);
  ASSERT_TRUE(until([&] { return sink_.failed == 1 && sink_.opened == 2; }));
  EXPECT_EQ(sink_.error->type, base::ErrorType::kConnectionLimitReached);
  EXPECT_EQ(sink_.error->origin, base::ErrorOrigin::kUpstream);
}

TEST_F(TcpTest, ATransportThatIsDestroyedBeforeItsLateFailureGetsNoEvent) {
  connectTcp(worker_, *Address::parse("255.255.255.255", 9), sink_).reset();
  EXPECT_TRUE(worker_.timers().empty());
  EXPECT_EQ(sink_.failed, 0);
}

TEST_F(TcpTest, ADescriptorThatIsNoSocketFailsAsAnEvent) {
  const auto transport = adoptTcp(worker_, -1, peer_, sink_);
  transport->setReadBudget(100);
  outgoing_.append("lost");
  transport->write(outgoing_);
  EXPECT_EQ(sink_.failed, 0);
  ASSERT_TRUE(until([&] { return sink_.failed == 1; }));
  EXPECT_EQ(sink_.error->origin, base::ErrorOrigin::kDownstream);
}

/// Returns the largest number of bytes that the peer read between two moments in which the transport took more.
std::size_t widestPace(Worker& worker, Transport& transport, const Descriptor& peer) {
  base::ByteQueue outgoing(worker.chunks());
  std::size_t widest = 0;
  for (int round = 0; round < 12; ++round) {
    while (!transport.pending()) {
      if (outgoing.empty()) outgoing.append(letters(1 << 16));
      transport.write(outgoing);
    }
    std::size_t got = 0;
    while (transport.pending()) {
      char part[4096];
      const ssize_t count = ::recv(peer.get(), part, sizeof(part), 0);
      if (count <= 0) return ~std::size_t{0};
      got += static_cast<std::size_t>(count);
      uv_run(worker.loop(), UV_RUN_NOWAIT);
    }
    // The first round drains the bytes that were taken while buffers were empty.
    if (round > 0) widest = std::max(widest, got);
  }
  return widest;
}

TEST_F(TcpTest, APeerThatReadsALittleSoonMakesRoomForMore) {
  constexpr int kSmall = 16 * 1024;
  const ListenSocket listening = test::listenOnLoopback();
  const Descriptor reader = test::connectBlocking(listening.address(), kSmall);
  const auto accepted =
      adoptTcp(worker_, ::accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), peer_, sink_);
  EXPECT_LE(widestPace(worker_, *accepted, reader), 512U * 1024);
}

TEST_F(TcpTest, ABackendThatReadsALittleSoonMakesRoomForMore) {
  constexpr int kSmall = 16 * 1024;
  const ListenSocket listening = test::listenOnLoopback();
  ::setsockopt(listening.fd(), SOL_SOCKET, SO_RCVBUF, &kSmall, sizeof(kSmall));
  const auto transport = connectTcp(worker_, listening.address(), sink_);
  ASSERT_TRUE(until([&] { return sink_.opened == 1; }));
  const Descriptor reader(::accept4(listening.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_LE(widestPace(worker_, *transport, reader), 512U * 1024);
}

TEST_F(TcpTest, ReadsNothingBeforeItHasABudget) {
  const auto transport = adoptTcp(worker_, pair_.ours.release(), peer_, sink_);
  ASSERT_TRUE(test::sendAll(pair_.peers, "hello"));
  // The bytes of another connection arrive later, which proves that time has passed.
  test::SocketPair other = test::makeSocketPair();
  RecordingSink otherSink;
  const auto second = adoptTcp(worker_, other.ours.release(), peer_, otherSink);
  second->setReadBudget(10);
  ASSERT_TRUE(test::sendAll(other.peers, "x"));
  ASSERT_TRUE(until([&] { return otherSink.reads == 1; }));
  EXPECT_EQ(sink_.reads, 0);
  transport->setReadBudget(100);
  ASSERT_TRUE(until([&] { return sink_.received == "hello"; }));
}

TEST_F(TcpTest, DeliversNoMoreThanTheBudgetUntilThereIsAnother) {
  adopt(3);
  ASSERT_TRUE(test::sendAll(pair_.peers, "abcdefgh"));
  ASSERT_TRUE(until([&] { return sink_.reads == 1; }));
  EXPECT_EQ(sink_.received, "abc");
  transport_->setReadBudget(4);
  ASSERT_TRUE(until([&] { return sink_.reads == 2; }));
  EXPECT_EQ(sink_.received, "abcdefg");
  transport_->setReadBudget(4);
  ASSERT_TRUE(until([&] { return sink_.reads == 3; }));
  EXPECT_EQ(sink_.received, "abcdefgh");
}

TEST_F(TcpTest, ABudgetMayBeSpentInManySmallReads) {
  adopt(4);
  for (const char* piece : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(test::sendAll(pair_.peers, piece));
    const std::size_t expected = sink_.received.size() + 1;
    ASSERT_TRUE(until([&] { return sink_.received.size() == expected; }));
  }
  ASSERT_TRUE(test::sendAll(pair_.peers, "e"));
  transport_->setReadBudget(1);
  ASSERT_TRUE(until([&] { return sink_.received == "abcde"; }));
}

/// Grants a new budget in the flush beat, as owners of connections do.
class Granting final : public Beats {
 public:
  Granting(Worker& worker, Transport& transport, std::size_t budget)
      : worker_(worker), transport_(transport), budget_(budget) {
    worker_.setBeats(this);
  }
  ~Granting() override { worker_.setBeats(nullptr); }
  void drive() override {}
  void flush() override { transport_.setReadBudget(budget_); }
  void reap() override { granted_ = worker_.now(); }
  bool quiet() const override { return granted_ == worker_.now(); }

 private:
  Worker& worker_;
  Transport& transport_;
  std::size_t budget_;
  base::MonotonicTime granted_{};
};

TEST_F(TcpTest, ASenderThatNeverPausesDoesNotStarveOtherConnections) {
  adopt(10);
  const Granting granting(worker_, *transport_, 10);
  ASSERT_TRUE(test::sendAll(pair_.peers, std::string(5000, 'x')));
  test::SocketPair other = test::makeSocketPair();
  RecordingSink otherSink;
  const auto second = adoptTcp(worker_, other.ours.release(), peer_, otherSink);
  second->setReadBudget(10);
  ASSERT_TRUE(test::sendAll(other.peers, "y"));
  ASSERT_TRUE(until([&] { return otherSink.reads == 1; }));
  EXPECT_LT(sink_.received.size(), 200u);
  EXPECT_EQ(sink_.largestRead, 10u);
  ASSERT_TRUE(until([&] { return sink_.received.size() == 5000; }));
}

TEST_F(TcpTest, WritesEverythingThatThePeerTakes) {
  adopt();
  outgoing_.append("hello, ");
  outgoing_.append("world");
  transport_->write(outgoing_);
  EXPECT_TRUE(outgoing_.empty());
  EXPECT_FALSE(transport_->pending());
  std::string got;
  test::readAvailable(pair_.peers, got);
  EXPECT_EQ(got, "hello, world");
}

TEST_F(TcpTest, DisablesNaglesAlgorithm) {
  const int fd = pair_.ours.get();
  adopt();
  int on = 0;
  socklen_t length = sizeof(on);
  ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
  EXPECT_EQ(on, 1);
}

TEST_F(TcpTest, ASlowPeerMakesItPendingWithABoundedRest) {
  adopt();
  outgoing_.append(letters(16 << 20));
  const std::size_t before = outgoing_.size();
  transport_->write(outgoing_);
  ASSERT_TRUE(transport_->pending());
  const std::size_t left = outgoing_.size();
  EXPECT_LT(left, before);
  transport_->write(outgoing_);
  EXPECT_EQ(outgoing_.size(), left);
  // All bytes that neither the queue nor the peer's side has are kept inside.
  const std::size_t chunks = worker_.chunks().inUse();
  outgoing_.clear();
  EXPECT_LE(worker_.chunks().inUse(), 4u);
  EXPECT_GT(chunks, 4u);
}

TEST_F(TcpTest, LosesAndDuplicatesNothingWithASlowPeer) {
  adopt();
  const std::string sent = letters(24 << 20);
  outgoing_.append(sent);
  std::string got;
  ASSERT_TRUE(until([&] {
    if (!transport_->pending()) transport_->write(outgoing_);
    test::readAvailable(pair_.peers, got);
    if (got.size() < sent.size()) worker_.post([] {});  // so that the condition is checked again
    return got.size() == sent.size();
  }));
  EXPECT_TRUE(got == sent);
  EXPECT_GT(sink_.writable, 0);
  EXPECT_FALSE(transport_->pending());
}

TEST_F(TcpTest, ShutdownEndsItsSideAndReadingGoesOn) {
  adopt();
  outgoing_.append("last");
  transport_->write(outgoing_);
  transport_->shutdown();
  transport_->shutdown();
  std::string got;
  EXPECT_EQ(test::readAvailable(pair_.peers, got), 0);
  EXPECT_EQ(got, "last");
  ASSERT_TRUE(test::sendAll(pair_.peers, "answer"));
  ASSERT_TRUE(until([&] { return sink_.received == "answer"; }));
}

TEST_F(TcpTest, ShutdownWaitsForPendingBytes) {
  adopt();
  fill();
  outgoing_.clear();
  transport_->shutdown();
  std::string got;
  ssize_t last = -1;
  ASSERT_TRUE(until([&] {
    last = test::readAvailable(pair_.peers, got);
    if (last != 0) worker_.post([] {});
    return last == 0;
  }));
  EXPECT_FALSE(transport_->pending());
  EXPECT_EQ(sink_.failed, 0);
}

TEST_F(TcpTest, ShutdownBeforeTheConnectionOpensFollowsIt) {
  const ListenSocket listening = test::listenOnLoopback();
  const auto transport = connectTcp(worker_, listening.address(), sink_);
  transport->shutdown();
  ASSERT_TRUE(until([&] { return sink_.opened == 1; }));
  const Descriptor accepted(::accept4(listening.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  char byte = 0;
  EXPECT_EQ(::recv(accepted.get(), &byte, 1, 0), 0);
}

TEST_F(TcpTest, NothingIsWrittenAfterShutdown) {
  adopt();
  transport_->shutdown();
  outgoing_.append("too late");
  transport_->write(outgoing_);
  EXPECT_EQ(outgoing_.size(), 8u);
  EXPECT_FALSE(transport_->pending());
}

TEST_F(TcpTest, AbortResetsThePeer) {
  adopt();
  transport_->abort();
  std::string got;
  EXPECT_EQ(test::readAvailable(pair_.peers, got), -1);
  EXPECT_EQ(errno, ECONNRESET);
  transport_->abort();
  transport_->shutdown();
  transport_->setReadBudget(5);
  outgoing_.append("x");
  transport_->write(outgoing_);
  EXPECT_EQ(outgoing_.size(), 1u);
}

TEST_F(TcpTest, AbortDuringAPendingWriteFreesItsMemory) {
  adopt();
  fill();
  outgoing_.clear();
  transport_->abort();
  EXPECT_FALSE(transport_->pending());
  EXPECT_EQ(worker_.chunks().inUse(), 0u);
}

TEST_F(TcpTest, AnEndOfThePeerIsReportedOnceAndWritingGoesOn) {
  adopt();
  ASSERT_TRUE(test::sendAll(pair_.peers, "bye"));
  ::shutdown(pair_.peers.get(), SHUT_WR);
  ASSERT_TRUE(until([&] { return sink_.ended == 1; }));
  EXPECT_EQ(sink_.received, "bye");
  EXPECT_TRUE(sink_.endedCleanly);
  transport_->setReadBudget(0);
  transport_->setReadBudget(100);
  outgoing_.append("answer");
  transport_->write(outgoing_);
  std::string got;
  ASSERT_TRUE(until([&] {
    test::readAvailable(pair_.peers, got);
    return got == "answer";
  }));
  EXPECT_EQ(sink_.ended, 1);
}

TEST_F(TcpTest, AResetByThePeerIsAFailureAndTheLastEvent) {
  adopt();
  const linger now{1, 0};
  setsockopt(pair_.peers.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  pair_.peers.close();
  ASSERT_TRUE(until([&] { return sink_.failed == 1; }));
  EXPECT_EQ(sink_.error->type, base::ErrorType::kConnectionTerminated);
  EXPECT_EQ(sink_.error->detail, "connection reset by peer");
  outgoing_.append("x");
  transport_->write(outgoing_);
  transport_->setReadBudget(0);
  transport_->shutdown();
  EXPECT_FALSE(transport_->pending());
  EXPECT_EQ(sink_.failed, 1);
}

TEST_F(TcpTest, AWriteToALostPeerFailsAsALaterEventAndNotByASignal) {
  adopt(0);
  const linger now{1, 0};
  setsockopt(pair_.peers.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  pair_.peers.close();
  outgoing_.append("into the void");
  worker_.post([&] { transport_->write(outgoing_); });
  worker_.post([&] { EXPECT_EQ(sink_.failed, 0); });
  worker_.setBeats(nullptr);
  struct StopWhenFailed final : Beats {
    StopWhenFailed(Worker& owner, RecordingSink& watched) : worker(owner), sink(watched) {}
    void drive() override {}
    void flush() override {}
    void reap() override {}
    bool quiet() const override {
      if (sink.failed > 0) worker.stop();
      return true;
    }
    Worker& worker;
    RecordingSink& sink;
  } beats(worker_, sink_);
  worker_.setBeats(&beats);
  worker_.run();
  EXPECT_EQ(sink_.failed, 1);
  EXPECT_EQ(sink_.error->type, base::ErrorType::kConnectionTerminated);
}

TEST_F(TcpTest, NoEventFollowsDestruction) {
  adopt();
  ASSERT_TRUE(test::sendAll(pair_.peers, "hello"));
  fill();
  transport_.reset();
  outgoing_.clear();
  EXPECT_EQ(worker_.chunks().inUse(), 0u);
  std::string got;
  ASSERT_TRUE(until([&] { return test::readAvailable(pair_.peers, got) == 0 || errno == ECONNRESET; }));
  EXPECT_EQ(sink_.reads + sink_.ended + sink_.failed + sink_.writable, 0);
}

TEST_F(TcpTest, DestructionWhileConnectingIsClean) {
  const ListenSocket listening = test::listenOnLoopback();
  connectTcp(worker_, listening.address(), sink_).reset();
  adopt();
  ASSERT_TRUE(test::sendAll(pair_.peers, "x"));
  ASSERT_TRUE(until([&] { return sink_.reads == 1; }));
  EXPECT_EQ(sink_.opened + sink_.failed, 0);
}

TEST_F(TcpTest, ATransportOutlivesTheLoop) {
  adopt();
  fill();
  const ListenSocket listening = test::listenOnLoopback();
  const auto connecting = connectTcp(worker_, listening.address(), sink_);
  worker_.stop();
  worker_.run();
  EXPECT_FALSE(transport_->pending());
  transport_->setReadBudget(10);
  transport_->shutdown();
  transport_->abort();
  EXPECT_EQ(sink_.failed + sink_.opened, 0);
}

}  // namespace
}  // namespace sluice::net
