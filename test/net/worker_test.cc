#include "proxy/net/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "proxy/net/loop_handle.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;

/// Records its beats, and needs as many of them as it has work.
class ScriptedBeats final : public Beats {
 public:
  void drive() override { log += 'd'; }
  void flush() override { log += 'f'; }
  void reap() override {
    log += 'r';
    --work;
  }
  bool quiet() const override { return work <= 0; }

  std::string log;
  int work = 0;
};

class Called final : public Timer {
 public:
  explicit Called(std::function<void()> action) : action_(std::move(action)) {}

 private:
  void onTimer() override { action_(); }
  std::function<void()> action_;
};

class WorkerTest : public ::testing::Test {
 protected:
  test::ManualClock clock_;
  Worker worker_{clock_};
  ScriptedBeats beats_;
};

TEST_F(WorkerTest, BeatsInOrderUntilItIsQuietWhenTheOutermostTurnCloses) {
  worker_.setBeats(&beats_);
  {
    const Worker::Turn outer(worker_);
    beats_.work = 2;
    { const Worker::Turn inner(worker_); }
    EXPECT_EQ(beats_.log, "");
  }
  EXPECT_EQ(beats_.log, "dfrdfr");
}

TEST_F(WorkerTest, DoesNotBeatWhenThereIsNothingToDo) {
  worker_.setBeats(&beats_);
  { const Worker::Turn turn(worker_); }
  EXPECT_EQ(beats_.log, "");
}

TEST_F(WorkerTest, ATurnOpenedWithinABeatStartsNoBeatOfItsOwn) {
  struct Nested final : Beats {
    explicit Nested(Worker& owner) : worker(owner) {}
    void drive() override { const Worker::Turn turn(worker); }
    void flush() override {}
    void reap() override { ++beats; }
    bool quiet() const override { return beats >= 3; }
    Worker& worker;
    int beats = 0;
  } nested(worker_);
  worker_.setBeats(&nested);
  { const Worker::Turn turn(worker_); }
  EXPECT_EQ(nested.beats, 3);
}

/// Called once in a round of the loop, as a socket would be.
class OncePerRound final : private LoopHandle {
 public:
  OncePerRound(Worker& worker, std::function<void()> action) : action_(std::move(action)) {
    uv_idle_init(worker.loop(), &idle_);
    idle_.data = static_cast<LoopHandle*>(this);
    uv_idle_start(&idle_,
                  [](uv_idle_t* idle) { static_cast<OncePerRound*>(static_cast<LoopHandle*>(idle->data))->action_(); });
  }

 private:
  void onLoopEnds() override { uv_close(reinterpret_cast<uv_handle_t*>(&idle_), nullptr); }
  std::function<void()> action_;
  uv_idle_t idle_{};
};

TEST_F(WorkerTest, TurnsOfOneRoundShareABeat) {
  worker_.setBeats(&beats_);
  std::string before;
  const auto event = [&] {
    const Worker::Turn turn(worker_);
    before += beats_.log + ".";
    beats_.work = 1;
  };
  OncePerRound one(worker_, event);
  OncePerRound other(worker_, [&] {
    event();
    worker_.stop();
  });
  worker_.run();
  EXPECT_EQ(before, "..");
  EXPECT_EQ(beats_.log, "dfr");
}

TEST_F(WorkerTest, ATurnThatHurriesIsFollowedByItsBeatAtOnce) {
  worker_.setBeats(&beats_);
  OncePerRound bulk(worker_, [&] {
    {
      const Worker::Turn turn(worker_);
      beats_.work = 1;
      worker_.hurry();
    }
    EXPECT_EQ(beats_.log, "dfr");
    worker_.stop();
  });
  worker_.run();
}

TEST_F(WorkerTest, TimeStandsStillWithinATurn) {
  const Worker::Turn outer(worker_);
  const base::MonotonicTime before = worker_.now();
  clock_.advance(1s);
  const Worker::Turn inner(worker_);
  EXPECT_EQ(worker_.now(), before);
}

TEST_F(WorkerTest, EveryOutermostTurnReadsTheClock) {
  clock_.advance(1s);
  const Worker::Turn turn(worker_);
  EXPECT_EQ(worker_.now(), clock_.now());
}

TEST_F(WorkerTest, TheFirstTurnAfterADeadlineFiresIt) {
  int fired = 0;
  Called timer([&] { ++fired; });
  {
    const Worker::Turn turn(worker_);
    worker_.timers().set(timer, worker_.now() + 10s);
  }
  clock_.advance(9s);
  { const Worker::Turn turn(worker_); }
  EXPECT_EQ(fired, 0);
  clock_.advance(1100ms);
  { const Worker::Turn turn(worker_); }
  EXPECT_EQ(fired, 1);
}

TEST_F(WorkerTest, RunsTasksInOrderInsideATurn) {
  worker_.setBeats(&beats_);
  std::string order;
  worker_.post([&] {
    order += 'a';
    beats_.work = 1;
  });
  worker_.post([&] { order += 'b'; });
  worker_.post([&] { worker_.stop(); });
  worker_.run();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(beats_.log, "dfr");
}

TEST_F(WorkerTest, ATaskMayPostAnother) {
  int runs = 0;
  std::function<void()> again = [&] { ++runs < 3 ? worker_.post(again) : worker_.stop(); };
  worker_.post(again);
  worker_.run();
  EXPECT_EQ(runs, 3);
}

TEST_F(WorkerTest, TasksAfterTheEndAreDropped) {
  worker_.post([&] { worker_.stop(); });
  worker_.run();
  auto witness = std::make_shared<int>(0);
  worker_.post([witness] { ++*witness; });
  EXPECT_EQ(*witness, 0);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST_F(WorkerTest, TasksThatNeverRanAreDestroyedWithTheWorker) {
  auto witness = std::make_shared<int>(0);
  {
    Worker worker(clock_);
    worker.post([witness] {});
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST_F(WorkerTest, AStopBeforeTheRunEndsItAtOnce) {
  worker_.stop();
  worker_.run();
  SUCCEED();
}

TEST_F(WorkerTest, WorkQueuedBeforeTheRunIsDrivenByIt) {
  worker_.setBeats(&beats_);
  beats_.work = 1;
  worker_.post([&] { worker_.stop(); });
  worker_.run();
  EXPECT_EQ(beats_.log, "dfr");
}

TEST(WorkerClock, TimersFireWhileTheLoopIsIdleAndInOrder) {
  const base::SystemClock clock;
  Worker worker(clock);
  std::string order;
  Called late([&] {
    order += 'l';
    worker.stop();
  });
  Called early([&] { order += 'e'; });
  worker.timers().set(late, clock.now() + 60ms);
  worker.timers().set(early, clock.now() + 20ms);
  const auto start = clock.now();
  worker.run();
  EXPECT_EQ(order, "el");
  EXPECT_GE(clock.now() - start, 60ms);
}

TEST(WorkerClock, ATimerSetCloserThanTheArmedOneIsNotLate) {
  const base::SystemClock clock;
  Worker worker(clock);
  Called far([] {});
  Called near([&] { worker.stop(); });
  worker.timers().set(far, clock.now() + 1h);
  worker.post([&] { worker.timers().set(near, worker.now() + 5ms); });
  worker.run();
  EXPECT_TRUE(far.isSet());
}

TEST(WorkerThreads, TakesTasksFromManyThreadsAndLosesNone) {
  const base::SystemClock clock;
  Worker worker(clock);
  constexpr int kThreads = 4;
  constexpr int kTasks = 2000;
  int done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTasks; ++i) {
        worker.post([&] {
          if (++done == kThreads * kTasks) worker.stop();
        });
      }
    });
  }
  worker.run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, kThreads * kTasks);
}

TEST(WorkerThreads, TasksOfOneThreadKeepTheirOrder) {
  const base::SystemClock clock;
  Worker worker(clock);
  std::vector<int> order;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) worker.post([&order, i] { order.push_back(i); });
    worker.post([&] { worker.stop(); });
  });
  worker.run();
  other.join();
  ASSERT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(WorkerThreads, PostingWhileTheLoopEndsIsHarmless) {
  const base::SystemClock clock;
  for (int round = 0; round < 50; ++round) {
    Worker worker(clock);
    std::atomic<bool> ended{false};
    std::thread other([&] {
      while (!ended) worker.post([] {});
    });
    worker.post([&] { worker.stop(); });
    worker.run();
    ended = true;
    other.join();
  }
}

}  // namespace
}  // namespace sluice::net
