#include "proxy/server/serving/shutdown.h"

#include <gtest/gtest.h>

#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

class NoClients final : public DrainedClients {
 public:
  void announceEnd() override { announced = true; }
  void drain() override { draining = true; }
  std::size_t clients() const override { return 0; }

  bool announced = false;
  bool draining = false;
};

class DelayedShutdown : public testing::Test {
 protected:
  void pass(base::Duration time) {
    clock.advance(time);
    const net::Worker::Turn turn(main);
  }

  test::ManualClock clock;
  net::Worker main{clock};
  NoClients none;
  bool finished = false;
  Shutdown shutdown{main, none, [this] {
                      finished = true;
                      main.stop();
                    }};
};

// A timer may fire whenever a Turn is opened, for instance by a connection that gets bytes: the objects that `finish`
// destroys may be on the stack then.
TEST(Shutdown, FinishesInTheLoopAndNotWhileAConnectionIsCalled) {
  test::ManualClock clock;
  net::Worker main(clock);
  NoClients none;
  bool finished = false;
  Shutdown shutdown(main, none, [&] {
    finished = true;
    main.stop();
  });
  shutdown.request({.delay = base::Duration::zero(), .timeout = std::chrono::seconds(1)});
  clock.advance(std::chrono::seconds(2));
  {
    const net::Worker::Turn turn(main);
    EXPECT_FALSE(finished);
  }
  EXPECT_FALSE(finished);
  main.run();
  EXPECT_TRUE(finished);
}

TEST(Shutdown, FinishesAtOnceWhenItIsAskedAgain) {
  test::ManualClock clock;
  net::Worker main(clock);
  NoClients none;
  int finished = 0;
  Shutdown shutdown(main, none, [&] {
    ++finished;
    main.stop();
  });
  for (int i = 0; i < 3; ++i) shutdown.request({.delay = base::Duration::zero(), .timeout = std::chrono::hours(1)});
  main.run();
  EXPECT_EQ(finished, 1);
}

TEST_F(DelayedShutdown, AcceptsRequestsForTheDelayEvenWithoutClients) {
  shutdown.request({.delay = std::chrono::seconds(5), .timeout = std::chrono::seconds(25)});
  for (int i = 0; i < 4; ++i) pass(std::chrono::seconds(1));
  EXPECT_TRUE(none.announced);
  EXPECT_FALSE(none.draining);
  pass(std::chrono::milliseconds(1100));
  EXPECT_TRUE(none.draining);
  pass(std::chrono::seconds(1));
  main.run();
  EXPECT_TRUE(finished);
}

TEST_F(DelayedShutdown, EndsAtTheTimeoutIfTheDelayIsLonger) {
  shutdown.request({.delay = std::chrono::seconds(5), .timeout = std::chrono::seconds(2)});
  pass(std::chrono::milliseconds(2100));
  main.run();
  EXPECT_TRUE(finished);
}

TEST_F(DelayedShutdown, EndsAtOnceWhenItIsAskedAgain) {
  shutdown.request({.delay = std::chrono::seconds(5), .timeout = std::chrono::seconds(25)});
  shutdown.request({.delay = std::chrono::seconds(5), .timeout = std::chrono::seconds(25)});
  main.run();
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace sluice::server
