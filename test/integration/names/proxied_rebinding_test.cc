// Tests a name server that alternates between an origin and forbidden addresses, for clients of a forward proxy that
// name the destination: thousands of requests in absolute form and thousands of tunnels. A canary on the forbidden
// addresses must see nothing, whether the address guard or an EgressPolicy forbids them.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/names/flipping_names.h"
#include "test/integration/names/walls.h"
#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/canary.h"
#include "test/integration/support/client_crowd.h"
#include "test/integration/support/http1.h"

namespace sluice::test {
namespace {

constexpr int kProxiedRequests = 10'000;
constexpr int kRebindingClients = 8;

/// The number of answers of the origin, and of refusals by the gateway.
struct Passed {
  int served = 0;
  int denied = 0;
};

struct ProxiedLoad {
  const char* name;
  /// Sends the requests for this host and port by way of the proxy.
  Passed (*send)(std::uint16_t proxy, const std::string& authority);
};

Passed byAbsoluteForm(std::uint16_t proxy, const std::string& authority) {
  ClientCrowd crowd(proxy, kRebindingClients, "GET http://" + authority + "/ HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(crowd.hasAnswers(kProxiedRequests));
  ClientCrowd::Outcomes outcomes = crowd.finish();
  const Passed passed{static_cast<int>(outcomes["ok"]), static_cast<int>(outcomes["403"])};
  std::size_t all = 0;
  for (const auto& [outcome, times] : outcomes) all += times;
  EXPECT_EQ(static_cast<std::size_t>(passed.served + passed.denied), all) << "there is no other outcome";
  return passed;
}

Passed byHttp2(std::uint16_t proxy, const std::string& authority) {
  const ProgramOutcome load =
      run({"h2load", "-n", std::to_string(kProxiedRequests), "-c", std::to_string(kRebindingClients),
           "--connect-to=127.0.0.1:" + std::to_string(proxy), "http://" + authority + "/"},
          std::chrono::seconds(100));
  const Passed passed{counted(load.output, "2xx"), counted(load.output, "4xx")};
  EXPECT_EQ(passed.served + passed.denied, kProxiedRequests) << load.output;
  return passed;
}

Passed byTunnels(std::uint16_t proxy, const std::string& authority) {
  std::atomic<int> left = kProxiedRequests;
  std::atomic<int> served = 0;
  std::atomic<int> denied = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < kRebindingClients; ++i) {
    clients.emplace_back([&] {
      while (left-- > 0) {
        BlockingSocket client = BlockingSocket::connect(proxy);
        const int status = ForwardProxy::connect(client, authority).status;
        if (status == 403) ++denied;
        if (status == 200 && askRaw(client).body == "ok") ++served;
        client.reset();  // leaves no port behind
      }
    });
  }
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(served + denied, kProxiedRequests);
  return {served, denied};
}

const ProxiedLoad kLoads[] = {
    {"AbsoluteForm", byAbsoluteForm}, {"AuthorityOverHttp2", byHttp2}, {"Tunnels", byTunnels}};

/// The guard behind a policy that allows everything, or a policy behind a guard that lets everything pass.
Wall guardBehindAPolicy() {
  Wall wall = guardAlone(std::string(kFlippingOrigin) + "/32");
  wall.policy = egressPolicy("wall", kGatewayTarget, "default: Allow");
  return wall;
}
Wall policyOfAddresses() {
  const std::string to = "to: {cidrs: [" + std::string(kFlippingOrigin) + "/32], ports: ['1-65535']}";
  return {.name = "AllowRule",
          .allow = kEveryAddress,
          .policy = egressPolicy("wall", kGatewayTarget, "rules: [" + allowing("outer", to) + "]"),
          .denying = "default",
          .passing = "outer",
          .error = "http_request_denied"};
}

class ProxiedRebinding : public testing::TestWithParam<std::tuple<ProxiedLoad, Wall>> {};

INSTANTIATE_TEST_SUITE_P(Ways, ProxiedRebinding,
                         testing::Combine(testing::ValuesIn(kLoads),
                                          testing::Values(guardBehindAPolicy(), policyOfAddresses())),
                         [](const auto& given) {
                           return std::string(std::get<0>(given.param).name) + std::get<1>(given.param).name;
                         });

TEST_P(ProxiedRebinding, DialsNoForbiddenAddress) {
  const auto& [load, wall] = GetParam();
  const std::uint16_t port = freePort();
  const Canary origin(kFlippingOrigin, port);
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(origin.ok() && canary.ok());
  const ScriptedNameServer names(flippingNames(0));
  ForwardProxy proxy;
  proxy.spec.allow = wall.allow;
  proxy.spec.dns = "servers: [\"" + names.address() + "\"], ipv6: true, negativeTtl: 0s, minTtl: 0s";
  proxy.spec.accessLog = "off";
  proxy.spec.routes += wall.policy;
  proxy.start();
  const Passed passed = load.send(proxy.port, "flip.test:" + std::to_string(port));
  EXPECT_GE(passed.served + passed.denied, kProxiedRequests);
  EXPECT_GT(passed.served, kProxiedRequests / 4);
  EXPECT_GT(passed.denied, kProxiedRequests / 4);
  EXPECT_GT(names.asked(), kProxiedRequests / 10);
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
  EXPECT_EQ(origin.connections(), passed.served) << "each request had a connection of its own";
  if (!wall.isPolicy()) return;
  EXPECT_EQ(proxy.gateway->metric(wall.passes()), passed.served);
  EXPECT_EQ(proxy.gateway->metric(wall.denials()), passed.denied);
}

}  // namespace
}  // namespace sluice::test
