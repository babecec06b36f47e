// Tests the handles by which any thread has the steps of libraries called again.
#include "filters/library/suspensions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "test/support/no_services.h"

namespace sluice::filters {
namespace {

using library::Suspensions;
using processing::Ticket;

TEST(Suspensions, AreUsedOnce) {
  test::NoServices services;
  const Suspensions& all = Suspensions::all();
  const std::uint64_t handle = all.add(services.tasks(), {});
  EXPECT_NE(handle, 0U);
  EXPECT_TRUE(all.complete(handle));
  EXPECT_FALSE(all.complete(handle));
  all.cancel(handle);
  services.runTasks();
  EXPECT_FALSE(all.complete(handle));
  EXPECT_FALSE(all.complete(0));
  EXPECT_FALSE(all.complete(~std::uint64_t{0}));
}

/// A host on whose thread steps are resumed.
class CountingSink final : public processing::ResumeSink {
 public:
  void onResumed(std::uint64_t, Ticket, bool dropped) override { ++(dropped ? lost : resumed); }
  int resumed = 0;  // on the thread of the steps alone
  int lost = 0;
};

TEST(SuspensionsThreads, AreCompletedByManyThreadsWhileTheWorkerCancels) {
  constexpr int kSteps = 2000;
  test::NoServices services;
  CountingSink sink;
  const Suspensions& all = Suspensions::all();
  std::vector<std::uint64_t> handles;
  for (int i = 0; i < kSteps; ++i) {
    handles.push_back(all.add(services.tasks(), processing::Resumer(sink, 1, static_cast<Ticket>(i + 1))));
  }
  std::atomic<int> completed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (const std::uint64_t handle : handles) completed += all.complete(handle) ? 1 : 0;
    });
  }
  for (std::size_t i = 0; i < handles.size(); i += 3) {
    all.cancel(handles[i]);
    services.runTasks();
  }
  for (std::thread& each : threads) each.join();
  services.runTasks();
  EXPECT_LE(completed, kSteps);
  EXPECT_GE(sink.resumed, kSteps - static_cast<int>(handles.size() / 3) - 1);
  EXPECT_LE(sink.resumed, completed);
  EXPECT_EQ(sink.lost, 0);
}

}  // namespace
}  // namespace sluice::filters
