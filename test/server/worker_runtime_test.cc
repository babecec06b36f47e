// A worker that is given another generation, by itself; the other behaviour of workers is tested on the running
// binary.
#include "proxy/server/worker_runtime.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <future>
#include <thread>

#include "proxy/routing/table/route_table_builder.h"
#include "test/net/socket_pair.h"

namespace sluice::server {
namespace {

/// A name server that is asked and never answers.
class SilentNameServer {
 public:
  SilentNameServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* at = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd_.get(), at, length) != 0 || ::getsockname(fd_.get(), at, &length) != 0) std::abort();
    const timeval patience{10, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    name_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  const std::string& name() const { return name_; }
  bool wasAsked() const {
    char question[512];
    return ::recv(fd_.get(), question, sizeof question, 0) > 0;
  }

 private:
  test::Descriptor fd_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::string name_;
};

std::shared_ptr<const routing::Snapshot> snapshotWithNameServer(const std::string& hostname,
                                                                const std::string& nameServer) {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = "demo/origin";
  plan->identity = plan->hostname = plan->authority = hostname;
  plan->port = 80;
  plan->protocol = routing::UpstreamProtocol::kHttp11;
  auto rule = std::make_shared<routing::Rule>();
  rule->backends.emplace_back().backend = plan;
  rule->totalWeight = 1;
  routing::RouteTableBuilder builder;
  builder.addListener("");
  routing::RouteEntry entry;
  entry.rule = std::move(rule);
  EXPECT_TRUE(builder.add(std::move(entry)).ok());
  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->settings.dns.servers = {nameServer};
  snapshot->backends = {plan};
  snapshot->binds.emplace_back().service = routing::HttpService{std::move(builder).build()};
  return snapshot;
}

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
    return maker_.make(snapshotWithNameServer(hostname, dns_.name()), revision, nullptr).value();
  }
  /// Sends a request whose backend's name is not resolved.
  void askAndWait() {
    test::SocketPair pair = test::makeSocketPair();
    test::sendAll(pair.peers, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_ = std::move(pair.peers);
    worker_->countConnection();
    worker_->hand(pair.ours.release(), *net::Address::parse("127.0.0.1", 1), 0);
    ASSERT_TRUE(dns_.wasAsked());
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

  SilentNameServer dns_;
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
