#include "proxy/net/dial_probe.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "test/net/no_more_descriptors.h"
#include "test/net/socket_pair.h"
#include "test/support/held_port.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using test::Descriptor;

constexpr base::Duration kProbeTime = std::chrono::seconds(30);

class DialProbeTest : public testing::Test, private ProbeSink {
 protected:
  void probe(ProbeProtocol protocol, const Address& to) {
    const Worker::Turn turn(worker_);
    probe_.emplace(worker_, protocol, to, kProbeTime, static_cast<ProbeSink&>(*this));
  }
  const ProbeOutcome& outcome() {
    EXPECT_TRUE(test::runUntil(worker_, [this] { return probe_->outcome().has_value(); }));
    return *probe_->outcome();
  }

  test::ManualClock clock_;
  Worker worker_{clock_};
  std::optional<DialProbe> probe_;
  int probed_ = 0;

 private:
  void onProbed() override { ++probed_; }
};

Address loopbackAt(std::uint16_t port) { return *Address::parse("127.0.0.1", port); }

/// A socket for datagrams on loopback, which answers nothing by itself.
struct DatagramPeer {
  DatagramPeer() {
    ::bind(fd.get(), address.sockaddrPtr(), address.length());
    socklen_t length = sizeof(sockaddr_in);
    sockaddr_in own{};
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &length);
    address = Address::fromSockaddr(reinterpret_cast<const sockaddr*>(&own));
  }
  /// Returns the number of datagrams that have come, and answers the last one if `answers` is true.
  int take(bool answers) const {
    std::array<char, 512> bytes{};
    sockaddr_in from{};
    socklen_t length = sizeof(from);
    auto* sender = reinterpret_cast<sockaddr*>(&from);
    int count = 0;
    while (::recvfrom(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT, sender, &length) > 0) ++count;
    if (answers) ::sendto(fd.get(), "x", 1, 0, sender, sizeof(from));
    return count;
  }

  Descriptor fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  Address address = loopbackAt(0);
};

TEST_F(DialProbeTest, ReachesAListenerByTcp) {
  const ListenSocket listening = test::listenOnLoopback();
  probe(ProbeProtocol::kTcp, listening.address());
  EXPECT_EQ(outcome().result, ProbeResult::kReached);
  EXPECT_EQ(probed_, 1);
}

TEST_F(DialProbeTest, IsRefusedByAPortWithoutAListener) {
  const test::HeldPort port;
  probe(ProbeProtocol::kTcp, loopbackAt(port.port()));
  EXPECT_EQ(outcome().result, ProbeResult::kRefused);
  EXPECT_EQ(outcome().detail, "Connection refused");
  EXPECT_FALSE(outcome().sender) << "a reset, and no ICMP";
}

TEST_F(DialProbeTest, TakesAnyAnswerToADatagram) {
  const DatagramPeer peer;
  probe(ProbeProtocol::kUdp, peer.address);
  EXPECT_EQ(peer.take(true), 1);
  EXPECT_EQ(outcome().result, ProbeResult::kReached);
}

TEST_F(DialProbeTest, ReportsWhichMachineRefusedADatagram) {
  std::uint16_t closed = 0;
  {
    const DatagramPeer gone;
    closed = gone.address.port();
  }
  probe(ProbeProtocol::kUdp, loopbackAt(closed));
  EXPECT_EQ(outcome().result, ProbeResult::kRefused);
  ASSERT_TRUE(outcome().sender);
  EXPECT_EQ(outcome().sender->ip(), "127.0.0.1");
}

TEST_F(DialProbeTest, SendsADatagramThreeTimesBeforeItGivesUp) {
  const DatagramPeer peer;
  probe(ProbeProtocol::kUdp, peer.address);
  int datagrams = peer.take(false);
  const base::MonotonicTime deadline = clock_.now() + kProbeTime;
  while (clock_.now() < deadline) {
    EXPECT_FALSE(probe_->outcome());
    clock_.advance(std::chrono::milliseconds(500));
    { const Worker::Turn later(worker_); }
    datagrams += peer.take(false);
  }
  EXPECT_EQ(datagrams, 3);
  clock_.advance(TimerWheel::kTick);
  { const Worker::Turn last(worker_); }
  ASSERT_TRUE(probe_->outcome());
  EXPECT_EQ(probe_->outcome()->result, ProbeResult::kTimedOut);
  EXPECT_EQ(probed_, 1);
}

TEST_F(DialProbeTest, FailsAtOnceWithoutARoute) {
  probe(ProbeProtocol::kTcp, *Address::parse("255.255.255.255", 7));
  ASSERT_TRUE(probe_->outcome());
  EXPECT_EQ(probe_->outcome()->result, ProbeResult::kUnreachable);
  EXPECT_EQ(probed_, 0) << "the owner looks by itself";
}

TEST_F(DialProbeTest, ReportsThatItCouldNotTry) {
  const test::NoMoreDescriptors scarce;
  probe(ProbeProtocol::kTcp, loopbackAt(7));
  ASSERT_TRUE(probe_->outcome());
  EXPECT_EQ(probe_->outcome()->result, ProbeResult::kFailed);
  EXPECT_EQ(probe_->outcome()->detail, "Too many open files");
}

TEST_F(DialProbeTest, MayBeDestroyedWhileItIsOpen) {
  const DatagramPeer peer;
  probe(ProbeProtocol::kUdp, peer.address);
  probe_.reset();
  clock_.advance(kProbeTime * 2);
  { const Worker::Turn later(worker_); }
  EXPECT_EQ(probed_, 0);
}

}  // namespace
}  // namespace sluice::net
