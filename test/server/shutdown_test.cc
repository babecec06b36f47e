#include "proxy/server/serving/shutdown.h"

#include <gtest/gtest.h>

#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

class NoClients final : public DrainedClients {
 public:
  void drain() override {}
  std::size_t clients() const override { return 0; }
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
  shutdown.request(std::chrono::seconds(1));
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
  for (int i = 0; i < 3; ++i) shutdown.request(std::chrono::hours(1));
  main.run();
  EXPECT_EQ(finished, 1);
}

}  // namespace
}  // namespace sluice::server
