// A turn begins with the timers that are due: a connection that a timer closes no longer gets the event that opened
// the turn.
#include <gtest/gtest.h>
#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "proxy/net/tcp.h"
#include "test/net/recording_sink.h"
#include "test/net/socket_pair.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;

class DueTimers : public testing::Test, private Timer {
 protected:
  /// Makes the timer due without libuv knowing it: the next callback of the loop opens the turn in which it fires.
  void becomesDue(std::function<void()> action) {
    action_ = std::move(action);
    {
      const Worker::Turn turn(worker_);
      worker_.timers().set(*this, worker_.now() + 1h);
    }
    clock_.advance(2h);
  }
  void awaitIt() {
    while (!fired_) uv_run(worker_.loop(), UV_RUN_ONCE);
  }
  std::unique_ptr<Transport> adopted() {
    auto transport = adoptTcp(worker_, pair_.ours.release(), *Address::parse("127.0.0.1", 7), sink_);
    transport->setReadBudget(65536);
    return transport;
  }

  test::ManualClock clock_;
  Worker worker_{clock_};
  test::SocketPair pair_ = test::makeSocketPair();
  test::RecordingSink sink_;

 private:
  void onTimer() override {
    action_();
    fired_ = true;
  }
  std::function<void()> action_;
  bool fired_ = false;
};

TEST_F(DueTimers, MayAbortATransportThatHasBytesToRead) {
  const auto transport = adopted();
  test::sendAll(pair_.peers, "x");
  becomesDue([&] { transport->abort(); });
  awaitIt();
  EXPECT_EQ(sink_.received, "");
}

TEST_F(DueTimers, MayAbortATransportWhosePeerHasEnded) {
  const auto transport = adopted();
  pair_.peers.close();
  becomesDue([&] { transport->abort(); });
  awaitIt();
  EXPECT_EQ(sink_.ended, 0);
}

TEST_F(DueTimers, MayAbortATransportThatIsConnected) {
  const ListenSocket listening = test::listenOnLoopback();
  const auto transport = connectTcp(worker_, listening.address(), sink_);
  becomesDue([&] { transport->abort(); });
  awaitIt();
  EXPECT_EQ(sink_.opened, 0);
}

TEST_F(DueTimers, MayAbortATransportThatHasWritten) {
  const auto transport = adopted();
  transport->setReadBudget(0);
  base::ByteQueue outgoing(worker_.chunks());
  while (!transport->pending()) {
    outgoing.append(std::string(1 << 20, 'x'));
    transport->write(outgoing);
  }
  std::string taken;
  while (taken.size() < 1 << 16) test::readAvailable(pair_.peers, taken);
  becomesDue([&] { transport->abort(); });
  awaitIt();
  EXPECT_EQ(sink_.writable, 0);
}

}  // namespace
}  // namespace sluice::net
