// Tests attacks by way of fail-over and retries: clients whose requests make Backends fail, and gateways in a row that
// each try again. The victim is a client whose own requests a Backend could serve.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

constexpr const char* kTightBudget = "retry: {budget: {percent: 20, minPerSecond: 0}}\n";
constexpr const char* kPoison = "GET /shared HTTP/1.1\r\nHost: a\r\nX-Effect: poison all\r\n\r\n";
constexpr const char* kLimited = "GET /shared HTTP/1.1\r\nHost: a\r\nX-Effect: limited\r\n\r\n";

std::string answerWith(const std::string& status, const std::string& fields = {}) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n" + fields + "\r\n";
}
std::string asking(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

/// An origin that treats a request as the client asks: X-Effect is "poison all" for a 500, or "poison" with the
/// origin's name, and "limited" for a 429 with Retry-After.
class ObligingOrigin {
 public:
  explicit ObligingOrigin(std::string name) : name_(std::move(name)) {}
  std::uint16_t port() const { return origin_.port(); }
  std::size_t asked() const { return origin_.heads().size(); }

 private:
  void serve(BlockingSocket& socket, RawOrigin& self) {
    for (std::string head = self.readHead(socket); !head.empty(); head = self.readHead(socket)) {
      readRequestBody(socket, head);
      if (head.find("poison all") != std::string::npos || head.find("poison " + name_) != std::string::npos) {
        socket.send(answerWith("500 Internal Server Error"));
      } else if (head.find("limited") != std::string::npos) {
        socket.send(answerWith("429 Too Many Requests", "Retry-After: 1000\r\n"));
      } else {
        socket.send(saying(name_));
      }
    }
  }

  const std::string name_;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) { serve(socket, self); }};
};

/// Two rules, /shared and /apart, with the same Backends: "first", and "second", which is its standby.
class FailoverAttacks : public testing::Test {
 protected:
  GatewaySpec spec(const std::string& failover = {}, const std::string& passive = {}) const {
    GatewaySpec spec;
    spec.workers = 2;
    spec.release = true;
    spec.accessLog = "off";
    spec.settings = kTightBudget + onlyTimeouts("request: 24h");
    spec.startedBy = time_.startedBy();
    spec.backends = {{.name = "first", .hostname = "first.test", .port = firstPort_ != 0 ? firstPort_ : first_.port()},
                     {.name = "second", .hostname = "second.test", .port = second_.port()}};
    std::string rules;
    for (const char* path : {"/shared", "/apart"}) {
      rules += std::string("    - matches: [{path: {type: PathPrefix, value: ") + path + "}}]\n      backendRefs: [" +
               backendRef("first") + ", " + backendRef("second", ", weight: 0") + "]\n";
    }
    spec.routes = routeOfRules(rules) +
                  "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: p}\n"
                  "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
                  "  retry: {codes: [429, 500, 503], attempts: 2, backoff: 1ms}\n  failover: {priorities: "
                  "[{backendRef: " +
                  backendRef("second") + ", priority: 1}]" + failover + "}\n" + passive;
    return spec;
  }
  static std::string bodyFrom(const GatewayProcess& gateway, const std::string& path) {
    const ReceivedResponse answer = askRaw(gateway.port(), asking(path));
    return answer.status == 200 ? answer.body : std::to_string(answer.status);
  }
  static void attackWith(const GatewayProcess& gateway, const std::string& request, int times) {
    BlockingSocket attacker = BlockingSocket::connect(gateway.port());
    for (int i = 0; i < times; ++i) ASSERT_NE(askRaw(attacker, request).status, 0);
  }

  ObligingOrigin first_{"first"};
  ObligingOrigin second_{"second"};
  std::uint16_t firstPort_ = 0;  // in the place of that of first_
  PassedTime time_;
};

TEST_F(FailoverAttacks, ADeadPrimaryLeavesTheRetriesToItsSecondary) {
  firstPort_ = freePort();
  GatewayProcess gateway(spec());
  Attack attack(gateway, [&gateway] { return bodyFrom(gateway, "/shared") == "second"; });
  for (int i = 0; i < inThisRun(100, 1000); ++i) ASSERT_EQ(bodyFrom(gateway, "/shared"), "second") << i;
  attack.stands();
  EXPECT_EQ(gateway.limitHits("retryBudget"), 0);
}

// The attacker's requests fail everywhere, and use up the rule's budget of retries.
TEST_F(FailoverAttacks, AClientWhoseRequestsFailEjectsNoBackendForOthers) {
  GatewayProcess gateway(spec());
  Attack attack(gateway, [&gateway] {
    return bodyFrom(gateway, "/apart") == "first" && bodyFrom(gateway, "/shared").size() > 3;
  });
  attackWith(gateway, kPoison, inThisRun(40, 1000));
  EXPECT_TRUE(gateway.limitWasHit("retryBudget")) << "the attack stands";
  attack.stands();
  attackWith(gateway, kPoison, inThisRun(40, 1000));
  attack.stands();
}

TEST_F(FailoverAttacks, AClientWhoseKeyIsLimitedEjectsNoBackendForOtherRules) {
  GatewayProcess gateway(spec());
  Attack attack(gateway, [&gateway] { return bodyFrom(gateway, "/apart") == "first"; });
  attackWith(gateway, kLimited, 10);
  EXPECT_EQ(bodyFrom(gateway, "/shared"), "first") << "both rest, so the first is as good as the second";
  attack.stands();
}

TEST_F(FailoverAttacks, AClientWithALimitedKeyOfItsOwnTakesNothingIfEjectionsAreTurnedOff) {
  GatewayProcess gateway(spec(", maxRetryAfter: 0s"));
  Attack attack(gateway, [&gateway] { return bodyFrom(gateway, "/shared") == "first"; });
  attackWith(gateway, kLimited, inThisRun(40, 1000));
  attack.stands();
}

// One request probes whether a Backend serves again. An upload that does not end never gives a result.
TEST_F(FailoverAttacks, UploadsThatDoNotEndEjectNoBackendForOthers) {
  GatewayProcess gateway(
      spec({}, "  healthCheck: {passive: {consecutive5XxErrors: 1, baseEjectionTime: 30s, maxEjectionTime: 30s}}\n"));
  Attack attack(gateway, [&gateway] { return bodyFrom(gateway, "/shared").size() > 3; });
  attackWith(gateway, "GET /shared HTTP/1.1\r\nHost: a\r\nX-Effect: poison first\r\n\r\n", 1);
  ASSERT_EQ(bodyFrom(gateway, "/shared"), "second") << "the first rests";
  time_.pass(gateway, std::chrono::seconds(31));
  std::vector<BlockingSocket> attackers;
  const std::size_t askedOfFirst = first_.asked();
  const std::size_t askedOfSecond = second_.asked();
  const auto count = static_cast<std::size_t>(inThisRun(20, 200));
  for (std::size_t i = 0; i < count; ++i) {
    attackers.push_back(BlockingSocket::connect(gateway.port()));
    ASSERT_TRUE(attackers.back().send("POST /shared HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx"));
  }
  ASSERT_TRUE(eventually([&] { return second_.asked() == askedOfSecond + count - 1; }));
  ASSERT_TRUE(eventually([&] { return first_.asked() == askedOfFirst + 1; })) << "one of them should find out";
  attack.stands();
  time_.pass(gateway, std::chrono::seconds(6));
  EXPECT_EQ(bodyFrom(gateway, "/shared"), "first") << "the victim's request finds out";
  attack.stands();
}

// Each of two gateways in a row may make ten more attempts. The origin sees those of the last one alone, as far as its
// budget allows them.
TEST(GatewaysInARow, DoNotMultiplyTheirRetries) {
  const RawOrigin failing(RawOrigin::answering(answerWith("503 Service Unavailable")));
  const RawOrigin serving(RawOrigin::answering(saying("serving")));
  const std::string rules = routeOfRules(
      "    - matches: [{path: {type: PathPrefix, value: /failing}}]\n"
      "      retry: {codes: [503], attempts: 10, backoff: 1ms}\n      backendRefs: [" +
      backendRef("failing") + "]\n    - backendRefs: [" + backendRef("serving") + "]\n");
  const GatewayProcess last({.backends = {{.name = "failing", .hostname = "failing.test", .port = failing.port()},
                                          {.name = "serving", .hostname = "serving.test", .port = serving.port()}},
                             .settings = kTightBudget,
                             .routes = rules,
                             .release = true,
                             .accessLog = "off"});
  GatewayProcess first({.backends = {{.name = "failing", .hostname = "gateway.test", .port = last.port()},
                                     {.name = "serving", .hostname = "gateway.test", .port = last.port()}},
                        .settings = kTightBudget,
                        .routes = rules,
                        .release = true,
                        .accessLog = "off"});
  Attack attack(first, [&first] { return askRaw(first.port(), asking("/")).body == "serving"; });
  const auto requests = static_cast<std::size_t>(inThisRun(100, 1000));
  BlockingSocket attacker = BlockingSocket::connect(first.port());
  for (std::size_t i = 0; i < requests; ++i) ASSERT_EQ(askRaw(attacker, asking("/failing")).status, 503);
  attack.stands();
  EXPECT_LE(failing.heads().size(), requests * 120 / 100) << "a fifth more by the last gateway alone";
  EXPECT_GE(failing.heads().size(), requests * 110 / 100);
}

}  // namespace
}  // namespace sluice::test
