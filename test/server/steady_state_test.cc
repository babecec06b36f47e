// Tests that a request allocates nothing once everything is warm. The tests run the whole data path of a worker, on a
// thread of its own between real sockets. OpenSSL is left out (it takes its memory by malloc), and nghttp2's memory is
// http's H2Memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include "proxy/server/serving/worker_runtime.h"
#include "test/net/socket_pair.h"
#include "test/support/h2_frames.h"
#include "test/support/table_entry.h"

namespace {

thread_local std::size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// Replaces operator new in the whole binary: the counters are thread_local, so that other threads are not counted.
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace sluice::server {
namespace {

using routing::UpstreamProtocol;

constexpr std::string_view kRepeatedRequest =
    "GET /path HTTP/1.1\r\nHost: a.test\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n";
constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\nServer: test\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

/// Routes every request to one plaintext Backend on a port of loopback.
std::shared_ptr<const routing::Snapshot> snapshotTowardsPort(std::uint16_t port, UpstreamProtocol protocol) {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = "demo/origin";
  plan->identity = plan->hostname = "127.0.0.1";
  plan->port = port;
  plan->authority = "127.0.0.1:" + std::to_string(port);
  plan->protocol = protocol;
  auto rule = std::make_shared<routing::Rule>();
  rule->route = "demo/route";
  rule->backends.emplace_back().backend = plan;
  rule->totalWeight = 1;
  routing::RouteTableBuilder builder;
  auto listener = std::make_shared<routing::ServedListener>();
  listener->gateway = "demo/egress";
  listener->section = "http";
  builder.addListener("", std::move(listener));
  routing::test::TableEntry entry;
  entry.rule = std::move(rule);
  EXPECT_TRUE(routing::test::addTo(builder, std::move(entry)).ok());
  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->addressGuard = routing::AddressGuard::make({"127.0.0.1"}).value();
  snapshot->settings.dns.servers = {"127.0.0.1"};
  snapshot->backends = {plan};
  snapshot->binds.emplace_back().service = routing::HttpService{builder.build()};
  return snapshot;
}

/// Takes connections on a thread of its own until the test ends.
class AcceptingPeer {
 public:
  explicit AcceptingPeer(std::function<void(test::Descriptor)> serve)
      : thread_([this, serve = std::move(serve)] {
          ::fcntl(socket_.fd(), F_SETFL, 0);  // so that accept() waits
          while (true) {
            test::Descriptor accepted(::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
            if (accepted.get() < 0) return;
            serve(std::move(accepted));
          }
        }) {}
  ~AcceptingPeer() {
    ::shutdown(socket_.fd(), SHUT_RDWR);
    thread_.join();
  }
  std::uint16_t port() const { return socket_.address().port(); }

 private:
  net::ListenSocket socket_ = test::listenOnLoopback();
  std::thread thread_;
};

/// The origin's side of a connection: sends an answer for each head, until the other end closes.
void answerHeads(test::Descriptor connection) {
  std::thread([connection = std::move(connection)] {
    std::string heads;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(connection.get(), bytes, sizeof(bytes), 0)) > 0;) {
      heads.append(bytes, static_cast<std::size_t>(count));
      for (std::size_t end = 0; (end = heads.find("\r\n\r\n")) != std::string::npos; heads.erase(0, end + 4)) {
        test::sendAll(connection, kResponse);
      }
    }
  }).detach();
}

/// A worker of the gateway on its thread.
class GatewayWorker {
 public:
  GatewayWorker(const std::string& name, std::uint16_t port, UpstreamProtocol protocol)
      : runtime_(
            WorkerRuntime::make(
                {clock_, control::GenerationMaker().make(snapshotTowardsPort(port, protocol), "1", nullptr).value(),
                 budgets_, metrics_, nullptr, name, 1})
                .value()),
        thread_([this] { runtime_->run(); }) {}
  ~GatewayWorker() {
    runtime_->stop();
    thread_.join();
  }

  void hand(test::Descriptor client) {
    runtime_->countConnection();
    runtime_->hand({client.release(), *net::Address::parse("127.0.0.1", 1), 0});
  }
  /// Returns the number of allocations on its thread so far.
  std::size_t allocated() {
    std::promise<std::size_t> answer;
    runtime_->worker().post([&answer] { answer.set_value(allocations); });
    return answer.get_future().get();
  }

 private:
  base::SystemClock clock_;
  SharedBudgets budgets_{base::LimitSettings{}};
  observe::MetricsRegistry metrics_;
  std::unique_ptr<WorkerRuntime> runtime_;
  std::thread thread_;
};

/// Returns the number of the gateway's allocations in many calls of `ask`, after enough calls to warm everything.
template <typename Ask>
std::size_t allocationsOf(GatewayWorker& gateway, Ask&& ask) {
  for (int i = 0; i < 300; ++i) ask();
  const std::size_t before = gateway.allocated();
  EXPECT_GT(before, 0U) << "they are counted";
  for (int i = 0; i < 1000; ++i) ask();
  return gateway.allocated() - before;
}

TEST(SteadyState, AllocatesNothingForAnHttp11Request) {
  AcceptingPeer origin(answerHeads);
  GatewayWorker gateway("sluice-1", origin.port(), UpstreamProtocol::kHttp11);
  test::SocketPair client = test::makeSocketPair();
  gateway.hand(std::move(client.ours));
  std::string received;
  const std::size_t allocated = allocationsOf(gateway, [&] {
    received.clear();
    ASSERT_TRUE(test::sendAll(client.peers, kRepeatedRequest));
    char bytes[4096];
    while (!received.ends_with("hello")) {
      const ssize_t count = ::recv(client.peers.get(), bytes, sizeof(bytes), 0);
      ASSERT_GT(count, 0);
      received.append(bytes, static_cast<std::size_t>(count));
    }
  });
  EXPECT_TRUE(received.starts_with("HTTP/1.1 200 OK\r\n")) << received;
  EXPECT_EQ(allocated, 0U);
}

// Two gateways in a row, so that one uses HTTP/2 on both sides: the allocations of the first one are counted.
TEST(SteadyState, AllocatesNothingForAnHttp2Request) {
  AcceptingPeer origin(answerHeads);
  GatewayWorker second("sluice-2", origin.port(), UpstreamProtocol::kHttp11);
  AcceptingPeer between([&second](test::Descriptor connection) { second.hand(std::move(connection)); });
  GatewayWorker first("sluice-1", between.port(), UpstreamProtocol::kHttp2);
  test::SocketPair client = test::makeSocketPair();
  first.hand(std::move(client.ours));
  ASSERT_TRUE(test::sendAll(client.peers, test::h2::clientHello() + test::h2::settingsAck()));
  test::H2FrameReader frames;
  std::uint32_t stream = 1;
  const std::size_t allocated = allocationsOf(first, [&] {
    frames.forget();
    ASSERT_TRUE(test::sendAll(client.peers, test::h2::headers(stream, test::h2::get(), true)));
    char bytes[4096];
    while (frames.body(stream) != "hello") {
      const ssize_t count = ::recv(client.peers.get(), bytes, sizeof(bytes), 0);
      ASSERT_GT(count, 0);
      frames.feed({bytes, static_cast<std::size_t>(count)});
    }
    stream += 2;
  });
  EXPECT_EQ(allocated, 0U);
}

}  // namespace
}  // namespace sluice::server
