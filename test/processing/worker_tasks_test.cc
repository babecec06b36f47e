#include "proxy/processing/worker_tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::processing {
namespace {

TEST(WorkerTasks, AreHandedOverInTheirOrderUntilTheWorkerClosesThem) {
  std::vector<WorkerTasks::Task> posted;
  const WorkerTasks tasks([&](WorkerTasks::Task task) { posted.push_back(std::move(task)); });
  std::vector<int> ran;
  tasks.post([&] { ran.push_back(1); });
  tasks.post([&] { ran.push_back(2); });
  EXPECT_TRUE(ran.empty()) << "the worker runs them";
  for (const WorkerTasks::Task& each : posted) each();
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
  tasks.close();
  tasks.post([&] { ran.push_back(3); });
  EXPECT_EQ(posted.size(), 2u);
}

TEST(WorkerTasksThreads, MayPostWhileTheWorkerCloses) {
  std::promise<void> first;
  std::atomic<int> taken = 0;
  auto open = std::make_unique<std::atomic<bool>>(true);
  const WorkerTasks tasks([&](const WorkerTasks::Task& /*task*/) {
    EXPECT_TRUE(*open);
    if (++taken == 1) first.set_value();
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int left = 1000; left > 0; --left) tasks.post([] {});
    });
  }
  first.get_future().wait();
  tasks.close();
  open.reset();  // what the worker had is gone from here on
  for (std::thread& each : threads) each.join();
  EXPECT_LE(taken, 4000);
}

}  // namespace
}  // namespace sluice::processing
