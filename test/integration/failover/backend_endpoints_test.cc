// Tests Backends of several endpoints through the binary: which of them get requests, each with TLS of its own, and the
// status that their Backend shows for those that do not serve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::string regionAnswer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class BackendEndpoints : public testing::Test {
 protected:
  /// Serves by one Backend with these endpoints. The names eu.test and us.test lead to this machine.
  void start(const std::string& endpoints, const std::string& more = {}, const std::string& rule = {}) {
    GatewaySpec spec;
    spec.backends = {{.name = "eu", .hostname = "eu.test", .port = eu_.port()},
                     {.name = "us", .hostname = "us.test", .port = us_.port()}};
    spec.routes = routeOfRules("    - backendRefs: [{group: sluice.dev, kind: Backend, name: regions}]\n" + rule) +
                  "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: regions}\n"
                  "spec:\n  destination:\n    type: Endpoints\n    endpoints: [" +
                  endpoints + "]\n" + more;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  static std::string endpoint(const std::string& host, std::uint16_t port, const std::string& more = {}) {
    return "{fqdn: {hostname: " + host + ", port: " + std::to_string(port) + "}" + more + "}";
  }
  std::vector<std::string> ask(std::size_t count, const std::string& target = "/") const {
    std::vector<std::string> bodies;
    for (std::size_t i = 0; i < count; ++i) {
      const ReceivedResponse answer = askRaw(gateway_->port(), "GET " + target + " HTTP/1.1\r\nHost: any.test\r\n\r\n");
      bodies.push_back(answer.status == 200 ? answer.body : std::to_string(answer.status));
    }
    return bodies;
  }

  std::atomic<bool> isBusy_ = false;
  RecordingOrigin eu_{[this](std::size_t) {
    return isBusy_ ? regionAnswer("503 Service Unavailable", "busy") : regionAnswer("200 OK", "eu");
  }};
  RecordingOrigin us_{[](std::size_t) { return regionAnswer("200 OK", "us"); }};
  std::unique_ptr<GatewayProcess> gateway_;
};

constexpr const char* kRetryTwice = "      retry: {codes: [503], attempts: 2, backoff: 1ms}\n";

TEST_F(BackendEndpoints, OfTheLowestPriorityGetAllRequestsUntilTheyFail) {
  start(endpoint("us.test", us_.port(), ", priority: 3") + ", " + endpoint("eu.test", eu_.port()), {}, kRetryTwice);
  EXPECT_THAT(ask(10), Each("eu"));
  EXPECT_THAT(eu_.heads().front(), HasSubstr("host: eu.test:" + std::to_string(eu_.port())));
  isBusy_ = true;
  EXPECT_THAT(ask(30), Each("us"));
  EXPECT_EQ(eu_.heads().size(), 15u) << "five failures in a row make it rest";
  EXPECT_THAT(us_.heads().front(), HasSubstr("host: us.test:" + std::to_string(us_.port())));
}

TEST_F(BackendEndpoints, OfOnePriorityGetAsManyAttemptsAsThePolicySays) {
  const std::string policy =
      "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: order}\nspec:\n"
      "  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
      "  retry: {codes: [503], attempts: 3, backoff: 1ms, attemptsPerPriority: 3}\n"
      "  healthCheck: {passive: {consecutive5XxErrors: 0}}\n";
  start(endpoint("eu.test", eu_.port()) + ", " + endpoint("us.test", us_.port(), ", priority: 1"), policy);
  isBusy_ = true;
  EXPECT_THAT(ask(4), Each("us"));
  EXPECT_EQ(eu_.heads().size(), 12u) << "three for each request, then one at the next priority";
  EXPECT_EQ(us_.heads().size(), 4u);
}

TEST_F(BackendEndpoints, ShareTheRequestsOfTheirPriorityByWeight) {
  start(endpoint("eu.test", eu_.port(), ", weight: 3") + ", " + endpoint("us.test", us_.port()));
  const std::vector<std::string> answers = ask(400);
  const auto served = std::count(answers.begin(), answers.end(), "eu");
  EXPECT_GT(served, 230);
  EXPECT_LT(served, 370);
  EXPECT_EQ(served + std::count(answers.begin(), answers.end(), "us"), 400);
}

TEST_F(BackendEndpoints, ThatTakeNoConnectionsLeaveTheirRequestsToTheOthers) {
  start(endpoint("eu.test", freePort()) + ", " + endpoint("us.test", us_.port(), ", priority: 1"), {}, kRetryTwice);
  EXPECT_THAT(ask(20), Each("us"));
  EXPECT_TRUE(eventually([&] {
    return gateway_->adminGet("/status").find("\"type\":\"Degraded\",\"status\":\"True\",\"reason\":\"Unreachable\"") !=
           std::string::npos;
  })) << gateway_->adminGet("/status");
  EXPECT_THAT(gateway_->adminGet("/status"), HasSubstr("\"type\":\"Available\",\"status\":\"True\""));
}

TEST_F(BackendEndpoints, AreCheckedEachByItself) {
  start(endpoint("eu.test", eu_.port()) + ", " + endpoint("us.test", us_.port(), ", priority: 1"),
        "  healthCheck: {active: {type: HTTP, interval: 1s, unhealthyThreshold: 1, http: {path: /}}}\n");
  const std::string healthy = "sluice_upstream_endpoint_healthy{backend=\"test/regions\",endpoint=\"";
  const std::string ofEu = healthy + "eu.test:" + std::to_string(eu_.port());
  EXPECT_TRUE(gateway_->reaches(ofEu, 1));
  EXPECT_TRUE(gateway_->reaches(healthy + "us.test:" + std::to_string(us_.port()), 1));
  isBusy_ = true;
  EXPECT_TRUE(eventually([&] { return gateway_->metric(ofEu) == 0; }));
  EXPECT_THAT(ask(10), Each("us"));
  isBusy_ = false;
  EXPECT_TRUE(eventually([&] { return ask(1).front() == "eu"; }));
}

TEST_F(BackendEndpoints, LoseTheirSessionsToOthersWhenTheirChecksFail) {
  start(endpoint("eu.test", eu_.port()) + ", " + endpoint("us.test", us_.port(), ", priority: 1"),
        "  healthCheck: {active: {type: HTTP, interval: 1s, unhealthyThreshold: 1, http: {path: /}}}\n",
        "      sessionPersistence: {sessionName: s}\n");
  const std::string first = run({"curl", "-sS", "-i", "--max-time", "30", gateway_->url("/")}).output;
  ASSERT_THAT(first, HasSubstr("eu"));
  const std::size_t begin = first.find("s=", first.find("et-cookie: ")) + 2;
  const std::string cookie = "Cookie: s=" + first.substr(begin, first.find(';', begin) - begin);
  const auto again = [&] {
    return run({"curl", "-sS", "-i", "--max-time", "30", "-H", cookie, gateway_->url("/")}).output;
  };
  EXPECT_THAT(again(), AllOf(HasSubstr("eu"), Not(HasSubstr("et-cookie"))));
  isBusy_ = true;
  EXPECT_TRUE(eventually([&] {
    const std::string answer = again();
    return answer.ends_with("us") && answer.find("et-cookie") != std::string::npos;
  }));
}

TEST_F(BackendEndpoints, HaveTlsOfTheirOwn) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin secure(issueServer(root, "eu.test"));
  const std::string trust =
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: root}\ndata:\n"
      "  ca.crt: |\n";
  std::string lines;
  std::istringstream pem(root.certificate);
  for (std::string line; std::getline(pem, line);) lines += "    " + line + "\n";
  start(endpoint("eu.test", secure.port(), ", tls: {caBundleRef: [{name: root}]}") + ", " +
            endpoint("us.test", us_.port(), ", priority: 1"),
        trust + lines);
  EXPECT_THAT(ask(1).front(), HasSubstr("eu.test")) << "it echoes the server name";
  EXPECT_TRUE(us_.heads().empty());
}

TEST_F(BackendEndpoints, OfEnvoyGatewaysFallbackServeWhenTheOthersDoNot) {
  const auto backend = [](const std::string& name, const std::string& endpoint, const std::string& more) {
    return "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: " + name +
           "}\nspec: {endpoints: [" + endpoint + "]" + more + "}\n";
  };
  start(endpoint("eu.test", eu_.port()),
        backend("active", endpoint("eu.test", eu_.port()), "") +
            backend("passive", endpoint("us.test", us_.port()), ", fallback: true"),
        kRetryTwice + ("    - matches: [{path: {value: /envoy}}]\n" + std::string(kRetryTwice)) +
            "      backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: passive}, {group: "
            "gateway.envoyproxy.io, kind: Backend, name: active}]\n");
  EXPECT_THAT(ask(10, "/envoy"), Each("eu"));
  isBusy_ = true;
  EXPECT_THAT(ask(20, "/envoy"), Each("us"));
  EXPECT_EQ(eu_.heads().size(), 15u);
}

}  // namespace
}  // namespace sluice::test
