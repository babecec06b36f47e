// Tests a name server that alternates between an origin and forbidden addresses: thousands of requests, each with a
// query and a connection of its own. A canary on the forbidden addresses must see nothing, whether the address guard or
// an EgressPolicy forbids them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/names/flipping_names.h"
#include "test/integration/names/walls.h"
#include "test/integration/support/canary.h"
#include "test/integration/support/child_process.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"
#include "test/integration/support/scripted_name_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

constexpr int kRebindingRequests = 10'000;

struct Kept {
  const char* name;
  std::size_t ttl;
  const char* settings;
  /// minimum of queries for the name
  int questions;
  /// Minimum of requests served, and of requests refused: with cached answers, timing decides which of them are there
  /// when most requests come.
  int least;
  /// A processing step of phase connect looks at each request first.
  bool hasStep;
  Wall wall;
};

/// Each answer is for one request.
Kept forOneTurn(const char* name, bool hasStep, const Wall& wall) {
  return {name, 0, "minTtl: 0s", kRebindingRequests / 10, kRebindingRequests / 4, hasStep, wall};
}
Kept forAMoment(const char* name, const Wall& wall) {
  return {
      name,  1,   "minTtl: 0s, maxTtl: 1ms", 2 * static_cast<int>(kFlippingAnswers.size()), kRebindingRequests / 100,
      false, wall};
}

class DnsRebinding : public testing::TestWithParam<Kept> {
 protected:
  GatewaySpec spec(const ScriptedNameServer& names) const {
    const std::string step = "[" + use("QoSController", "qos", "connect", "concurrency: 1000") + "]";
    GatewaySpec made{
        .backends = {{.hostname = "origin.test",
                      .port = port,
                      .addresses = "",
                      .extensions = GetParam().hasStep ? step : std::string()}},
        .dns = "servers: [\"" + names.address() + "\"], ipv6: true, negativeTtl: 0s, " + GetParam().settings,
        .allow = GetParam().wall.allow,
        .accessLog = accessLog};
    made.routes = routeOfRules("    - " + backendRefs().substr(6)) + GetParam().wall.policy;
    return made;
  }
  /// Returns how often the access log has this.
  int logged(const std::string& what) const {
    const std::string text = readFile(accessLog);
    int lines = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++lines;
    return lines;
  }
  void expectRefusals(const GatewayProcess& gateway, int denied) const {
    const Wall& wall = GetParam().wall;
    EXPECT_TRUE(eventually([&] { return logged("\n") == kRebindingRequests; })) << logged("\n");
    EXPECT_EQ(logged(R"("http.response.status_code":403,"error.type":")" + wall.error + "\""), denied);
    if (wall.isPolicy()) return;
    for (const char* kind : {"loopback", "metadata", "unspecified", "private", "v4_mapped", "nat64", "6to4",
                             "carrier_nat", "multicast", "link_local"}) {
      EXPECT_GT(gateway.metric("sluice_address_denied_total{class=\"" + std::string(kind) + "\"}"), 0) << kind;
    }
  }
  void expectDecisions(const GatewayProcess& gateway, int allowed, int denied) const {
    const Wall& wall = GetParam().wall;
    if (wall.policy.empty()) return;
    const int byPolicy = wall.isPolicy() ? denied : 0;
    EXPECT_EQ(gateway.metric(wall.passes()), allowed);
    EXPECT_EQ(gateway.metric(wall.denials()), byPolicy);
    EXPECT_EQ(logged(R"("policy":"test/wall","rule":")" + wall.denying + R"(","decision":"denied")"), byPolicy);
    EXPECT_EQ(gateway.metrics().find("sluice_address_denied_total{") == std::string::npos, wall.isPolicy());
  }

  const std::uint16_t port = freePort();
  // Lines are dropped if their reader is too slow. A file takes all of them.
  const TempDir folder;
  const std::string accessLog = folder.path() + "/access.log";
};

const std::string kCanaries = "127.0.0.1/32, '::1/128', " + std::string(kInnerNetworks);

INSTANTIATE_TEST_SUITE_P(Answers, DnsRebinding,
                         testing::Values(forOneTurn("ForOneTurn", false, guardAlone("127.0.0.2/32")),
                                         forAMoment("ForAMoment", guardAlone("127.0.0.2/32")),
                                         forOneTurn("ForOneTurnWithAStepOfConnect", true, guardAlone("127.0.0.2/32")),
                                         forOneTurn("ForOneTurnAgainstAnAllowRule", false, allowRule("127.0.0.2/32")),
                                         forOneTurn("ForOneTurnAgainstADenyRule", true, denyRule(kCanaries)),
                                         forAMoment("ForAMomentAgainstADenyRule", denyRule(kCanaries)),
                                         forOneTurn("ForOneTurnAgainstTheGuardAndAnAllowRule", false,
                                                    behindTheGuard("127.0.0.2/32", allowRule("127.0.0.2/32")))),
                         [](const auto& given) { return given.param.name; });

TEST_P(DnsRebinding, NoForbiddenAddressIsEverDialled) {
  const Canary origin(kFlippingOrigin, port);
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(origin.ok() && canary.ok());
  const ScriptedNameServer names(flippingNames(GetParam().ttl));
  GatewayProcess gateway(spec(names));
  const ProgramOutcome load =
      run({"h2load", "--h1", "-n", std::to_string(kRebindingRequests), "-c", "8", gateway.url("/")},
          std::chrono::seconds(100));
  const int allowed = counted(load.output, "2xx");
  const int denied = counted(load.output, "4xx");
  EXPECT_EQ(allowed + denied, kRebindingRequests) << load.output;
  EXPECT_GT(allowed, GetParam().least);
  EXPECT_GT(denied, GetParam().least);
  EXPECT_GT(names.asked(), GetParam().questions);
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
  EXPECT_EQ(origin.connections(), allowed) << "each request had a connection of its own";

  const double looked = gateway.metric(
      "sluice_processor_duration_seconds_count{type=\"gateway.networking.k8s.io/"
      "QoSController:v1\",phase=\"connect\",namespace=\"\",serviceAccount=\"\"}");
  if (GetParam().hasStep) {
    EXPECT_EQ(looked, allowed) << "and requests without an allowed address do not reach the step";
  }
  expectRefusals(gateway, denied);
  expectDecisions(gateway, allowed, denied);
}

}  // namespace
}  // namespace sluice::test
