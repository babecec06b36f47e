// Tests attacks on the means of operators: the health and admin ports, the configuration and the metrics. The victim is
// a probe, an operator or another tenant, and sends its requests during the attack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr int kSmallBuffer = 4096;
/// The usual run is under the sanitizers, whose quarantine keeps up to 256 MiB of freed memory, which is part of the
/// measured memory.
AttackBounds boundsOfControl() { return {.grownKib = static_cast<std::size_t>(inThisRun(320, 128)) * 1024}; }

std::string askingFor(const std::string& page) { return "GET " + page + " HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

/// Probes as the kubelet does, and returns the status; 0 if it is not answered.
int probe(std::uint16_t port, const std::string& page = "/healthz") {
  BlockingSocket client = BlockingSocket::connect(port);
  client.send("GET " + page + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return readResponse(client).status;
}
std::function<bool()> probing(const GatewayProcess& gateway) {
  return [&gateway] { return probe(gateway.healthPort()) == 200; };
}

/// Returns clients that ask for more than any buffer holds, and read none of it.
std::vector<BlockingSocket> stallingClients(std::uint16_t port, int count) {
  std::string requests;
  for (int i = 0; i < 500; ++i) requests += askingFor("/metrics");
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(BlockingSocket::connect(port, kSmallBuffer));
    clients.back().sendSome(requests, std::chrono::milliseconds(0));
  }
  return clients;
}

class HealthPortUnderAttack : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Clients, HealthPortUnderAttack, testing::Values(257, 1000),
                         [](const auto& given) { return std::to_string(given.param); });

TEST_P(HealthPortUnderAttack, AnswersEveryProbeBesideClientsThatDoNotRead) {
  GatewayProcess gateway({.backends = {{.port = 9}}});
  Attack attack(gateway, probing(gateway), boundsOfControl());
  const auto stalled = stallingClients(gateway.healthPort(), GetParam());
  attack.stands();
  EXPECT_EQ(probe(gateway.healthPort(), "/readyz"), 200);
  EXPECT_EQ(probe(gateway.adminPort(), "/status"), 200);
  EXPECT_GT(gateway.limitHits("adminConnections"), 0);
}

TEST_P(HealthPortUnderAttack, AnswersEveryProbeBesideSilentClients) {
  GatewayProcess gateway({.backends = {{.port = 9}}});
  Attack attack(gateway, probing(gateway), boundsOfControl());
  std::vector<BlockingSocket> silent;
  for (int i = 0; i < GetParam(); ++i) silent.push_back(BlockingSocket::connect(gateway.healthPort()));
  attack.stands();
}

TEST(HealthPortInAFlood, AnswersEveryProbe) {
  GatewayProcess gateway({.backends = {{.port = 9}}});
  Attack attack(gateway, probing(gateway), boundsOfControl());
  std::atomic<bool> done = false;
  std::atomic<int> came = 0;
  std::thread attacker([&] {
    std::vector<BlockingSocket> clients(200);
    for (std::size_t i = 0; !done; i = (i + 1) % clients.size(), ++came) {
      if (clients[i].ok()) clients[i].reset();  // otherwise its port would stay in use for a minute
      clients[i] = BlockingSocket::connect(gateway.healthPort());
    }
  });
  EXPECT_TRUE(eventually([&] { return came > 500; }));
  attack.stands();
  done = true;
  attacker.join();
}

/// Returns routes that make every document about the configuration long, and its compilation slow.
std::string manyRoutes(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    text += "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: route-" +
            number + "}\nspec:\n  parentRefs: [{name: egress}]\n  hostnames: [\"host-" + number +
            ".test\"]\n  rules:\n" + ruleOfPrefix("/" + number, "origin");
  }
  return text.substr(4);
}

TEST(AdminPortUnderAttack, StaysWithinItsMemoryWhenManyCopiesAreNotRead) {
  GatewayProcess gateway({.backends = {{.port = 9}}, .routes = manyRoutes(1000)});
  ASSERT_GT(gateway.adminGet("/status").size(), 300'000u);
  Attack attack(gateway, probing(gateway), boundsOfControl());
  std::string requests = h2::clientHello();
  for (std::uint32_t stream = 1; stream < 16; stream += 2) {
    requests += h2::headers(
        stream, {{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/status"}}, true);
  }
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < 60; ++i) {
    clients.push_back(BlockingSocket::connect(gateway.adminPort(), kSmallBuffer));
    clients.back().send(requests);
    EXPECT_TRUE(clients.back().waitUntilRead());
  }
  EXPECT_EQ(probe(gateway.adminPort(), "/status"), 200);
  attack.stands();
}

// --- descriptors

const std::vector<std::string> kFewDescriptors = {"prlimit", "--nofile=256:256"};

TEST(FewDescriptors, AreKeptForTheDataPortFromClientsOfOperatorPorts) {
  RawOrigin origin(RawOrigin::answering(kOk));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .startedBy = kFewDescriptors});
  Attack attack(
      gateway, [&] { return askRaw(gateway.port()).status == 200; }, boundsOfControl());
  std::vector<BlockingSocket> idle;
  for (int i = 0; i < 400; ++i) {
    idle.push_back(BlockingSocket::connect(gateway.healthPort()));
    idle.push_back(BlockingSocket::connect(gateway.adminPort()));
  }
  attack.stands();
  EXPECT_EQ(probe(gateway.healthPort()), 200);
}

TEST(FewDescriptors, AreKeptForTheHealthPortFromSilentBackends) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .settings = "drainTimeout: 0s\ntimeouts: {requestHeader: 10m}\n",
                          .startedBy = kFewDescriptors});
  Attack attack(gateway, probing(gateway), boundsOfControl());
  // All clients connect before the first one asks, so that connections to their Backends find less room than they need.
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < 150; ++i) {
    clients.push_back(BlockingSocket::connect(gateway.port()));
    clients.back().send("GET / HTTP/1.1\r\n");
    ASSERT_TRUE(clients.back().waitUntilRead());
  }
  for (BlockingSocket& client : clients) client.send("Host: a\r\n\r\n");
  const std::string refused =
      "http_server_request_duration_seconds_count{gateway=\"test/egress\",route=\"test/all\",backend=\"test/origin\","
      "namespace=\"\",serviceAccount=\"\",http_request_method=\"GET\",http_response_status_code=\"503\",error_type="
      "\"connection_limit_reached\"}";
  EXPECT_TRUE(gateway.reaches(refused, 1)) << "no descriptors are left for Backends, so the admin port answers";
  EXPECT_GT(gateway.limitHits("backendConnections"), 0);
  attack.stands();
  for (BlockingSocket& client : clients) client.reset();
}

// --- the configuration

TEST(BigConfiguration, IsCompiledWhileProbesAreAnswered) {
  GatewayProcess gateway({.backends = {{.port = 9}}});
  Attack attack(gateway, probing(gateway), {.grownKib = 512 * 1024, .cpuSeconds = 120});
  const std::string done = "sluice_config_reloads_total{result=\"success\"}";
  const int routes = inThisRun(4000, 20'000);
  gateway.rewrite({.backends = {{.port = 9}}, .routes = manyRoutes(routes)});
  gateway.process().signal(SIGHUP);
  attack.stands();
  EXPECT_EQ(gateway.metric(done), 0) << "the attack is over";
  EXPECT_TRUE(gateway.reaches(done, 1));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("route-" + std::to_string(routes - 1)));
}

/// Observes the gateway while it starts, which GatewayProcess would wait for.
class GatewayThatStarts {
 public:
  explicit GatewayThatStarts(const std::string& configuration) {
    folder_.write("gateway.yaml", configuration);
    process_.emplace(std::vector<std::string>{programPath("sluice"), "run", "--config", folder_.path(), "--admin",
                                              "127.0.0.1:" + std::to_string(adminPort_), "--health",
                                              "127.0.0.1:" + std::to_string(healthPort_)});
    EXPECT_TRUE(waitForPort(healthPort_)) << process_->errors();
  }
  std::uint16_t healthPort() const { return healthPort_; }
  std::uint16_t adminPort() const { return adminPort_; }
  ChildProcess& process() { return *process_; }

 private:
  TempDir folder_;
  std::uint16_t adminPort_ = freePort();
  std::uint16_t healthPort_ = freePort();
  std::optional<ChildProcess> process_;
};

std::string bigConfiguration() {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\nspec: {controllerName: "
         "sluice.dev/egress-gateway}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: "
         "{namespace: test, name: egress}\nspec:\n  gatewayClassName: test\n  addresses: [{type: IPAddress, value: "
         "127.0.0.1}]\n  listeners: [{name: http, protocol: HTTP, port: " +
         std::to_string(freePort()) + "}]\n---\n" + manyRoutes(4000);
}

TEST(BigConfiguration, IsLoadedAtStartWhileTheHealthPortReportsIt) {
  GatewayThatStarts gateway(bigConfiguration());
  EXPECT_EQ(probe(gateway.healthPort(), "/readyz"), 503);
  EXPECT_EQ(probe(gateway.healthPort()), 200);
  EXPECT_EQ(probe(gateway.adminPort(), "/status"), 503);
  EXPECT_TRUE(eventually([&] { return probe(gateway.healthPort(), "/readyz") == 200; }));
  EXPECT_EQ(probe(gateway.adminPort(), "/status"), 200);
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0) << gateway.process().errors();
}

TEST(BigConfiguration, DoesNotDelayShutdown) {
  GatewayThatStarts gateway(bigConfiguration());
  EXPECT_EQ(probe(gateway.healthPort(), "/readyz"), 503);
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0) << gateway.process().errors();
}

/// Returns a text of 15 MiB that begins with `first` and repeats `part`.
std::string repeated(const std::string& first, const std::string& part) {
  constexpr std::size_t kBytes = 15 * 1024 * 1024;
  std::string text = first;
  text.reserve(kBytes + part.size());
  while (text.size() < kBytes) text += part;
  return text;
}

// Each text is refused. A parser that keeps all that it has read ahead takes gigabytes for some of them. The memory of
// the sanitizers is included if there is no other build.
TEST(HostileConfiguration, TakesMemoryInProportionToItsSize) {
  const bool measured = isMeasured();
  GatewayProcess gateway({.backends = {{.port = 9}}, .release = true});
  const std::size_t most = (measured ? 640 : 1536) * std::size_t{1024};
  const std::size_t grown = (measured ? 384 : 1536) * std::size_t{1024};
  Attack attack(gateway, probing(gateway), {.grownKib = grown, .cpuSeconds = 200});
  const std::size_t before = gateway.process().peakKib();
  for (const auto& [first, part] :
       {std::pair{"", "["}, std::pair{"", "[]"}, std::pair{"[", "[],"}, std::pair{"[", "{},"}, std::pair{"", "{a: "},
        std::pair{"[", "a,"}, std::pair{"[", "\"\" "}, std::pair{"[", ": "}, std::pair{"", "- "},
        std::pair{"- ", "&a "}, std::pair{"[&a b, ", "*a, "}, std::pair{"a: &a [1]\nb: [", "*a, "},
        std::pair{"", "- []\n"}, std::pair{"a: '", "text "}, std::pair{"a: |\n  ", "text[ "}}) {
    gateway.reloadText(repeated(first, part), "failure");
    EXPECT_LE(gateway.process().peakKib() - before, most) << first << part;
  }
  attack.stands();
}

/// Returns a route with as many hostnames, rules and matches as the API allows.
std::string largestRoute(int number) {
  const std::string name = "route-" + std::to_string(number);
  std::string deep;
  for (int element = 0; element < 200; ++element) deep += "/a";
  std::string text =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + name +
      "}\nspec:\n  parentRefs: [{name: egress}]\n  hostnames: [";
  for (int host = 0; host < 16; ++host) text += "h" + std::to_string(number + host) + ".hosts.test, ";
  text += "]\n  rules:\n";
  for (int rule = 0; rule < 16; ++rule) {
    text += "  - backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n    matches:\n";
    for (int match = 0; match < 8; ++match) {
      // Every route has these paths, and their elements are many.
      text += "    - {path: {value: " + deep + "/" + std::to_string(rule) + "/" + std::to_string(match) +
              "}, method: GET, headers: [{name: x-tenant, value: " + name + "}]}\n";
    }
  }
  return text;
}

// The hostnames of the routes overlap, and 8 listeners take all of them. The usual run is under the sanitizers, whose
// own memory is included.
TEST(HostileConfiguration, OfRoutesAtTheMaximaOfTheApiTakesLittleMemory) {
  constexpr int kRoutes = 100;
  GatewaySpec spec{.backends = {{.port = 9}}};
  for (int i = 0; i < 8; ++i) {
    spec.listeners +=
        "    - {name: more-" + std::to_string(i) + ", protocol: HTTP, port: " + std::to_string(freePort()) + "}\n";
  }
  GatewayProcess gateway(spec);
  Attack attack(gateway, probing(gateway),
                {.grownKib = static_cast<std::size_t>(inThisRun(768, 150)) * 1024, .cpuSeconds = 60});
  for (int i = 0; i < kRoutes; ++i) spec.routes += largestRoute(i);
  spec.routes.erase(0, 4);
  gateway.rewrite(spec);
  gateway.process().signal(SIGHUP);
  // It takes seconds of CPU, of which a busy machine gives little.
  EXPECT_TRUE(gateway.reaches("sluice_config_reloads_total{result=\"success\"}", 1, std::chrono::seconds(100)));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("route-99"));
  attack.stands();
}

// --- the metrics

/// Returns a route in a namespace of its own to a Backend there, by a path that begins with the namespace's name.
std::string tenant(const std::string& nameSpace, std::uint16_t port) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: " + nameSpace +
         ", name: route}\nspec:\n  parentRefs: [{namespace: test, name: egress}]\n  rules:\n    - matches: [{path: "
         "{type: PathPrefix, value: /" +
         nameSpace +
         "}}]\n      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n---\napiVersion: "
         "gateway.networking.k8s.io/v1alpha1\nkind: Backend\nmetadata: {namespace: " +
         nameSpace + ", name: origin}\nspec: {destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
         std::to_string(port) + "}}}\n";
}

TEST(MetricSeries, AreBoundedPerTenantAndEndWithItsRoute) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    for (std::string head = self.readHead(socket); !head.empty(); head = self.readHead(socket)) {
      const std::string status = head.substr(head.find("status=") + 7, 3);
      socket.send("HTTP/1.1 " + status + " Odd\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  // This is another destination, with connections of its own.
  RawOrigin other(RawOrigin::answering(kOk));
  GatewaySpec spec{.backends = {{.port = other.port()}}};
  spec.listeners = "    - {name: open, protocol: HTTP, port: " + std::to_string(freePort()) +
                   ", allowedRoutes: {namespaces: {from: All}}}\n";
  const std::uint16_t open =
      static_cast<std::uint16_t>(std::stoi(spec.listeners.substr(spec.listeners.find("port: ") + 6)));
  const std::string modest = tenant("modest", other.port());
  spec.routes = (tenant("greedy", origin.port()) + modest).substr(4);
  GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(open);
  for (const char* method : {"GET", "HEAD"}) {
    for (int status = 200; status < 1000; ++status) {
      const ReceivedResponse got = askRaw(
          client, method + std::string(" /greedy?status=") + std::to_string(status) + " HTTP/1.1\r\nHost: a\r\n\r\n",
          method == std::string("HEAD") || status == 204 || status == 304);
      if (got.status == 0) client = BlockingSocket::connect(open);
    }
  }
  const ReceivedResponse answer = askRaw(open, "GET /modest HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  // A request is counted when it is over, and its client may know that first.
  EXPECT_TRUE(
      gateway.reaches("http_server_request_duration_seconds_count{gateway=\"test/egress\",route=\"modest/route\"", 1));
  EXPECT_THAT(gateway.metrics(), HasSubstr("route=\"greedy/route\""));
  spec.routes = modest.substr(4);
  gateway.reload(spec);
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(askRaw(open, "GET /modest HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
    return gateway.metrics().find("greedy/") == std::string::npos;
  })) << gateway.metrics();
  EXPECT_THAT(gateway.metrics(), HasSubstr("route=\"modest/route\""));
}

}  // namespace
}  // namespace sluice::test
