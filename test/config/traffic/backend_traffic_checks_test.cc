// Tests the reader of active health checks in the two forms of BackendTrafficPolicy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/config/traffic/backend_traffic.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(BackendTrafficPolicies, CheckAsTheTwoFormsSay) {
  const ActiveHealthSettings shipped =
      backendTraffic(
          "healthCheck: {active: {type: HTTP, initialJitter: 4s, http: {path: /, "
          "method: OPTIONS, retriableStatuses: [503], expectedResponse: {type: Binary, "
          "binary: b2s=}}}}")
          .activeHealth->at(0);
  EXPECT_EQ(shipped.initialJitter, std::chrono::seconds(4));
  EXPECT_EQ(shipped.method, "OPTIONS");
  EXPECT_EQ(shipped.expected, "ok");
  const ActiveHealthSettings tcp = backendTraffic(
                                       "healthCheck: {active: {type: TCP, tcp: {send: {type: Text, text: PING}, "
                                       "receive: {type: Text, text: PONG}}}}")
                                       .activeHealth->at(0);
  EXPECT_EQ(tcp.send, "PING");
  EXPECT_EQ(tcp.expected, "PONG");
  const ActiveHealthSettings proposed = backendTraffic(
                                            "healthChecking: {activeChecks: [{type: http, connectionTimeout: 2s, "
                                            "unhealthyCheckInterval: 7s, unhealthyThreshold: 4, http: {path: /a, "
                                            "hostname: h.test, expectedStatuses: [{min: 200, max: 202}, {min: 301, "
                                            "max: 301}]}}]}")
                                            .activeHealth->at(0);
  EXPECT_EQ(proposed.timeout, std::chrono::seconds(2));
  EXPECT_EQ(proposed.interval, std::chrono::seconds(5));
  EXPECT_EQ(proposed.unhealthyInterval, std::chrono::seconds(7));
  EXPECT_EQ(proposed.unhealthyThreshold, 4u);
  EXPECT_EQ(proposed.path, "/a");
  EXPECT_EQ(proposed.hostname, "h.test");
  EXPECT_THAT(proposed.expectedStatuses, ElementsAre(200, 201, 202, 301));
}

TEST(BackendTrafficPolicies, HaveUpToFourActiveChecks) {
  std::string checks;
  for (const char* each : {"/1", "/2", "/3", "/4", "/5"}) {
    checks += (checks.empty() ? "" : ", ") + std::string("{type: http, http: {path: ") + each + "}}";
  }
  const TrafficPolicy five = backendTraffic("healthChecking: {activeChecks: [" + checks + "]}");
  EXPECT_THAT(unsupportedIn(five, /*closing=*/true), ElementsAre("spec.healthChecking.activeChecks[4]"));
  ASSERT_THAT(*five.activeHealth, SizeIs(4));
  EXPECT_EQ(five.activeHealth->at(3).path, "/4");
  EXPECT_FALSE(backendTraffic("healthChecking: {activeChecks: []}").activeHealth);
}

TEST(BackendTrafficPolicies, LogTheirChecksAsTheProposalSays) {
  const auto logOf = [](const std::string& logging) {
    const TrafficPolicy policy = backendTraffic("healthChecking: {activeChecks: [{type: http" + logging + "}]}");
    EXPECT_THAT(unsupportedIn(policy, /*closing=*/true), IsEmpty()) << logging;
    return policy.activeHealth->at(0).log;
  };
  EXPECT_EQ(logOf(""), base::CheckLog::kOff);
  EXPECT_EQ(logOf(", logging: {enabled: false}"), base::CheckLog::kOff);
  EXPECT_EQ(logOf(", logging: {enabled: true}"), base::CheckLog::kTransitions);
  EXPECT_EQ(logOf(", logging: {enabled: true, alwaysLogFailures: true}"), base::CheckLog::kAll);
  EXPECT_EQ(logOf(", logging: {alwaysLogFailures: true}"), base::CheckLog::kOff);
  EXPECT_THAT(unsupportedIn(
                  backendTraffic("healthChecking: {activeChecks: [{type: http, logging: {alwaysLogFailures: true}}]}")),
              ElementsAre("spec.healthChecking.activeChecks[0].logging.alwaysLogFailures"));
  EXPECT_EQ(backendTraffic("healthCheck: {active: {type: TCP}}").activeHealth->at(0).log, base::CheckLog::kTransitions);
}

TEST(BackendTrafficPolicies, AddHeadersToTheirChecks) {
  const auto checkOf = [](const std::string& http) {
    return backendTraffic("healthChecking: {activeChecks: [{type: http, http: {" + http + "}}]}");
  };
  const TrafficPolicy added = checkOf(
      "addRequestHeaders: {set: [{name: X-Token, value: a}, {name: x-token, value: b}], add: [{name: X-TOKEN, value: "
      "c}]}, removeRequestHeaders: [X-Other]");
  EXPECT_THAT(unsupportedIn(added), IsEmpty());
  std::vector<std::string> headers;
  for (const HeaderValue& each : added.activeHealth->at(0).headers) headers.push_back(each.name + "=" + each.value);
  EXPECT_THAT(headers, ElementsAre("x-token=a", "x-token=c"));
  EXPECT_THAT(unsupportedIn(checkOf("removeRequestHeaders: [User-Agent]"), /*closing=*/true),
              ElementsAre("spec.healthChecking.activeChecks[0].http.removeRequestHeaders[0]"));
  EXPECT_THAT(unsupportedIn(checkOf("addRequestHeaders: {set: [{name: User-Agent, value: a}]}, removeRequestHeaders: "
                                    "[User-Agent]")),
              IsEmpty())
      << "removal comes first";
}

TEST(BackendTrafficPolicies, SayWhichHeadersAreNotForChecks) {
  std::string nine;
  for (char name = 'a'; name <= 'i'; ++name)
    nine += std::string(nine.empty() ? "" : ", ") + "{name: " + name + ", value: v}";
  const std::pair<std::string, const char*> wrong[] = {
      {"removeRequestHeaders: [Host]", "http.removeRequestHeaders[0]: must not be Host"},
      {"addRequestHeaders: {add: [{name: host, value: a}]}", "addRequestHeaders.add[0].name: must not be Host"},
      {"addRequestHeaders: {set: [{name: Upgrade, value: a}]}", "addRequestHeaders.set[0].name: must not be"},
      {"addRequestHeaders: {set: [" + nine + "], add: [" + nine + "]}",
       "http.addRequestHeaders: has 18 header fields; at most 16 are allowed"},
  };
  for (const auto& [fields, what] : wrong) {
    const Configuration configuration =
        loadBackendTraffic("healthChecking: {activeChecks: [{type: http, http: {" + fields + "}}]}");
    EXPECT_THAT(rendered(configuration.problems), Contains(HasSubstr(what))) << fields;
  }
}

}  // namespace
}  // namespace sluice::config
