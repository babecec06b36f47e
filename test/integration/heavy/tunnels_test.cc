// Tests as many tunnels at once as limits.tunnels has by default: 20,000, or as many as the descriptors of this machine
// suffice for, by clients of either version. One more is refused, the memory of an idle tunnel is bounded, the admin
// and health ports answer, and everything is given back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/silent_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMostTunnels = 20'000;
constexpr std::size_t kAtOnce = 64;
constexpr std::uint32_t kStreamsOfAConnection = 100;  // limits.concurrentStreams

/// Raises the bound on descriptors for this process and those that it starts, as far as the system lets it.
std::size_t raiseDescriptors() {
  constexpr rlim_t kWanted = 65'536;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  rlimit more{kWanted, std::max(limit.rlim_max, kWanted)};
  if (setrlimit(RLIMIT_NOFILE, &more) == 0) return kWanted;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

/// A crowd of clients that opens tunnels and leaves them idle.
class IdleTunnels {
 public:
  /// The destinations take turns, because the kernel is slow to find a port for one that has most of them already.
  IdleTunnels(std::uint16_t proxy, std::vector<std::string> authorities)
      : proxy_(proxy), authorities_(std::move(authorities)) {}
  IdleTunnels(const IdleTunnels&) = delete;
  IdleTunnels& operator=(const IdleTunnels&) = delete;
  ~IdleTunnels() {
    for (BlockingSocket& each : clients_) each.reset();
    for (const auto& each : clientsOfH2_) each->reset();
  }

  /// Returns how many of these opened. The clients have several addresses, as each has a bounded number of ports.
  std::size_t open(std::size_t count) {
    std::size_t opened = 0;
    for (std::size_t from = 0; from < count; from += kAtOnce) {
      const std::size_t first = clients_.size();
      for (std::size_t i = from; i < std::min(count, from + kAtOnce); ++i) {
        const std::string address = "127.0.0." + std::to_string(2 + i % 8);
        clients_.push_back(BlockingSocket::connect(proxy_, 0, address.c_str()));
        clients_.back().send("CONNECT " + at(i) + " HTTP/1.1\r\nHost: " + at(i) + "\r\n\r\n");
      }
      for (std::size_t i = first; i < clients_.size(); ++i) {
        if (clients_[i].readUntil("\r\n\r\n").starts_with("HTTP/1.1 200 ")) ++opened;
      }
    }
    return opened;
  }
  /// The clients connect first, because the gateway keeps its last descriptors for Backends.
  std::size_t openOverHttp2(std::size_t count) {
    for (std::size_t i = 0; i < count; i += kStreamsOfAConnection) {
      EXPECT_TRUE(clientsOfH2_.emplace_back(std::make_unique<H2Client>(proxy_))->isServed());
    }
    std::size_t opened = 0;
    for (std::size_t i = 0; i < clientsOfH2_.size(); ++i) {
      const std::size_t here = std::min<std::size_t>(count - i * kStreamsOfAConnection, kStreamsOfAConnection);
      H2Client& client = *clientsOfH2_[i];
      std::string all;
      for (std::uint32_t stream = 0; stream < here; ++stream) {
        all += h2::headers(2 * stream + 1, {{":method", "CONNECT"}, {":authority", at(stream)}}, false);
      }
      client.send(all);
      client.readUntil([&] { return client.closed() || client.seen().count(H2Type::kHeaders) >= here; });
      for (std::uint32_t stream = 0; stream < here; ++stream) opened += client.status(2 * stream + 1) == "200" ? 1 : 0;
    }
    return opened;
  }

 private:
  const std::string& at(std::size_t number) const { return authorities_[number % authorities_.size()]; }

  const std::uint16_t proxy_;
  const std::vector<std::string> authorities_;
  std::vector<BlockingSocket> clients_;
  std::vector<std::unique_ptr<H2Client>> clientsOfH2_;
};

class ManyTunnels : public testing::TestWithParam<bool> {
 protected:
  ManyTunnels() {
    proxy_.spec.release = true;
    proxy_.spec.accessLog = "off";
    proxy_.spec.settings =
        limits("connections: 100000, backendConnections: 100000, backendRequests: 100000, tunnels: " +
               std::to_string(count())) +
        onlyTimeouts("request: 0s");
    proxy_.allow(allowingHost("a", "a.test", origin_.port()) + ", " + allowingHost("b", "b.test", other_.port()));
    proxy_.start();
  }
  static bool isOptimised() { return programPath("sluice", true) != programPath("sluice"); }
  bool isOverHttp2() const { return GetParam(); }

  /// Over HTTP/1.1 a tunnel takes two descriptors of the gateway, over HTTP/2 hardly more than one. The gateway leaves
  /// a part of its descriptors to other uses than clients, and another one to other uses than Backends. A program under
  /// sanitizers has fewer tunnels, because each costs it several times as much.
  std::size_t count() const {
    const std::size_t most = isOptimised() ? kMostTunnels : kMostTunnels / 10;
    return std::min(most, isOverHttp2() ? descriptors_ - descriptors_ / 8 : descriptors_ / 3);
  }
  std::vector<std::string> authorities() const {
    return {"a.test:" + std::to_string(origin_.port()), "b.test:" + std::to_string(other_.port())};
  }
  std::size_t openAll(IdleTunnels& tunnels) const {
    return isOverHttp2() ? tunnels.openOverHttp2(count()) : tunnels.open(count());
  }
  /// Returns a client whose connection the gateway has.
  BlockingSocket lateClient() const {
    BlockingSocket client = proxy_.client();
    EXPECT_EQ(askRaw(client, "GET http://routed.test/ HTTP/1.1\r\nHost: a\r\n\r\n").status, 302);
    return client;
  }
  void expectIsRefused(BlockingSocket& client) const {
    client.send("CONNECT " + authorities().front() + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const ReceivedResponse refused = readResponse(client);
    EXPECT_EQ(refused.status, 503);
    EXPECT_THAT(refused.body, HasSubstr("\"connection_limit_reached\""));
    EXPECT_THAT(refused.body, HasSubstr("too many tunnels are open"));
    EXPECT_TRUE(proxy_.gateway->limitWasHit("tunnels"));
  }
  double descriptorsInUse() const { return proxy_.gateway->metric("process_open_fds"); }

  const std::size_t descriptors_ = raiseDescriptors();
  const SilentOrigin origin_;
  const SilentOrigin other_;
  ForwardProxy proxy_;
};
INSTANTIATE_TEST_SUITE_P(Versions, ManyTunnels, testing::Bool(),
                         [](const auto& given) { return given.param ? "Http2" : "Http11"; });

TEST_P(ManyTunnels, AreBoundedAndCheapAndGivenBack) {
  const double descriptorsBefore = descriptorsInUse();
  const std::size_t before = proxy_.gateway->process().residentKib();
  {
    BlockingSocket late = lateClient();
    IdleTunnels tunnels(proxy_.port, authorities());
    ASSERT_EQ(openAll(tunnels), count());
    EXPECT_EQ(openTunnels(*proxy_.gateway), static_cast<double>(count()));
    expectIsRefused(late);
    EXPECT_TRUE(proxy_.gateway->isReady());
    EXPECT_THAT(proxy_.gateway->adminGet("/status"), HasSubstr("egress"));
    const std::size_t grown = proxy_.gateway->process().residentKib() - before;
    std::printf("%zu tunnels, %.1f KiB each\n", count(), static_cast<double>(grown) / static_cast<double>(count()));
    EXPECT_LE(grown, count() * (isOptimised() ? 12 : 96)) << "KiB";
  }
  EXPECT_TRUE(eventually([&] { return openTunnels(*proxy_.gateway) == 0; }));
  EXPECT_TRUE(eventually([&] { return descriptorsInUse() <= descriptorsBefore + 4; })) << descriptorsInUse();
  IdleTunnels again(proxy_.port, authorities());
  EXPECT_EQ(again.open(1), 1U);
}

}  // namespace
}  // namespace sluice::test
