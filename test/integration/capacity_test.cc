// Tests the limits on concurrency: client connections, and connections, requests and pending requests per Backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Returns a connection whose requests are answered as soon as there is room for it, or nothing if there never is.
std::optional<BlockingSocket> connectInTime(std::uint16_t port) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    BlockingSocket client = BlockingSocket::connect(port);
    client.send(kGet);
    if (readResponse(client).status == 200) return client;
  }
  return std::nullopt;
}

/// Waits for the event about a connection that was closed because of that limit.
bool isDenied(const GatewayProcess& gateway, const std::string& limit) {
  const std::string event =
      R"("reason":"ConnectionDenied","object":"Gateway test/egress","message":"a connection was closed because of limits.)" +
      limit + "\"";
  return eventually([&] { return gateway.adminGet("/events").find(event) != std::string::npos; });
}

TEST(ConnectionLimit, ClosesConnectionsBeyondItAndServesTheOthers) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .settings = limits("connections: 2"), .workers = 2});
  auto first = connectInTime(gateway.port());
  auto second = connectInTime(gateway.port());
  ASSERT_TRUE(first && second);
  const double before = gateway.limitHits("connections");
  BlockingSocket third = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(third.readAll(), "");
  EXPECT_TRUE(third.closed());
  EXPECT_TRUE(gateway.reaches("sluice_limit_hits_total{limit=\"connections\"}", before + 1));
  EXPECT_TRUE(isDenied(gateway, "connections")) << gateway.adminGet("/events");
  for (BlockingSocket* client : {&*first, &*second}) {
    client->send(kGet);
    EXPECT_EQ(readResponse(*client).status, 200);
  }
  first->close();
  EXPECT_TRUE(connectInTime(gateway.port())) << "there is room again";
}

TEST(AddressLimit, ClosesConnectionsOfOneAddressBeyondItAndServesTheOthers) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .settings = limits("connectionsPerAddress: 2"), .workers = 2});
  auto first = connectInTime(gateway.port());
  auto second = connectInTime(gateway.port());
  ASSERT_TRUE(first && second);
  BlockingSocket third = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(third.readAll(), "");
  EXPECT_TRUE(gateway.limitWasHit("connectionsPerAddress"));
  EXPECT_TRUE(isDenied(gateway, "connectionsPerAddress")) << gateway.adminGet("/events");
  EXPECT_EQ(statusOf(gateway, "/", {"--interface", "127.0.0.2"}), "200");
  first->send(kGet);
  EXPECT_EQ(readResponse(*first).status, 200);
  first->close();
  EXPECT_TRUE(connectInTime(gateway.port())) << "there is room again";
}

TEST(AddressLimit, ClosesConnectionsOfOneAddressThatBeginTooManyHandshakes) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const CertifiedKey authority = makeAuthority();
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = limits("handshakesPerAddress: 3"),
                                .tls = issueServer(authority, "localhost"),
                                .workers = 2});
  // Several connections fall into one second, however slow the machine is.
  std::vector<BlockingSocket> flood;
  while (flood.size() < 1000 && gateway.limitHits("handshakesPerAddress") == 0) {
    for (int i = 0; i < 10; ++i) flood.push_back(BlockingSocket::connect(gateway.tlsPort()));
  }
  EXPECT_GE(gateway.limitHits("handshakesPerAddress"), 1);
  const std::string url = "https://127.0.0.1:" + std::to_string(gateway.tlsPort()) + "/";
  const ProgramOutcome victim =
      run({"curl", "-sk", "--interface", "127.0.0.2", "-o", "/dev/null", "-w", "%{http_code}", url});
  EXPECT_EQ(victim.output, "200") << victim.errors;
  EXPECT_EQ(statusOf(gateway, "/"), "200") << "connections without TLS are not concerned";
}

/// Holds an origin's answers back until it is opened, and counts the requests that came.
class Valve {
 public:
  RawOrigin::Script script() {
    return [this](BlockingSocket& socket, RawOrigin& self) {
      while (!self.readHead(socket).empty()) {
        ++received_;
        if (!pass()) return;
        socket.send(kOk);
      }
    };
  }
  bool receives(int count) const {
    return eventually([&] { return received_ >= count; });
  }
  void release(int count) {
    const std::lock_guard lock(mutex_);
    open_ += count;
    changed_.notify_all();
  }
  /// Releases all held answers; must be called before the origin is destroyed.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  bool pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ > 0 || closed_; });
    --open_;
    return !closed_;
  }

  std::atomic<int> received_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
  bool closed_ = false;
};

class BackendLimits : public testing::Test {
 protected:
  void TearDown() override { valve_.close(); }

  GatewayProcess gatewayWith(const std::string& settings) {
    return GatewayProcess({.backends = {{.port = origin_.port()}}, .settings = limits(settings)});
  }
  static BlockingSocket begin(const GatewayProcess& gateway) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(kGet);
    return client;
  }
  static void expectTooMany(BlockingSocket client) {
    const ReceivedResponse got = readResponse(client);
    EXPECT_EQ(got.status, 503);
    EXPECT_THAT(got.body, HasSubstr("connection_limit_reached"));
  }

  Valve valve_;
  RawOrigin origin_{valve_.script()};
};

TEST_F(BackendLimits, BackendConnectionsMakesTheRestWait) {
  const GatewayProcess gateway = gatewayWith("backendConnections: 2");
  BlockingSocket first = begin(gateway);
  BlockingSocket second = begin(gateway);
  ASSERT_TRUE(valve_.receives(2));
  EXPECT_EQ(origin_.connections(), 2);
  EXPECT_EQ(gateway.limitHits("backendConnections"), 0);
  BlockingSocket third = begin(gateway);
  EXPECT_TRUE(gateway.limitWasHit("backendConnections"));
  valve_.release(3);
  for (BlockingSocket* client : {&first, &second, &third}) EXPECT_EQ(readResponse(*client).body, "ok");
  EXPECT_EQ(origin_.connections(), 2);
}

TEST_F(BackendLimits, BackendPendingRefusesRequestsBeyondTheQueue) {
  const GatewayProcess gateway = gatewayWith("backendConnections: 1, backendPending: 2");
  BlockingSocket served = begin(gateway);
  ASSERT_TRUE(valve_.receives(1));
  BlockingSocket waiting = begin(gateway);
  BlockingSocket waitingToo = begin(gateway);
  EXPECT_TRUE(gateway.reaches("http_server_active_requests", 3));
  EXPECT_EQ(gateway.limitHits("backendPending"), 0);
  expectTooMany(begin(gateway));
  EXPECT_TRUE(gateway.limitWasHit("backendPending"));
  valve_.release(3);
  for (BlockingSocket* client : {&served, &waiting, &waitingToo}) EXPECT_EQ(readResponse(*client).body, "ok");
}

TEST_F(BackendLimits, BackendRequestsRefusesOneMore) {
  const GatewayProcess gateway = gatewayWith("backendRequests: 2");
  BlockingSocket first = begin(gateway);
  BlockingSocket second = begin(gateway);
  ASSERT_TRUE(valve_.receives(2));
  EXPECT_EQ(gateway.limitHits("backendRequests"), 0);
  expectTooMany(begin(gateway));
  EXPECT_TRUE(gateway.limitWasHit("backendRequests"));
  valve_.release(3);
  for (BlockingSocket* client : {&first, &second}) EXPECT_EQ(readResponse(*client).body, "ok");
  BlockingSocket again = begin(gateway);
  EXPECT_EQ(readResponse(again).body, "ok") << "there is room again";
}

TEST_F(BackendLimits, OneBackendAtItsBoundDoesNotHinderAnother) {
  RawOrigin other(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"));
  const GatewayProcess gateway({.backends = {{.port = origin_.port()}, {.name = "other", .port = other.port()}},
                                .settings = limits("backendRequests: 1"),
                                .routes = routeOfRules(ruleOfPrefix("/", "origin") + ruleOfPrefix("/other", "other"))});
  BlockingSocket first = begin(gateway);
  ASSERT_TRUE(valve_.receives(1));
  expectTooMany(begin(gateway));
  EXPECT_EQ(run({"curl", "-sS", gateway.url("/other")}).output, "other");
  valve_.release(1);
  EXPECT_EQ(readResponse(first).body, "ok");
}

// Two namespaces may each have a Backend for the same origin.
TEST_F(BackendLimits, TwoBackendsForOneOriginShareNeitherBoundsNorConnections) {
  const GatewayProcess gateway({.backends = {{.port = origin_.port()}, {.name = "twin", .port = origin_.port()}},
                                .settings = limits("backendConnections: 1, backendRequests: 1"),
                                .routes = routeOfRules(ruleOfPrefix("/", "origin") + ruleOfPrefix("/twin", "twin"))});
  BlockingSocket first = begin(gateway);
  ASSERT_TRUE(valve_.receives(1));
  BlockingSocket second = BlockingSocket::connect(gateway.port());
  second.send("GET /twin HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(valve_.receives(2));
  EXPECT_EQ(origin_.connections(), 2);
  const std::string open = "http_client_open_connections{backend=\"test/";
  EXPECT_EQ(gateway.metric(open + "twin\",http_connection_state=\"active\"}"), 1);
  EXPECT_EQ(gateway.metric(open + "origin\",http_connection_state=\"active\"}"), 1);
  valve_.release(2);
  EXPECT_EQ(readResponse(first).body, "ok");
  EXPECT_EQ(readResponse(second).body, "ok");
}

}  // namespace
}  // namespace sluice::test
