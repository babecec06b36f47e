// Tests a single worker that adopts another generation or drains; other behaviour of workers is tested on the running
// binary.
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
  void ask() const { test::sendAll(client_, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); }
  void connectAndAsk() {
    test::SocketPair pair = test::makeSocketPair();
    client_ = std::move(pair.peers);
    ask();
    worker_->countConnection();
    worker_->hand({pair.ours.release(), *net::Address::parse("127.0.0.1", 1), 0});
  }
  /// Sends a request whose backend's name is not resolved.
  void askAndWait() {
    connectAndAsk();
    ASSERT_TRUE(dns_.isAsked());
  }
  void adoptAnother() {
    worker_->adopt(generation("two.test", "2"), [this] { adopted_ = true; });
  }
  /// Calls that `tell` makes meanwhile arrive all at once.
  void whileItIsBusy(const std::function<void()>& tell) {
    std::promise<void> busy;
    const auto told = std::make_shared<std::promise<void>>();
    worker_->worker().post([&busy, told] {
      busy.set_value();
      told->get_future().wait();
    });
    busy.get_future().wait();
    tell();
    told->set_value();
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
  thread_.join();
  EXPECT_FALSE(adopted_);
}

TEST_F(WorkerThatStops, DoesNotAdoptALaterGeneration) {
  askAndWait();
  whileItIsBusy([this] {
    worker_->stop();
    adoptAnother();
  });
  thread_.join();
  EXPECT_FALSE(adopted_);
}

class WorkerThatDrains : public WorkerThatStops {
 protected:
  void TearDown() override {
    worker_->stop();
    WorkerThatStops::TearDown();
  }
  /// Waits until the client has received a part of a response, or the end.
  bool receive() {
    char bytes[4096];
    const ssize_t count = ::recv(client_.get(), bytes, sizeof bytes, 0);
    if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  std::string received_;
};

// The client cannot know that the connection ends while its request is on the way.
TEST_F(WorkerThatDrains, AnswersARequestThatHasReachedTheSocket) {
  dns_.die();
  connectAndAsk();
  while (received_.find("\r\n\r\n") == std::string::npos) ASSERT_TRUE(receive()) << received_;
  whileItIsBusy([this] {
    worker_->drain();
    ask();
  });
  while (receive()) {
  }
  const std::size_t first = received_.find("HTTP/1.1 503");
  ASSERT_NE(first, std::string::npos) << received_;
  EXPECT_NE(received_.find("HTTP/1.1 503", first + 1), std::string::npos) << received_;
}

}  // namespace
}  // namespace sluice::server
