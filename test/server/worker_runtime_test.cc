// Tests a single worker that adopts another generation; other behaviour of workers is tested on the running binary.
#include "proxy/server/serving/worker_runtime.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "test/server/asked_name_server.h"

namespace sluice::server {
namespace {

class WorkerThatStops : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = WorkerRuntime::make({clock_, generation("one.test", "1"), budgets_, metrics_, nullptr, "worker", 1});
    ASSERT_TRUE(made.ok());
    worker_ = std::move(*made);
    thread_ = std::thread([this] { worker_->run(); });
  }
  void TearDown() override {
    if (thread_.joinable()) thread_.join();
  }
  std::shared_ptr<const control::Generation> generation(const std::string& hostname, const std::string& revision) {
    return maker_.make(test::snapshotWithDns(hostname, dns_.settings()), revision, nullptr).value();
  }
  /// Sends a request whose backend's name is not resolved.
  void askAndWait() {
    test::SocketPair pair = test::makeSocketPair();
    test::sendAll(pair.peers, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_ = std::move(pair.peers);
    worker_->countConnection();
    worker_->hand({pair.ours.release(), *net::Address::parse("127.0.0.1", 1), 0});
    ASSERT_TRUE(dns_.isAsked());
  }
  void adoptAnother() {
    worker_->adopt(generation("two.test", "2"), [this] { adopted_ = true; });
  }
  /// Calls that `tell` makes meanwhile arrive all at once.
  void whileItIsBusy(const std::function<void()>& tell) {
    std::promise<void> busy;
    std::promise<void> told;
    worker_->worker().post([&] {
      busy.set_value();
      told.get_future().wait();
    });
    busy.get_future().wait();
    tell();
    told.set_value();
    thread_.join();
  }

  test::AskedNameServer dns_;
  const base::SystemClock clock_;
  SharedBudgets budgets_{base::LimitSettings{}};
  observe::MetricsRegistry metrics_;
  control::GenerationMaker maker_;
  std::unique_ptr<WorkerRuntime> worker_;
  std::thread thread_;
  test::Descriptor client_;
  bool adopted_ = false;
};

TEST_F(WorkerThatStops, DoesNotAdoptAGenerationFromJustBefore) {
  askAndWait();
  whileItIsBusy([this] {
    adoptAnother();
    worker_->stop();
  });
  EXPECT_FALSE(adopted_);
}

TEST_F(WorkerThatStops, DoesNotAdoptALaterGeneration) {
  askAndWait();
  whileItIsBusy([this] {
    worker_->stop();
    adoptAnother();
  });
  EXPECT_FALSE(adopted_);
}

}  // namespace
}  // namespace sluice::server
