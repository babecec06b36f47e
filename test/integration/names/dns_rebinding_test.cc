// Tests a name server that alternates between an origin and forbidden addresses: thousands of requests, each with a
// query and a connection of its own. A canary on the forbidden addresses must see nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/canary.h"
#include "test/integration/support/child_process.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/scripted_name_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr int kRebindingRequests = 10'000;
constexpr const char* kOrigin = "127.0.0.2";

/// The name resolves to these address lists in turn. The origin is in every second answer; where it is not alone, it
/// comes last.
const std::vector<std::vector<std::string>> kAnswers = {
    {kOrigin},
    {"127.0.0.1"},
    {kOrigin},
    {"169.254.169.254"},
    {kOrigin},
    {"0.0.0.0"},
    {"127.0.0.1", kOrigin},
    {"10.0.0.1", "192.168.0.1"},
    {"169.254.169.254", "::1", "127.0.0.1", kOrigin},
    {"::1"},
    {kOrigin},
    {"::ffff:127.0.0.1"},
    {kOrigin},
    {"::ffff:127.0.0.2"},
    {"::ffff:127.0.0.1", kOrigin},
    {"fd00::1"},
    {kOrigin},
    {"64:ff9b::7f00:1"},
    {"64:ff9b::7f00:1", kOrigin},
    {"2002:7f00:1::"},
    {kOrigin},
    {"100.64.0.1", "224.0.0.1", "fe80::1"},
};

/// Returns the number before a word in h2load's output: "status codes: 4 2xx, 0 3xx, 4 4xx, 0 5xx".
int counted(const std::string& output, const std::string& word) {
  const std::size_t at = output.find(" " + word);
  if (at == std::string::npos) return -1;
  const std::size_t begin = output.find_last_of(" :,", at - 1) + 1;
  return std::stoi(output.substr(begin, at - begin));
}

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
  bool hasStep = false;
};

class DnsRebinding : public testing::TestWithParam<Kept> {};

INSTANTIATE_TEST_SUITE_P(Answers, DnsRebinding,
                         testing::Values(Kept{"ForOneTurn", 0, "minTtl: 0s", kRebindingRequests / 10,
                                              kRebindingRequests / 4},
                                         Kept{"ForAMoment", 1, "minTtl: 0s, maxTtl: 1ms",
                                              2 * static_cast<int>(kAnswers.size()), kRebindingRequests / 100},
                                         Kept{"ForOneTurnWithAStepOfConnect", 0, "minTtl: 0s", kRebindingRequests / 10,
                                              kRebindingRequests / 4, true}),
                         [](const auto& given) { return given.param.name; });

TEST_P(DnsRebinding, NoForbiddenAddressIsEverDialled) {
  const std::uint16_t port = freePort();
  const Canary origin(kOrigin, port);
  const Canary canary("127.0.0.1", port);
  const Canary canary6("::1", port);
  ASSERT_TRUE(origin.ok() && canary.ok());
  const ScriptedNameServer names([ttl = GetParam().ttl](const DnsQuestion& question) {
    const auto& answer = kAnswers[static_cast<std::size_t>(question.number) % kAnswers.size()];
    return std::vector<ScriptedNameServer::Datagram>{{dnsReply(question, answer, ttl)}};
  });
  // Lines are dropped if their reader is too slow. A file takes all of them.
  const TempDir folder;
  const std::string accessLog = folder.path() + "/access.log";
  const std::string step = "[" + use("QoSController", "qos", "connect", "concurrency: 1000") + "]";
  GatewayProcess gateway(
      {.backends = {{.hostname = "origin.test",
                     .port = port,
                     .addresses = "",
                     .extensions = GetParam().hasStep ? step : std::string()}},
       .dns = "servers: [\"" + names.address() + "\"], ipv6: true, negativeTtl: 0s, " + GetParam().settings,
       .allow = "127.0.0.2/32",
       .accessLog = accessLog});
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
      "sluice_processor_duration_seconds_count{type=\"gateway.networking.k8s.io/QoSController:v1\",phase=\"connect\"}");
  if (GetParam().hasStep) {
    EXPECT_EQ(looked, allowed) << "and requests without an allowed address do not reach the step";
  }

  const auto logged = [&accessLog](const std::string& what) {
    const std::string text = readFile(accessLog);
    int lines = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++lines;
    return lines;
  };
  EXPECT_TRUE(eventually([&] { return logged("\n") == kRebindingRequests; })) << logged("\n");
  EXPECT_EQ(logged("\"http.response.status_code\":403,\"error.type\":\"destination_ip_prohibited\""), denied);
  for (const char* kind : {"loopback", "metadata", "unspecified", "private", "v4_mapped", "nat64", "6to4",
                           "carrier_nat", "multicast", "link_local"}) {
    EXPECT_GT(gateway.metric("sluice_address_denied_total{class=\"" + std::string(kind) + "\"}"), 0) << kind;
  }
}

}  // namespace
}  // namespace sluice::test
