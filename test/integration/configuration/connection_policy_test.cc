// Tests on the wire the fields of policies for connections to Backends and for the time of requests. The settings of
// the process have other values, whose effect would not show while a test runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "test/integration/support/full_listener.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/scripted_name_server.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

RawOrigin::Script neverAnswering() {
  return [](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  };
}

/// An origin that answers, and reports when the gateway has closed a connection.
class LeftOrigin {
 public:
  std::uint16_t port() const { return origin_.port(); }
  int connections() const { return origin_.connections(); }
  bool wasLeft() const {
    return eventually([this] { return left_.load(); });
  }

 private:
  std::atomic<bool> left_ = false;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) socket.send(kOk);
    if (socket.closed() && !self.stopping()) left_ = true;
  }};
};

TEST(ConnectionPolicy, BoundsTheTimeInWhichAConnectionIsMade) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {tcp: {connectTimeout: 300ms}}", "timeouts: {connectTimeout: 300ms}")) {
    const FullListener origin;
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all")));
    const ReceivedResponse got = askRaw(gateway.port());
    EXPECT_EQ(got.status, 504) << policy.fields;
    EXPECT_THAT(got.body, HasSubstr("connection_timeout")) << policy.fields;
  }
}

TEST(ConnectionPolicy, ClosesAConnectionThatNoRequestUses) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {http: {connectionIdleTimeout: 200ms}}", "timeouts: {clusterIdleTimeout: 200ms}")) {
    LeftOrigin origin;
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: Gateway, name: egress")));
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    EXPECT_TRUE(origin.wasLeft()) << policy.fields;
  }
}

TEST(ConnectionPolicy, KeepsAConnectionForLongerThanTheProcessDoes) {
  RawOrigin origin(RawOrigin::answering(kOk));
  PassedTime time;
  GatewaySpec spec =
      governedSpec(origin.port(),
                   ownFields("timeout: {http: {connectionIdleTimeout: 10h}}").forTarget("kind: HTTPRoute, name: all"));
  spec.settings = onlyTimeouts("upstreamIdle: 100s");
  spec.startedBy = time.startedBy();
  const GatewayProcess gateway(spec);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(askRaw(gateway.port()).status, 200);
    time.pass(gateway, seconds(1000));
  }
  EXPECT_EQ(origin.connections(), 1);
}

TEST(ConnectionPolicy, BoundsTheAgeOfAConnection) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {http: {maxConnectionDuration: 100s}}", "timeouts: {maxConnectionLifetime: 100s}")) {
    LeftOrigin origin;
    PassedTime time;
    GatewaySpec spec = governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all"));
    spec.startedBy = time.startedBy();
    const GatewayProcess gateway(spec);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
      time.pass(gateway, seconds(60));
    }
    EXPECT_EQ(origin.connections(), 1) << policy.fields;
    EXPECT_TRUE(origin.wasLeft()) << policy.fields;
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    EXPECT_EQ(origin.connections(), 2) << policy.fields;
  }
}

TEST(ConnectionPolicy, LetsARequestEndOnAnOldConnection) {
  HeldOrigin origin;
  PassedTime time;
  GatewaySpec spec =
      governedSpec(origin.port(),
                   ownFields("timeout: {http: {maxConnectionDuration: 100s}}").forTarget("kind: HTTPRoute, name: all"));
  spec.startedBy = time.startedBy();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  time.pass(gateway, seconds(1000));
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
  origin.answer();
  EXPECT_EQ(askRaw(client).status, 200);
  EXPECT_EQ(origin.connections(), 2);
}

TEST(ConnectionPolicy, BoundsTheTimeOfARequest) {
  for (const SpelledPolicy& each : bothKinds("timeout: {http: {requestTimeout: 300ms}}")) {
    for (const char* target : {"kind: HTTPRoute, name: all", "kind: Gateway, name: egress"}) {
      RawOrigin origin(neverAnswering());
      const GatewayProcess gateway(governedSpec(origin.port(), each.forTarget(target)));
      const ReceivedResponse got = askRaw(gateway.port());
      EXPECT_EQ(got.status, 504) << each.kind << target;
      EXPECT_THAT(got.body, HasSubstr("http_response_timeout")) << each.kind << target;
      EXPECT_TRUE(gateway.limitWasHit("request")) << each.kind << target;
    }
  }
}

TEST(ConnectionPolicy, LeavesTheTimeOfARequestToItsRule) {
  HeldOrigin origin;
  PassedTime time;
  GatewaySpec spec = governedSpec(
      origin.port(), ownFields("timeout: {http: {requestTimeout: 100s}}").forTarget("kind: HTTPRoute, name: all"),
      "      timeouts: {request: 10000s}\n");
  spec.startedBy = time.startedBy();
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(origin.wasAsked());
  time.pass(gateway, seconds(1000));
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
}

TEST(ConnectionPolicy, BoundsTheTimeOfARequestWhateverItsRuleSays) {
  for (const SpelledPolicy& policy : bothKinds("timeout: {http: {maxStreamDuration: 300ms}}")) {
    RawOrigin origin(neverAnswering());
    const GatewayProcess gateway(
        governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all"), "      timeouts: {request: 0s}\n"));
    EXPECT_EQ(askRaw(gateway.port()).status, 504) << policy.kind;
    EXPECT_TRUE(gateway.limitWasHit("request")) << policy.kind;
  }
}

TEST(ConnectionPolicy, BoundsTheTimeWithoutAByte) {
  for (const SpelledPolicy& policy :
       everySpelling("timeout: {http: {streamIdleTimeout: 300ms}}", "timeouts: {idleTimeout: 300ms}")) {
    RawOrigin origin(neverAnswering());
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all")));
    EXPECT_EQ(askRaw(gateway.port()).status, 504) << policy.fields;
    EXPECT_TRUE(gateway.limitWasHit("streamIdle")) << policy.fields;
  }
}

/// The part of the kernel's tcp_info that the C library does not know.
struct WholeTcpInfo {
  tcp_info known;
  std::array<std::uint64_t, 4> bytes;
  std::uint32_t segmentsOut;
  std::uint32_t segmentsIn;
};
static_assert(offsetof(WholeTcpInfo, segmentsIn) == 140, "as in linux/tcp.h");

std::uint32_t segmentsReceived(const BlockingSocket& socket) {
  WholeTcpInfo info{};
  socklen_t length = sizeof info;
  getsockopt(socket.fd(), IPPROTO_TCP, TCP_INFO, &info, &length);
  return info.segmentsIn;
}

TEST(ConnectionPolicy, ProbesAnIdleConnection) {
  for (const SpelledPolicy& policy :
       everySpelling("tcpKeepalive: {idleTime: 1s, interval: 1s}", "keepAliveProbes: {idleTime: 1s, interval: 1s}")) {
    std::atomic<bool> probed = false;
    RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
      self.readHead(socket);
      socket.send(kOk);
      // The answer is acknowledged, and later packets carry no data.
      const auto isAcknowledged = [&] {
        int unacknowledged = 0;
        return ioctl(socket.fd(), TIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
      };
      if (!eventually(isAcknowledged)) return;
      const std::uint32_t before = segmentsReceived(socket);
      probed = eventually([&] { return self.stopping() || segmentsReceived(socket) >= before + 2; });
    });
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all")));
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    EXPECT_TRUE(eventually([&] { return probed.load(); })) << policy.fields;
  }
}

/// A Backend whose name a name server knows, and which takes one request by each connection.
class NamedBackend : public testing::Test {
 protected:
  GatewaySpec specWith(const SpelledPolicy& policy) const {
    GatewaySpec spec = governedSpec(origin_.port(), policy.forTarget("kind: HTTPRoute, name: all"));
    spec.backends[0].addresses = "";
    spec.dns = "servers: [\"" + names_.address() + "\"], maxTtl: 1h";
    return spec;
  }
  /// Answers with these addresses from now on, and records which types are queried.
  void answer(const std::vector<std::string>& addresses, std::size_t ttl = 3600) {
    names_.say([this, addresses, ttl](const DnsQuestion& question) {
      (question.type == DnsQuestion::kAaaa ? askedForIpv6_ : askedForIpv4_) = true;
      return std::vector<ScriptedNameServer::Datagram>{{dnsReply(question, addresses, ttl)}};
    });
  }
  std::string askedFor() const { return std::string(askedForIpv4_ ? "4" : "") + (askedForIpv6_ ? "6" : ""); }

  std::atomic<bool> askedForIpv4_ = false;
  std::atomic<bool> askedForIpv6_ = false;
  RawOrigin origin_{RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")};
  ScriptedNameServer names_{dnsAlways({"127.0.0.1"})};
};

TEST_F(NamedBackend, IsLookedUpForTheAddressesOfAPolicy) {
  const std::tuple<SpelledPolicy, const char*, int> cases[] = {
      {ownFields("dns: {lookupFamily: IPv4}"), "4", 200},
      {ownFields("dns: {lookupFamily: IPv6}"), "6", 503},
      {ownFields("dns: {lookupFamily: IPv4Preferred}"), "46", 200},
      {ownFields("dns: {lookupFamily: IPv6Preferred}"), "46", 503},
      {ownFields("dns: {lookupFamily: IPv4AndIPv6}"), "46", 200},
      {envoyFields("dns: {lookupFamily: IPv6}"), "6", 503},
      {envoyFields("protocols: {enableIPv6: true}"), "46", 200},
      {envoyFields("protocols: {enableIPv4: false, enableIPv6: true}"), "6", 503},
      {envoyFields("protocols: {enableIPv4: true}"), "4", 200},
  };
  for (const auto& [policy, asked, status] : cases) {
    askedForIpv4_ = askedForIpv6_ = false;
    answer({"127.0.0.1", "::1"});
    GatewaySpec spec = specWith(policy);
    spec.allow = "127.0.0.0/8, \"::1/128\"";
    const GatewayProcess gateway(spec);
    EXPECT_EQ(askRaw(gateway.port()).status, status) << policy.fields << ": nothing listens at ::1";
    EXPECT_EQ(askedFor(), asked) << policy.fields;
  }
}

TEST_F(NamedBackend, IsLookedUpAgainAsOftenAsAPolicySays) {
  const std::pair<SpelledPolicy, int> cases[] = {{ownFields("dns: {dnsRefreshRate: 100s, respectDnsTtl: false}"), 2},
                                                 {ownFields("dns: {dnsRefreshRate: 2000s, respectDnsTtl: false}"), 1},
                                                 {ownFields("dns: {dnsRefreshRate: 100s}"), 1},
                                                 {ownFields("dns: {respectDnsTtl: false}"), 2},
                                                 {envoyFields("dns: {dnsRefreshRate: 100s, respectDnsTtl: false}"), 2},
                                                 {envoyFields("dns: {dnsRefreshRate: 2000s, respectDnsTtl: false}"), 1},
                                                 {envoyFields("dns: {type: strict, respectDnsTtl: false}"), 2},
                                                 {envoyFields("dns: {type: strict, respectDnsTtl: true}"), 1}};
  for (const auto& [policy, times] : cases) {
    answer({"127.0.0.1"});
    PassedTime time;
    GatewaySpec spec = specWith(policy);
    spec.startedBy = time.startedBy();
    const GatewayProcess gateway(spec);
    const int before = names_.asked();
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    time.pass(gateway, seconds(1000));
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    EXPECT_EQ(names_.asked() - before, times) << policy.fields;
  }
}

TEST_F(NamedBackend, IsReachedAtItsFirstAddressAloneIfAPolicySaysSo) {
  answer({"127.0.0.9", "127.0.0.1"});
  const GatewayProcess strict(specWith(ownFields("dns: {type: Strict}")));
  EXPECT_EQ(askRaw(strict.port()).status, 200) << "nothing listens at the first one";
  for (const SpelledPolicy& policy : {ownFields("dns: {type: Logical}"), envoyFields("dns: {type: logical}")}) {
    const GatewayProcess logical(specWith(policy));
    const ReceivedResponse got = askRaw(logical.port());
    EXPECT_EQ(got.status, 503) << policy.fields;
    EXPECT_THAT(got.body, HasSubstr("connection_refused")) << policy.fields;
  }
}

/// Two routes to one Backend, of which the one at /governed has a policy for its connections.
class SharedBackend : public testing::Test {
 protected:
  void start(const std::string& settings) {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.settings = onlyTimeouts("connect: 24h") + settings;
    const std::string other = routeOfRules(ruleOfPrefix("/governed", "origin"));
    spec.routes = routeOfRules(ruleOfPrefix("/plain", "origin")) + "---\n" +
                  std::string(other).replace(other.find("name: all"), 9, "name: governed") +
                  ownFields("timeout: {tcp: {connectTimeout: 20s}}").forTarget("kind: HTTPRoute, name: governed");
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  BlockingSocket begin(const std::string& path) const {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return client;
  }

  HeldOrigin origin_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(SharedBackend, HasConnectionsForEachOfItsSettings) {
  start("");
  for (const char* path : {"/plain", "/governed", "/plain", "/governed"}) {
    origin_.answer();
    BlockingSocket client = begin(path);
    EXPECT_EQ(readResponse(client).status, 200);
  }
  EXPECT_EQ(origin_.connections(), 2);
  EXPECT_TRUE(
      gateway_->reaches("http_client_open_connections{backend=\"test/origin\",http_connection_state=\"idle\"}", 2));
}

TEST_F(SharedBackend, CountsThemAgainstOneLimit) {
  start(limits("backendConnections: 1"));
  BlockingSocket first = begin("/plain");
  ASSERT_TRUE(origin_.wasAsked());
  BlockingSocket second = begin("/governed");
  EXPECT_TRUE(gateway_->limitWasHit("backendConnections"));
  EXPECT_EQ(origin_.connections(), 1) << "it waits for the other one";
  origin_.answer();
  origin_.answer();
  EXPECT_EQ(readResponse(first).status, 200);
  EXPECT_EQ(readResponse(second).status, 200);
  EXPECT_EQ(origin_.connections(), 2);
  EXPECT_EQ(gateway_->metric("http_client_open_connections{backend=\"test/origin\",http_connection_state=\"active\"}"),
            0);
}

TEST_F(SharedBackend, ClosesAnIdleConnectionForARequestWithOtherSettings) {
  start(limits("backendConnections: 2"));
  const std::string idle = "http_client_open_connections{backend=\"test/origin\",http_connection_state=\"idle\"}";
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(begin("/plain"));
  ASSERT_TRUE(origin_.wasAsked(2));
  for (int i = 0; i < 2; ++i) origin_.answer();
  for (BlockingSocket& client : clients) EXPECT_EQ(readResponse(client).status, 200);
  ASSERT_TRUE(gateway_->reaches(idle, 2));
  for (const char* path : {"/governed", "/plain", "/governed"}) {
    origin_.answer();
    BlockingSocket client = begin(path);
    EXPECT_EQ(readResponse(client).status, 200) << path;
  }
  EXPECT_EQ(origin_.connections(), 3) << "each of the plans has one now";
}

}  // namespace
}  // namespace sluice::test
