#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTrafficTarget =
    "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r, sectionName: chat}]";

Configuration loadTraffic(const std::string& spec) {
  return loadText(object("sluice.dev/v1alpha1", "TrafficPolicy", "p", "spec: {" + spec + "}\n"));
}
TrafficPolicy trafficWith(const std::string& fields) {
  const Configuration configuration = loadTraffic(std::string(kTrafficTarget) + ", " + fields);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  return configuration.model.all<TrafficPolicy>().at(0);
}

TEST(TrafficPolicies, AreReadAsTheyAreWritten) {
  const TrafficPolicy policy = trafficWith(
      "retry: {codes: [503], attempts: 2}, failover: {priorities: [{backendRef: {group: sluice.dev, kind: Backend, "
      "name: first, namespace: other, port: 443}, priority: 0}, {backendRef: {name: second}, priority: 3}], "
      "overprovisioningFactor: 100, maxRetryAfter: 5m}, healthCheck: {passive: {consecutive5XxErrors: 2, "
      "baseEjectionTime: 1s, maxEjectionTime: 10s}}");
  EXPECT_EQ(policy.targets.at(0).sectionName, "chat");
  EXPECT_EQ(policy.retry->attempts, 2u);
  ASSERT_EQ(policy.failover->priorities.size(), 2u);
  EXPECT_EQ(policy.failover->priorities[0].backendRef.object.nameSpace, "other");
  EXPECT_EQ(policy.failover->priorities[0].backendRef.port, 443);
  EXPECT_EQ(policy.failover->priorities[1].backendRef.object.kind, "Service");
  EXPECT_EQ(policy.failover->priorities[1].priority, 3u);
  EXPECT_EQ(policy.failover->overprovisioningFactor, 100u);
  EXPECT_EQ(policy.failover->maxRetryAfter, std::chrono::minutes(5));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 2u);
  EXPECT_EQ(policy.passiveHealth->baseEjectionTime, std::chrono::seconds(1));
  EXPECT_EQ(policy.passiveHealth->maxEjectionTime, std::chrono::seconds(10));
}

TEST(TrafficPolicies, HaveDefaults) {
  const TrafficPolicy policy = trafficWith("failover: {}, healthCheck: {passive: {}}");
  EXPECT_FALSE(policy.retry);
  EXPECT_EQ(policy.failover->overprovisioningFactor, 140u);
  EXPECT_EQ(policy.failover->maxRetryAfter, std::chrono::minutes(1));
  EXPECT_EQ(policy.passiveHealth->consecutive5XxErrors, 5u);
  EXPECT_EQ(policy.passiveHealth->baseEjectionTime, std::chrono::seconds(30));
  EXPECT_EQ(policy.passiveHealth->maxEjectionTime, std::chrono::minutes(5));
  EXPECT_EQ(trafficWith("healthCheck: {passive: {baseEjectionTime: 10m}}").passiveHealth->maxEjectionTime,
            std::chrono::minutes(10));
}

TEST(TrafficPolicies, SayWhatIsWrongWithThem) {
  const std::string target = std::string(kTrafficTarget) + ", ";
  const std::string one = "{backendRef: {name: a}, priority: 0}";
  const std::pair<std::string, const char*> wrong[] = {
      {"retry: {}", "spec.targetRefs: is required"},
      {"targetRefs: [], retry: {}", "spec.targetRefs: must have at least one item"},
      {kTrafficTarget, "spec: must have retry, failover or healthCheck"},
      {"targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], retry: {}",
       "spec.targetRefs[0]: must be an HTTPRoute or a GRPCRoute"},
      {"targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}, retry: {}", "spec.targetRef: "},
      {target + "failover: {priorities: [{priority: 0}]}", "spec.failover.priorities[0].backendRef: is required"},
      {target + "failover: {priorities: [{backendRef: {name: a}}]}", "spec.failover.priorities[0].priority: is"},
      {target + "failover: {priorities: [{backendRef: {name: a}, priority: 16}]}", "priorities[0].priority: "},
      {target + "failover: {priorities: [" + one + ", " + one + "]}", "priorities[1].backendRef: repeats one"},
      {target + "failover: {overprovisioningFactor: 99}", "spec.failover.overprovisioningFactor: "},
      {target + "failover: {maxRetryAfter: soon}", "spec.failover.maxRetryAfter: "},
      {target + "healthCheck: {}", "spec.healthCheck.passive: is required"},
      {target + "healthCheck: {passive: {consecutive5XxErrors: 0}}", "passive.consecutive5XxErrors: "},
      {target + "healthCheck: {passive: {baseEjectionTime: 0s}}", "passive.baseEjectionTime: must not be zero"},
      {target + "healthCheck: {passive: {maxEjectionTime: 1s}}", "maxEjectionTime: must not be less than"},
      {target + "surprise: 1", "spec.surprise: "},
  };
  for (const auto& [spec, what] : wrong) {
    EXPECT_THAT(rendered(loadTraffic(spec).problems), Contains(HasSubstr(what))) << spec;
  }
}

}  // namespace
}  // namespace sluice::config
