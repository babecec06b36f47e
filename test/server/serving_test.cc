// Changes from one configuration to the next with workers on real threads, on real ports of loopback.
#include "proxy/server/serving/serving.h"

#include <gtest/gtest.h>

#include <atomic>

#include "test/server/serving_rig.h"

namespace sluice::server {
namespace {

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

test::Descriptor connectTo(std::uint16_t port) {
  test::Descriptor client = test::connectBlocking(*net::Address::parse("127.0.0.1", port));
  const timeval patience{0, 50'000};  // repeated many times: see ask()
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return client;
}

/// Returns the status line's code; "" if none arrived within ten seconds, or before `done`. Answers here have short
/// bodies, and arrive at once.
std::string ask(const test::Descriptor& client, const std::atomic<bool>& done = false) {
  if (client.get() < 0 || !test::sendAll(client, kGet)) return {};
  std::string got;
  char bytes[4096];
  for (int patience = 200; patience > 0 && !done; --patience) {
    const ssize_t count = ::recv(client.get(), bytes, sizeof bytes, 0);
    if (count < 0 && errno == EAGAIN) continue;
    if (count <= 0) return {};
    got.append(bytes, static_cast<std::size_t>(count));
    if (got.find("\r\n\r\n") != std::string::npos) return got.substr(9, 3);
  }
  return {};
}

TEST(ServingReload, EndsDuringADrainIfWorkersHaveBegunIt) {
  const test::HeldPort first;
  const test::HeldPort second;
  ServingRig rig({{first.port()}}, 2);
  rig.publish({{first.port(), second.port()}});
  rig.reloader().stop();
  const test::Descriptor client = connectTo(second.port());
  rig.run();
  const control::Revisions& revisions = rig.reloader().revisions();
  ASSERT_TRUE(test::runUntil(rig.main(), [&] { return revisions.served == revisions.desired; }));
  EXPECT_EQ(ask(client), "404") << "its socket was open already";
}

TEST(ServingReload, DoesNotBeginDuringADrain) {
  const test::HeldPort first;
  const test::HeldPort second;
  ServingRig rig({{first.port()}}, 1);
  rig.run();
  const std::string before = rig.reloader().revisions().desired;
  rig.reloader().stop();
  rig.beginReload({{first.port(), second.port()}});
  EXPECT_EQ(rig.reloader().revisions().desired, before);
}

TEST(ServingReload, RunsAgainIfItIsRequestedMeanwhile) {
  const test::HeldPort ports[3];
  ServingRig rig({{ports[0].port()}}, 2);
  rig.publish({{ports[0].port(), ports[1].port()}});
  const std::string second = rig.reloader().revisions().desired;
  rig.beginReload({{ports[0].port(), ports[2].port()}});
  EXPECT_EQ(rig.reloader().revisions().desired, second) << "it has not been read";
  rig.run();
  const control::Revisions& revisions = rig.reloader().revisions();
  ASSERT_TRUE(
      test::runUntil(rig.main(), [&] { return revisions.desired != second && revisions.served == revisions.desired; }));
  EXPECT_EQ(ask(connectTo(ports[2].port())), "404");
  EXPECT_LT(connectTo(ports[1].port()).get(), 0);
}

TEST(ServingReload, IsDroppedIfTheProcessDrainsWhileItLoads) {
  const test::HeldPort first;
  const test::HeldPort second;
  ServingRig rig({{first.port()}}, 1);
  rig.run();
  const std::string before = rig.reloader().revisions().desired;
  rig.beginReload({{first.port(), second.port()}});
  rig.reloader().stop();
  EXPECT_TRUE(rig.settles());
  EXPECT_EQ(rig.reloader().revisions().desired, before);
  EXPECT_LT(connectTo(second.port()).get(), 0);
}

TEST(ServingReload, DoesNotBlockTheMainThread) {
  const test::HeldPort first;
  const test::HeldPort second;
  ServingRig rig({{first.port()}}, 1);
  rig.run();
  const std::string before = rig.reloader().revisions().desired;
  rig.beginReload({{first.port(), second.port()}});
  EXPECT_EQ(rig.reloader().revisions().desired, before) << "it is told in a later turn";
  ASSERT_TRUE(test::runUntil(rig.main(), [&] { return rig.reloader().revisions().served != before; }));
}

TEST(ServingReload, JoinsManyRequestsWhileItLoads) {
  const test::HeldPort first;
  const test::HeldPort second;
  ServingRig rig({{first.port()}}, 1);
  rig.run();
  const std::string before = rig.reloader().revisions().served;
  rig.beginReload({{first.port(), second.port()}});
  for (int i = 0; i < 10; ++i) rig.reloadAgain();
  ASSERT_TRUE(test::runUntil(rig.main(), [&] { return rig.reloader().revisions().served != before; }));
  EXPECT_TRUE(rig.settles());
  EXPECT_EQ(rig.reloads("success"), 1u);
  EXPECT_GE(rig.reloads("unchanged"), 1u) << "those that came meanwhile";
  EXPECT_LE(rig.reloads("unchanged"), 2u) << "and perhaps what the watch of the file has told";
}

/// Clients that send requests as fast as they can, on one connection after the other.
class Askers {
 public:
  Askers(std::uint16_t port, int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this, port] { askOn(port); });
  }
  ~Askers() { stop(); }
  void stop() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// From here on a request may go unanswered.
  void gatewayStops() { stopping_ = true; }
  int answered() const { return answered_; }
  int failed() const { return failed_; }

 private:
  void askOn(std::uint16_t port) {
    while (!done_) {
      const test::Descriptor client = connectTo(port);
      for (int i = 0; i < 5 && !done_; ++i) {
        const bool mayFail = stopping_;
        if (ask(client, done_) == "200") {
          ++answered_;
        } else if (mayFail || stopping_ || done_) {
          return;
        } else {
          ++failed_;
          break;
        }
      }
    }
  }

  std::atomic<bool> done_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> answered_ = 0;
  std::atomic<int> failed_ = 0;
  std::vector<std::thread> threads_;
};

class ServingThreads : public ::testing::Test {
 protected:
  /// Returns another listener, another Backend or other settings, in turns.
  ServingRig::Spec variant(int number) const {
    ServingRig::Spec spec;
    spec.ports = {kept_.port()};
    if (number % 2 == 0) spec.ports.push_back(other_.port());
    spec.origin = number % 3 == 0 ? two_.port() : one_.port();
    spec.settings = "limits: {backendRequests: " + std::to_string(1000 + number) + "}";
    return spec;
  }

  const test::HeldPort kept_;
  const test::HeldPort other_;
  test::PollOrigin one_{"one"};
  test::PollOrigin two_{"two"};
};

TEST_F(ServingThreads, FailNoRequestDuringManyReloads) {
  ServingRig rig(variant(0), 3);
  rig.run();
  Askers askers(kept_.port(), 3);
  for (int i = 1; i <= 60; ++i) ASSERT_TRUE(rig.reload(variant(i))) << i;
  ASSERT_TRUE(test::runUntil(rig.main(), [&] { return askers.answered() > 100; }));
  askers.stop();
  EXPECT_EQ(askers.failed(), 0);
}

TEST_F(ServingThreads, MayStopDuringAReload) {
  for (int round = 0; round < 12; ++round) {
    ServingRig rig(variant(0), 3);
    rig.run();
    Askers askers(kept_.port(), 2);
    ASSERT_TRUE(rig.reload(variant(1)));
    askers.gatewayStops();
    rig.beginReload(variant(2));
    for (int turn = 0; turn < round % 4; ++turn) uv_run(rig.main().loop(), UV_RUN_ONCE);
    if (round % 2 == 0) rig.reloader().stop();
    rig.stop();
    askers.stop();
    EXPECT_EQ(askers.failed(), 0);
  }
}

}  // namespace
}  // namespace sluice::server
