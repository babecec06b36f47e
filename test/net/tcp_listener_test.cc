#include "proxy/net/tcp_listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <vector>

#include "test/net/no_more_descriptors.h"
#include "test/net/socket_pair.h"
#include "test/support/held_port.h"
#include "test/support/loop_driver.h"

namespace sluice::net {
namespace {

using test::Descriptor;

class TcpListenerTest : public ::testing::Test {
 protected:
  TcpListenerTest() : worker_(clock_), socket_(test::listenOnLoopback()) {}

  TcpListener::Accepted keep() {
    return [this](int fd, const Address& peer) {
      accepted_.emplace_back(fd);
      peer_ = peer;
    };
  }

  base::SystemClock clock_;
  Worker worker_;
  ListenSocket socket_;
  std::vector<Descriptor> accepted_;
  Address peer_;
};

TEST_F(TcpListenerTest, TakesAFreePortAndReportsIt) { EXPECT_NE(socket_.address().port(), 0); }

TEST_F(TcpListenerTest, APortInUseIsAnErrorThatNamesTheAddress) {
  const auto second = ListenSocket::open(socket_.address());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().origin, base::ErrorOrigin::kConfig);
  EXPECT_EQ(second.error().detail, "cannot listen on " + socket_.address().toString() + ": Address already in use");
}

TEST_F(TcpListenerTest, AnAddressThatTheHostDoesNotHaveIsAnError) {
  EXPECT_FALSE(ListenSocket::open(*Address::parse("192.0.2.1", 0)).ok());
}

TEST_F(TcpListenerTest, AClosedSocketLeavesItsPortToTheNextOne) {
  const test::HeldPort port;
  const Address address = *Address::parse("127.0.0.1", port.port());
  ListenSocket first = ListenSocket::open(address).value();
  const Descriptor client = test::connectBlocking(address);
  ListenSocket moved = std::move(first);
  { const ListenSocket closing = std::move(moved); }
  EXPECT_TRUE(ListenSocket::open(address).ok());
}

TEST_F(TcpListenerTest, HandsOverConnectionsWithTheirPeer) {
  const TcpListener listener(worker_, socket_, keep());
  const Descriptor client = test::connectBlocking(socket_.address());
  ASSERT_TRUE(test::runUntil(worker_, [&] { return accepted_.size() == 1; }));
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  getsockname(client.get(), reinterpret_cast<sockaddr*>(&own), &length);
  EXPECT_EQ(peer_, Address::fromSockaddr(reinterpret_cast<const sockaddr*>(&own)));
  EXPECT_NE(fcntl(accepted_[0].get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(accepted_[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(TcpListenerTest, TakesMoreConnectionsThanOneEventHandsOver) {
  std::vector<Descriptor> clients;
  for (int i = 0; i < 150; ++i) clients.push_back(test::connectBlocking(socket_.address()));
  const TcpListener listener(worker_, socket_, keep());
  ASSERT_TRUE(test::runUntil(worker_, [&] { return accepted_.size() == 150; }));
}

TEST_F(TcpListenerTest, LeavesConnectionsBeyondItsBoundToTheNextRound) {
  std::vector<Descriptor> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(test::connectBlocking(socket_.address()));
  const TcpListener listener(worker_, socket_, keep(), 4);
  std::vector<std::size_t> rounds;
  while (accepted_.size() < 10) {
    uv_run(worker_.loop(), UV_RUN_ONCE);
    rounds.push_back(accepted_.size());
  }
  EXPECT_EQ(rounds, (std::vector<std::size_t>{4, 8, 10}));
}

TEST_F(TcpListenerTest, AcceptsNothingAfterItsDestruction) {
  { const TcpListener listener(worker_, socket_, keep()); }
  const Descriptor client = test::connectBlocking(socket_.address());
  ListenSocket other = test::listenOnLoopback();
  bool reached = false;
  const TcpListener proof(worker_, other, [&](int fd, const Address&) {
    ::close(fd);
    reached = true;
  });
  const Descriptor second = test::connectBlocking(other.address());
  ASSERT_TRUE(test::runUntil(worker_, [&] { return reached; }));
  EXPECT_TRUE(accepted_.empty());
}

TEST_F(TcpListenerTest, PausesInsteadOfSpinningWithoutDescriptorsAndGoesOnAfterwards) {
  const TcpListener listener(worker_, socket_, keep());
  const Descriptor client = test::connectBlocking(socket_.address());
  {
    const test::NoMoreDescriptors scarce;
    ASSERT_TRUE(test::runUntil(worker_, [&] { return !worker_.timers().empty(); }));
    EXPECT_TRUE(accepted_.empty());
    // While it pauses, the waiting connection does not wake the loop.
    EXPECT_EQ(uv_backend_timeout(worker_.loop()) > 0, true);
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return accepted_.size() == 1; }));
  EXPECT_TRUE(worker_.timers().empty());
}

TEST_F(TcpListenerTest, ListensOnIpv6WithoutTakingThePortOfIpv4) {
  const test::HeldPort port;
  auto any6 = ListenSocket::open(*Address::parse("::", port.port()));
  if (!any6) GTEST_SKIP() << any6.error().detail;
  EXPECT_TRUE(ListenSocket::open(*Address::parse("0.0.0.0", port.port())).ok());
}

TEST_F(TcpListenerTest, OutlivesTheLoop) {
  const TcpListener listener(worker_, socket_, keep());
  worker_.stop();
  worker_.run();
  SUCCEED();
}

}  // namespace
}  // namespace sluice::net
