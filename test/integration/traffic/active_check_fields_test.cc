// Tests each field of active health checks through the binary, in every kind and form of policy: two Backends are
// checked in ways that differ in one field, and only one of them notices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kEmptyOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
constexpr const char* kFailing = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
constexpr const char* kNever = "99999h";
constexpr const char* kPatient = "timeout: 24h";

/// Two Backends, "one" and "other", each with a route of its own that leads to it.
class CheckFields : public testing::Test {
 protected:
  void start(std::uint16_t one, const SpelledPolicy& ofOne, std::uint16_t other, const SpelledPolicy& ofOther) {
    GatewaySpec spec;
    spec.backends = {{.name = "one", .hostname = "one.test", .port = one},
                     {.name = "other", .hostname = "other.test", .port = other}};
    spec.settings = onlyTimeouts("connect: 24h");
    spec.startedBy = time_.startedBy();
    for (const char* each : {"one", "other"}) {
      const std::string route = routeOfRules(ruleOfPrefix("/" + std::string(each), each));
      spec.routes += "---\n" + std::string(route).replace(route.find("name: all"), 9, "name: " + std::string(each));
    }
    spec.routes += ofOne.forTarget("kind: HTTPRoute, name: one", "one") +
                   ofOther.forTarget("kind: HTTPRoute, name: other", "other");
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// Returns "1" for a Backend that is healthy, "0" for one that is not, and "" if no check has a result yet.
  std::string healthOf(const std::string& backend) const {
    const std::string metrics = gateway_->metrics();
    const std::size_t at = metrics.find("sluice_upstream_endpoint_healthy{backend=\"test/" + backend + "\"");
    return at == std::string::npos ? "" : metrics.substr(metrics.find("} ", at) + 2, 1);
  }
  bool becomes(const std::string& backend, const std::string& health) const {
    return eventually([&] { return healthOf(backend) == health; });
  }
  /// Lets hours pass in steps until that holds; returns false if it never does.
  bool passUntil(const std::function<bool()>& holds) {
    return eventually([&] {
      time_.pass(*gateway_, seconds(500));
      return holds();
    });
  }

  PassedTime time_;
  std::unique_ptr<GatewayProcess> gateway_;
};

/// Returns a policy in each spelling that has active.type HTTP with the path /healthz and an interval of 1s;
/// `shared` and `proposed` are further fields of http.
std::vector<SpelledPolicy> askingOften(const std::string& shared, const std::string& proposed) {
  return everySpelling(
      "healthCheck: {active: {type: HTTP, interval: 1s, unhealthyThreshold: 1, http: {path: /healthz" + shared + "}}}",
      "healthChecking: {activeChecks: [{type: http, healthyCheckInterval: 1s, unhealthyCheckInterval: 1s, "
      "unhealthyThreshold: 1, http: {path: /healthz" +
          proposed + "}}]}");
}

TEST_F(CheckFields, NameTheMethodAndTheHost) {
  const std::vector<SpelledPolicy> named = askingOften(", hostname: health.test", ", hostname: health.test");
  for (std::size_t i = 0; i < named.size(); ++i) {
    const RecordingOrigin one([](std::size_t) { return kEmptyOk; });
    const RecordingOrigin other([](std::size_t) { return kEmptyOk; });
    const SpelledPolicy byMethod = askingOften(", method: " + std::string(i == 0 ? "OPTIONS" : "HEAD"), "").at(i);
    start(one.port(), named[i], other.port(), byMethod);
    ASSERT_TRUE(becomes("one", "1") && becomes("other", "1")) << named[i].fields;
    EXPECT_THAT(one.heads().front(), HasSubstr("GET /healthz HTTP/1.1\r\n"));
    EXPECT_THAT(one.heads().front(), HasSubstr("host: health.test\r\n"));
    const char* methods[] = {"OPTIONS /healthz ", "HEAD /healthz ", "GET /healthz "};
    EXPECT_THAT(other.heads().front(), HasSubstr(methods[i])) << byMethod.fields;
    EXPECT_THAT(other.heads().front(), HasSubstr("host: other.test")) << byMethod.fields;
  }
}

TEST_F(CheckFields, SetTheHealthyStatuses) {
  const std::vector<SpelledPolicy> several =
      askingOften(", expectedStatuses: [202, 204]", ", expectedStatuses: [{min: 202, max: 204}]");
  const std::vector<SpelledPolicy> usual = askingOften("", "");
  for (std::size_t i = 0; i < several.size(); ++i) {
    const RecordingOrigin origin([](std::size_t) { return "HTTP/1.1 204 No Content\r\n\r\n"; });
    start(origin.port(), several[i], origin.port(), usual[i]);
    EXPECT_TRUE(becomes("one", "1")) << several[i].fields;
    EXPECT_TRUE(becomes("other", "0")) << usual[i].fields;
  }
}

TEST_F(CheckFields, SetTheExpectedAnswer) {
  const std::string good[] = {", expectedResponse: {type: Text, text: fine}",
                              ", expectedResponse: {type: Binary, binary: ZmluZQ==}"};
  const std::string wrong[] = {", expectedResponse: {type: Text, text: poor}",
                               ", expectedResponse: {type: Binary, binary: cG9vcg==}"};
  for (std::size_t kind = 0; kind < 2; ++kind) {
    for (std::size_t type = 0; type < 2; ++type) {
      const RecordingOrigin origin([](std::size_t) { return saying("all is fine here"); });
      const SpelledPolicy expecting = askingOften(good[type], "").at(kind);
      start(origin.port(), expecting, origin.port(), askingOften(wrong[type], "").at(kind));
      EXPECT_TRUE(becomes("one", "1")) << expecting.fields;
      EXPECT_TRUE(becomes("other", "0")) << expecting.fields;
      EXPECT_TRUE(gateway_->process().waitUntilSaid("its answer lacks what is expected", 1));
    }
  }
}

TEST_F(CheckFields, SetWhatIsSentAndExpectedOverTcp) {
  const RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    if (socket.readExactly(4) == "PING") socket.send("well, PONG!");
    self.waitUntilItStops();
  });
  const std::string head =
      "healthCheck: {active: {type: TCP, interval: 1s, timeout: 10s, unhealthyThreshold: 1, tcp: {";
  const std::vector<SpelledPolicy> good =
      bothKinds(head + "send: {type: Binary, binary: UElORw==}, receive: {type: Binary, binary: UE9ORw==}}}}");
  const std::vector<SpelledPolicy> wrong =
      bothKinds(head + "send: {type: Text, text: PING}, receive: {type: Text, text: POOH}}}}");
  const std::vector<SpelledPolicy> silent =
      bothKinds(head + "send: {type: Text, text: SONG}, receive: {type: Text, text: PONG}}}}");
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const SpelledPolicy& bad : {wrong[i], silent[i]}) {
      start(origin.port(), good[i], origin.port(), bad);
      EXPECT_TRUE(becomes("one", "1")) << good[i].fields;
      time_.pass(*gateway_, seconds(20));
      EXPECT_TRUE(becomes("other", "0")) << bad.fields;
    }
  }
}

TEST_F(CheckFields, BoundTheTimeOfACheck) {
  const auto bounded = [](const std::string& time) {
    return everySpelling("healthCheck: {active: {type: HTTP, timeout: " + time + ", http: {path: /}}}",
                         "healthChecking: {activeChecks: [{type: http, connectionTimeout: " + time + "}]}");
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const auto hanging = [](BlockingSocket& socket, RawOrigin& self) {
      self.readHead(socket);
      self.waitUntilItStops();
    };
    const RawOrigin one(hanging);
    const RawOrigin other(hanging);
    start(one.port(), bounded("24h")[i], other.port(), bounded("100s")[i]);
    ASSERT_TRUE(eventually([&] { return !one.heads().empty() && !other.heads().empty(); }));
    time_.pass(*gateway_, seconds(50));
    EXPECT_NE(healthOf("other"), "0") << i;
    time_.pass(*gateway_, seconds(100));
    EXPECT_TRUE(becomes("other", "0")) << i;
    EXPECT_NE(healthOf("one"), "0") << i;
    time_.pass(*gateway_, hours(25));
    EXPECT_TRUE(becomes("one", "0")) << i;
  }
}

TEST_F(CheckFields, SetHowOftenABackendIsChecked) {
  const auto every = [](const std::string& time) {
    return everySpelling(
        "healthCheck: {active: {type: HTTP, interval: " + time + ", " + kPatient + ", http: {path: /}}}",
        "healthChecking: {activeChecks: [{type: http, healthyCheckInterval: " + time + ", connectionTimeout: 24h}]}");
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const RecordingOrigin one([](std::size_t) { return kEmptyOk; });
    const RecordingOrigin other([](std::size_t) { return kEmptyOk; });
    start(one.port(), every(kNever)[i], other.port(), every("1000s")[i]);
    ASSERT_TRUE(becomes("one", "1") && becomes("other", "1")) << i;
    EXPECT_EQ(other.heads().size(), 1U) << i;
    EXPECT_TRUE(passUntil([&] { return other.heads().size() >= 4; })) << i;
    EXPECT_EQ(one.heads().size(), 1U) << i;
    time_.pass(*gateway_, hours(120'000));
    EXPECT_TRUE(one.hears(2)) << i;
  }
}

TEST_F(CheckFields, SetHowOftenAnUnhealthyBackendIsChecked) {
  const std::string intervals = std::string("healthCheck: {active: {type: HTTP, timeout: 24h, interval: ") + kNever;
  const std::string proposed =
      std::string("healthChecking: {activeChecks: [{type: http, connectionTimeout: 24h, healthyCheckInterval: ") +
      kNever;
  for (const auto& [often, seldom] :
       {std::pair(ownFields(intervals + ", unhealthyInterval: 1s, http: {path: /}}}"),
                  ownFields(intervals + ", http: {path: /}}}")),
        std::pair(envoyFields(proposed + ", unhealthyCheckInterval: 1s}]}"),
                  envoyFields(proposed + ", unhealthyCheckInterval: " + kNever + "}]}"))}) {
    const RecordingOrigin one([](std::size_t number) { return number < 5 ? kFailing : kEmptyOk; });
    const RecordingOrigin other([](std::size_t) { return kFailing; });
    start(one.port(), often, other.port(), seldom);
    EXPECT_TRUE(becomes("other", "0")) << seldom.fields;
    EXPECT_TRUE(passUntil([&] { return healthOf("one") == "1"; })) << often.fields;
    EXPECT_EQ(one.heads().size(), 6U) << often.fields << ": it is healthy again, and nobody asks for long";
    EXPECT_EQ(other.heads().size(), 1U) << seldom.fields;
  }
}

TEST_F(CheckFields, SpreadTheFirstCheck) {
  const std::vector<SpelledPolicy> late = bothKinds(std::string("healthCheck: {active: {type: HTTP, initialJitter: ") +
                                                    kNever + ", interval: 1s, http: {path: /}}}");
  const std::vector<SpelledPolicy> soon =
      bothKinds("healthCheck: {active: {type: HTTP, interval: 1s, http: {path: /}}}");
  for (std::size_t i = 0; i < late.size(); ++i) {
    const RecordingOrigin one([](std::size_t) { return kEmptyOk; });
    const RecordingOrigin other([](std::size_t) { return kEmptyOk; });
    start(one.port(), late[i], other.port(), soon[i]);
    EXPECT_TRUE(other.hears(2)) << late[i].fields;
    EXPECT_TRUE(one.heads().empty()) << late[i].fields;
    time_.pass(*gateway_, hours(100'000));
    EXPECT_TRUE(one.hears(1)) << late[i].fields;
  }
}

TEST_F(CheckFields, SetHowManyResultsInARowAreNeeded) {
  const auto counting = [](const std::string& thresholds) {
    return everySpelling(
        "healthCheck: {active: {type: HTTP, interval: 1s, timeout: 24h, " + thresholds + ", http: {path: /}}}",
        "healthChecking: {activeChecks: [{type: http, logging: {enabled: true}, healthyCheckInterval: 1s, "
        "unhealthyCheckInterval: 1s, connectionTimeout: 24h, " +
            thresholds + "}]}");
  };
  for (std::size_t i = 0; i < 3; ++i) {
    // Three failures in a row are too few, and four are enough.
    const RecordingOrigin one([](std::size_t number) {
      return (number >= 1 && number <= 3) || (number >= 5 && number <= 8) ? kFailing : kEmptyOk;
    });
    // A single success is too little, and three are enough.
    const RecordingOrigin other([](std::size_t number) { return number == 0 || number == 3 ? kFailing : kEmptyOk; });
    start(one.port(), counting("unhealthyThreshold: 4")[i], other.port(),
          counting("unhealthyThreshold: 1, healthyThreshold: 3")[i]);
    EXPECT_TRUE(passUntil([&] { return one.heads().size() >= 14 && other.heads().size() >= 14; })) << i;
    EXPECT_TRUE(gateway_->process().waitUntilSaid("\"message\":\"backend is ", 5));
    const std::string log = gateway_->process().errors();
    const auto changes = [&](const std::string& what, const std::string& backend) {
      return countOf(log,
                     "\"message\":\"backend is " + what + "\",\"attributes\":{\"backend\":\"test/" + backend + "\"");
    };
    EXPECT_EQ(changes("unhealthy", "one"), 1U) << i << log;
    EXPECT_EQ(changes("healthy", "one"), 2U) << i << log;
    EXPECT_EQ(changes("unhealthy", "other"), 1U) << i << log;
    EXPECT_EQ(changes("healthy", "other"), 1U) << i << log;
  }
}

TEST(CheckFieldsOfGrpc, NameTheServiceAndTheAuthority) {
  const GrpcOrigin origin(std::nullopt, "health_origin.mjs");  // a service with the name of the authority serves
  const std::string own = "healthCheck: {active: {type: GRPC, interval: 1s, timeout: 10s, grpc: {";
  const std::string proposed =
      "healthChecking: {activeChecks: [{type: grpc, logging: {enabled: true}, healthyCheckInterval: 1s, "
      "unhealthyCheckInterval: 1s, connectionTimeout: 10s, grpc: {";
  const std::pair<SpelledPolicy, int> cases[] = {
      {ownFields(own + "hostname: health.test, service: health.test}}}"), 1},
      {ownFields(own + "hostname: health.test, service: grpc.test}}}"), 0},
      {envoyFields(own + "service: up}}}"), 1},
      {envoyFields(own + "service: down}}}"), 0},
      {envoyFields(proposed + "upstreamName: up}}]}"), 1},
      {envoyFields(proposed + "upstreamName: down}}]}"), 0},
      {envoyFields(proposed + "upstreamName: health.test, authority: health.test}}]}"), 1},
  };
  for (const auto& [policy, healthy] : cases) {
    GatewaySpec spec;
    spec.backends = {{.name = "grpc", .hostname = "grpc.test", .port = origin.port()}};
    spec.routes =
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: test, name: calls}\n"
        "spec:\n  parentRefs: [{name: egress}]\n  rules: [{backendRefs: [" +
        backendRef("grpc") + "]}]\n" + policy.forTarget("kind: GRPCRoute, name: calls");
    GatewayProcess gateway(spec);
    const std::string said = healthy == 1 ? "backend is healthy" : "backend is unhealthy";
    EXPECT_TRUE(gateway.process().waitUntilSaid(said, 1)) << policy.fields << gateway.process().errors();
    EXPECT_EQ(gateway.metric("sluice_upstream_endpoint_healthy{backend=\"test/grpc\""), healthy) << policy.fields;
  }
}

}  // namespace
}  // namespace sluice::test
