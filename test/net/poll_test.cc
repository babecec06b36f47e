#include "proxy/net/poll.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>

#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

/// A timer that runs a function.
class Alarm final : public Timer {
 public:
  explicit Alarm(std::function<void()> rings) : rings_(std::move(rings)) {}

 private:
  void onTimer() override { rings_(); }
  std::function<void()> rings_;
};

class Polls : public testing::Test, private PollSink {
 protected:
  Polls() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_.data()), 0); }
  ~Polls() override {
    poll_.reset();
    for (const int end : ends_) ::close(end);
  }
  void watch() {
    poll_ = std::make_unique<Poll>(worker_, ends_[0], static_cast<PollSink&>(*this));
    poll_->watch(true, false);
  }
  void makeReadable() { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }

  test::ManualClock clock_;
  Worker worker_{clock_};
  std::array<int, 2> ends_{};
  std::unique_ptr<Poll> poll_;
  int ready_ = 0;

 private:
  void onReady(bool readable, bool /*writable*/) override {
    EXPECT_TRUE(readable);
    ++ready_;
    poll_.reset();
    worker_.stop();
  }
};

TEST_F(Polls, MayBeDestroyedWithinTheirOwnEvent) {
  watch();
  makeReadable();
  worker_.run();
  EXPECT_EQ(ready_, 1);
}

// The first event of a round fires the timers that are due before it is delivered.
TEST_F(Polls, MayBeDestroyedByATimerThatIsDueWhenTheyBecomeReady) {
  watch();
  Alarm alarm([this] {
    poll_.reset();
    worker_.stop();
  });
  worker_.post([this, &alarm] {
    worker_.timers().set(alarm, worker_.now() + std::chrono::seconds(1));
    clock_.advance(std::chrono::seconds(2));
    makeReadable();
  });
  worker_.run();
  EXPECT_EQ(ready_, 0);
}

}  // namespace
}  // namespace sluice::net
