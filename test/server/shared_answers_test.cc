// Tests that workers on threads of their own share the answers of name servers. The name resolves to an address that is
// not allowed, so a request whose name is known is forbidden, and one whose name is not known fails otherwise.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>

#include "proxy/server/serving/worker_runtime.h"
#include "test/server/asked_name_server.h"

namespace sluice::server {
namespace {

class SharedAnswersThreads : public ::testing::Test {
 protected:
  struct RunningWorker {
    std::unique_ptr<WorkerRuntime> runtime;
    std::thread thread;
  };

  void SetUp() override {
    const auto generation = maker_.make(test::snapshotWithDns("origin.test", dns_.settings()), "1", nullptr).value();
    std::vector<WorkerRuntime*> all;
    for (RunningWorker& worker : workers_) {
      worker.runtime =
          WorkerRuntime::make({clock_, generation, budgets_, metrics_, nullptr, "worker", all.size() + 1}).value();
      all.push_back(worker.runtime.get());
    }
    for (RunningWorker& worker : workers_) {
      worker.runtime->shareAnswers(all);
      worker.thread = std::thread([runtime = worker.runtime.get()] { runtime->run(); });
    }
  }
  void TearDown() override {
    for (RunningWorker& worker : workers_) stop(worker);
  }
  static void stop(RunningWorker& worker) {
    if (!worker.thread.joinable()) return;
    worker.runtime->stop();
    worker.thread.join();
  }
  /// Sends a request through the worker.
  static test::Descriptor ask(RunningWorker& worker) {
    test::SocketPair pair = test::makeSocketPair();
    test::sendAll(pair.peers, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    worker.runtime->countConnection();
    worker.runtime->hand({pair.ours.release(), *net::Address::parse("127.0.0.1", 1), 0});
    return std::move(pair.peers);
  }
  /// Returns the answer's status; empty if none comes.
  static std::string statusOf(const test::Descriptor& client) {
    const timeval patience{10, 0};
    ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char line[12];
    const ssize_t count = ::recv(client.get(), line, sizeof line, MSG_WAITALL);
    return count == sizeof line ? std::string(line + 9, 3) : std::string();
  }

  test::AskedNameServer dns_;
  const base::SystemClock clock_;
  SharedBudgets budgets_{base::LimitSettings{}};
  observe::MetricsRegistry metrics_;
  control::GenerationMaker maker_;
  std::array<RunningWorker, 3> workers_;
};

TEST_F(SharedAnswersThreads, ServeAllWorkersWhenTheNameServerHasDied) {
  const test::Descriptor client = ask(workers_[1]);
  ASSERT_TRUE(dns_.isAsked());
  dns_.answer();
  ASSERT_EQ(statusOf(client), "403");
  dns_.die();
  for (RunningWorker& worker : workers_) EXPECT_EQ(statusOf(ask(worker)), "403");
}

TEST_F(SharedAnswersThreads, AreDroppedByAWorkerThatHasStopped) {
  const test::Descriptor client = ask(workers_[0]);
  ASSERT_TRUE(dns_.isAsked());
  stop(workers_[1]);
  workers_[2].runtime->stop();
  dns_.answer();
  EXPECT_EQ(statusOf(client), "403");
}

}  // namespace
}  // namespace sluice::server
