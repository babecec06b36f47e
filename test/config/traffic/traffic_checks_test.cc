// Tests the reader of active health checks in TrafficPolicies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/config/traffic/own_traffic.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TrafficPolicies, HaveActiveChecksOfEachType) {
  const ActiveHealthSettings http = trafficWith(
                                        "healthCheck: {active: {type: HTTP, timeout: 2s, interval: 10s, "
                                        "unhealthyThreshold: 4, healthyThreshold: 5, http: "
                                        "{hostname: h.test, path: \"/a?b=c\", expectedStatuses: [200, 204]}}}")
                                        .activeHealth->at(0);
  EXPECT_EQ(http.type, ActiveHealthSettings::Type::kHttp);
  EXPECT_EQ(http.timeout, std::chrono::seconds(2));
  EXPECT_EQ(http.interval, std::chrono::seconds(10));
  EXPECT_EQ(http.unhealthyThreshold, 4u);
  EXPECT_EQ(http.healthyThreshold, 5u);
  EXPECT_EQ(http.hostname, "h.test");
  EXPECT_EQ(http.path, "/a?b=c");
  EXPECT_THAT(http.expectedStatuses, ::testing::ElementsAre(200, 204));
  const ActiveHealthSettings grpc =
      trafficWith("healthCheck: {active: {type: GRPC, grpc: {hostname: g.test, service: a.B}}}").activeHealth->at(0);
  EXPECT_EQ(grpc.type, ActiveHealthSettings::Type::kGrpc);
  EXPECT_EQ(grpc.hostname, "g.test");
  EXPECT_EQ(grpc.service, "a.B");
  const ActiveHealthSettings tcp = trafficWith("healthCheck: {active: {type: TCP}}").activeHealth->at(0);
  EXPECT_EQ(tcp.timeout, std::chrono::seconds(1));
  EXPECT_EQ(tcp.interval, std::chrono::seconds(3));
  EXPECT_EQ(tcp.unhealthyThreshold, 3u);
  EXPECT_EQ(tcp.healthyThreshold, 1u);
  const ActiveHealthSettings byDefault =
      trafficWith("healthCheck: {active: {type: HTTP, http: {path: /}}}").activeHealth->at(0);
  EXPECT_THAT(byDefault.expectedStatuses, ::testing::ElementsAre(200));
  EXPECT_EQ(byDefault.method, "GET");
  EXPECT_EQ(byDefault.unhealthyInterval, base::Duration::zero());
  const ActiveHealthSettings more = trafficWith(
                                        "healthCheck: {active: {type: TCP, unhealthyInterval: 9s, initialJitter: 2s, "
                                        "tcp: {send: {type: Text, text: PING}, receive: {type: Binary, binary: "
                                        "UE9ORw==}}}}")
                                        .activeHealth->at(0);
  EXPECT_EQ(more.unhealthyInterval, std::chrono::seconds(9));
  EXPECT_EQ(more.initialJitter, std::chrono::seconds(2));
  EXPECT_EQ(more.send, "PING");
  EXPECT_EQ(more.expected, "PONG");
}

TEST(TrafficPolicies, HaveOneActiveCheckOrSeveral) {
  const TrafficPolicy several = trafficWith(
      "healthCheck: {active: [{type: TCP, interval: 9s}, {type: HTTP, log: All, http: {path: /}}, {type: GRPC, log: "
      "Off}, {type: TCP, port: 9000}]}");
  ASSERT_EQ(several.activeHealth->size(), 4u);
  EXPECT_EQ(several.activeHealth->at(0).interval, std::chrono::seconds(9));
  EXPECT_EQ(several.activeHealth->at(0).log, base::CheckLog::kTransitions);
  EXPECT_EQ(several.activeHealth->at(1).type, ActiveHealthSettings::Type::kHttp);
  EXPECT_EQ(several.activeHealth->at(1).log, base::CheckLog::kAll);
  EXPECT_EQ(several.activeHealth->at(2).log, base::CheckLog::kOff);
  EXPECT_EQ(several.activeHealth->at(3).port, 9000);
  EXPECT_EQ(trafficWith("healthCheck: {active: [{type: TCP}]}").activeHealth->size(), 1u);
  EXPECT_EQ(trafficWith("healthCheck: {active: {type: TCP, log: Transitions}}").activeHealth->size(), 1u);
}

TEST(TrafficPolicies, MayGiveHeadersToTheirChecks) {
  const std::string headers =
      "[{name: Authorization, value: \"Bearer abc\"}, {name: x-a, value: \"1\"}, {name: X-A, value: \"2\"}]";
  const ActiveHealthSettings check =
      trafficWith("healthCheck: {active: {type: HTTP, http: {path: /, headers: " + headers + "}}}").activeHealth->at(0);
  std::vector<std::string> read;
  for (const HeaderValue& each : check.headers) read.push_back(each.name + ": " + each.value);
  EXPECT_THAT(read, ::testing::ElementsAre("authorization: Bearer abc", "x-a: 1", "x-a: 2"));
}

TEST(TrafficPolicies, MayCheckAnotherPortWithOtherTls) {
  const auto check = [](const std::string& fields) {
    return trafficWith("healthCheck: {active: {type: HTTP, http: {path: /}, " + fields + "}}").activeHealth->at(0);
  };
  const ActiveHealthSettings plain = check("port: 9000, tls: {mode: None}");
  EXPECT_EQ(plain.port, 9000);
  EXPECT_TRUE(plain.plain);
  const ActiveHealthSettings named = check("tls: {sni: Health.Test, insecureSkipVerify: true}");
  EXPECT_EQ(named.port, 0);
  EXPECT_FALSE(named.plain);
  EXPECT_EQ(named.serverName, "health.test");
  EXPECT_TRUE(named.insecureSkipVerify);
}

TEST(TrafficPolicies, AreCheckedOnceASecondAtMost) {
  const auto noted = [](const std::string& fields) {
    std::vector<std::string> notes;
    for (const UnsupportedField& each : trafficWith("healthCheck: {active: {type: TCP, " + fields + "}}").unsupported) {
      EXPECT_FALSE(each.altersTraffic) << "the checks go on";
      notes.push_back(each.path + ": " + each.message);
    }
    return notes;
  };
  const auto check = [](const std::string& fields) {
    return trafficWith("healthCheck: {active: {type: TCP, " + fields + "}}").activeHealth->at(0);
  };
  EXPECT_EQ(check("interval: 50ms").interval, std::chrono::seconds(1));
  EXPECT_EQ(check("unhealthyInterval: 999ms").unhealthyInterval, std::chrono::seconds(1));
  EXPECT_THAT(noted("interval: 50ms, unhealthyInterval: 999ms"),
              ::testing::ElementsAre("spec.healthCheck.active.interval: is shorter than 1s, which applies instead",
                                     HasSubstr("spec.healthCheck.active.unhealthyInterval: is shorter than 1s")));
  EXPECT_EQ(check("interval: 1s, unhealthyInterval: 1001ms").interval, std::chrono::seconds(1));
  EXPECT_THAT(noted("interval: 1s, unhealthyInterval: 1001ms"), IsEmpty());
}

TEST(TrafficPolicies, TakeUpTo256BytesAsThePayloadOfAHealthCheck) {
  const auto problems = [](const std::string& payload) {
    return rendered(loadTraffic(std::string(kTrafficTarget) + ", healthCheck: {active: {type: TCP, tcp: {send: {" +
                                payload + "}, receive: {" + payload + "}}}}")
                        .problems);
  };
  // These are 2052 bits, of which the last four are none of the 256 bytes.
  const std::string most = std::string(342, 'A') + "==";
  EXPECT_THAT(problems("type: Text, text: " + std::string(256, 'a')), IsEmpty());
  EXPECT_THAT(problems("type: Binary, binary: \"" + most + "\""), IsEmpty());
  EXPECT_THAT(problems("type: Text, text: " + std::string(257, 'a')),
              ::testing::ElementsAre(HasSubstr("active.tcp.send.text: is longer than 256 bytes"),
                                     HasSubstr("active.tcp.receive.text: is longer than 256 bytes")));
  for (const std::string& tooLong : {std::string(343, 'A') + "=", std::string(348, 'A')}) {
    EXPECT_THAT(problems("type: Binary, binary: \"" + tooLong + "\""),
                ::testing::Each(HasSubstr(".binary: is longer than ")));
    EXPECT_EQ(problems("type: Binary, binary: \"" + tooLong + "\"").size(), 2U);
  }
}

TEST(TrafficPolicies, SayWhatIsWrongWithTheirHealthChecks) {
  const std::string target = std::string(kTrafficTarget) + ", ";
  const std::pair<std::string, const char*> wrong[] = {
      {target + "healthCheck: {}", "spec.healthCheck: must have active or passive"},
      {target + "healthCheck: {active: {}}", "spec.healthCheck.active.type: is required"},
      {target + "healthCheck: {active: {type: UDP}}", "spec.healthCheck.active.type: "},
      {target + "healthCheck: {active: {type: TCP, tls: {}}}", "active.tls: is not for the type TCP"},
      {target + "healthCheck: {active: {type: GRPC, tls: {mode: None, sni: a.test}}}",
       "active.tls.sni: must not be given with mode None"},
      {target + "healthCheck: {active: {type: GRPC, overrides: {port: 1}}}", "active.overrides: unknown field"},
      {target + "healthCheck: {active: {type: HTTP}}", "spec.healthCheck.active.http: is required"},
      {target + "healthCheck: {active: {type: HTTP, http: {}}}", "spec.healthCheck.active.http.path: is required"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: a}}}", "active.http.path: must be a path"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: /, expectedStatuses: [600]}}}", "expectedStatuses[0]"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: /, expectedStatuses: []}}}",
       "active.http.expectedStatuses: must have at least one item"},
      {target + "healthCheck: {active: {type: HTTP, http: {path: /, method: HEAD, expectedResponse: {type: Text, text: "
                "a}}}}",
       "active.http.expectedResponse: must not be given with method HEAD"},
      {target + "healthCheck: {active: {type: TCP, http: {path: /}}}", "active.http: is for the type HTTP alone"},
      {target + "healthCheck: {active: {type: TCP, grpc: {}}}", "active.grpc: is for the type GRPC alone"},
      {target + "healthCheck: {active: {type: TCP, interval: 0s}}", "active.interval: must not be zero"},
      {target + "healthCheck: {active: {type: TCP, unhealthyInterval: 0s}}", "unhealthyInterval: must not be zero"},
      {target + "healthCheck: {active: {type: GRPC, tcp: {}}}", "active.tcp: is for the type TCP alone"},
      {target + "healthCheck: {active: {type: TCP, tcp: {send: {type: Text}}}}", "tcp.send.text: goes with type Text"},
      {target + "healthCheck: {active: {type: TCP, tcp: {send: {type: Binary, binary: '%'}}}}",
       "send.binary: must be base64"},
      {target + "healthCheck: {active: {type: TCP, tcp: {send: {type: Text, text: a, binary: YQ==}}}}",
       "send.binary: goes with type Binary"},
      {target + "healthCheck: {active: {type: TCP, timeout: 0s}}", "active.timeout: must not be zero"},
      {target + "healthCheck: {active: {type: TCP, healthyThreshold: 0}}", "active.healthyThreshold: "},
      {target + "healthCheck: {passive: {consecutive5XxErrors: 1001}}", "passive.consecutive5XxErrors: "},
      {target + "healthCheck: {passive: {consecutiveGatewayErrors: -1}}", "passive.consecutiveGatewayErrors: "},
      {target + "healthCheck: {passive: {failurePercentage: {}}}", "failurePercentage.threshold: is required"},
      {target + "healthCheck: {passive: {failurePercentage: {threshold: 101}}}", "failurePercentage.threshold: "},
      {target + "healthCheck: {passive: {failurePercentage: {threshold: 1, minimumRequests: 0}}}",
       "failurePercentage.minimumRequests: "},
      {target + "healthCheck: {passive: {interval: 0s}}", "passive.interval: must not be zero"},
      {target + "healthCheck: {passive: {maxEjectionPercent: 101}}", "passive.maxEjectionPercent: "},
      {target + "healthCheck: {passive: {baseEjectionTime: 0s}}", "passive.baseEjectionTime: must not be zero"},
      {target + "healthCheck: {passive: {maxEjectionTime: 1s}}", "maxEjectionTime: must not be less than"},
  };
  for (const auto& [spec, what] : wrong) {
    EXPECT_THAT(rendered(loadTraffic(spec).problems), Contains(HasSubstr(what))) << spec;
  }
}

TEST(TrafficPolicies, SayWhichHeadersAreNotForChecks) {
  std::string seventeen;
  for (char name = 'a'; name < 'r'; ++name) {
    seventeen += std::string(seventeen.empty() ? "" : ", ") + "{name: " + name + ", value: v}";
  }
  const std::pair<std::string, const char*> wrong[] = {
      {"{name: Host, value: a.test}", "headers[0].name: must not be Host: hostname is the Host of a check"},
      {"{name: Content-Length, value: \"1\"}", "headers[0].name: must not be \"content-length\""},
      {"{name: Transfer-Encoding, value: chunked}", "headers[0].name: must not be"},
      {"{name: Connection, value: close}", "headers[0].name: must not be"},
      {"{name: TE, value: trailers}", "headers[0].name: must not be"},
      {"{name: Proxy-Authorization, value: a}", "headers[0].name: must not be"},
      {"{name: \":path\", value: a}", "headers[0].name: must be a header name, but is \":path\""},
      {"{name: \"a b\", value: a}", "headers[0].name: must be a header name"},
      {"{name: a}", "headers[0].value: is required"},
      {"{value: a}", "headers[0].name: is required"},
      {"{name: a, value: \"\"}", "headers[0].value: must not be empty"},
      {"{name: a, value: \" b\"}", "headers[0].value: must be a header value"},
      {"{name: a, value: \"b\\r\\nc: d\"}", "headers[0].value: must be a header value"},
      {"{name: a, value: b, from: c}", "headers[0].from: unknown field"},
      {seventeen, "http.headers: has 17 items; at most 16 are allowed"},
  };
  for (const auto& [headers, what] : wrong) {
    const std::string check = "{type: HTTP, http: {path: /, headers: [" + headers + "]}}";
    EXPECT_THAT(rendered(loadTraffic(std::string(kTrafficTarget) + ", healthCheck: {active: " + check + "}").problems),
                Contains(HasSubstr(what)))
        << headers;
  }
}

TEST(TrafficPolicies, QuoteNoValueOfAHeaderOfTheirChecks) {
  for (const char* value : {"\"hidden\\u00e9\"", "[hidden]", "{hidden: a}", "\" hidden\""}) {
    const Configuration configuration = loadTraffic(
        std::string(kTrafficTarget) +
        ", healthCheck: {active: {type: HTTP, http: {path: /, headers: [{name: a, value: " + value + "}]}}}");
    EXPECT_THAT(rendered(configuration.problems), Contains(HasSubstr("headers[0].value: "))) << value;
    EXPECT_THAT(rendered(configuration.problems), ::testing::Not(Contains(HasSubstr("hidden")))) << value;
  }
}

}  // namespace
}  // namespace sluice::config
