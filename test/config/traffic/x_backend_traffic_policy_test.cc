// Tests the reader of Gateway API's XBackendTrafficPolicy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "config/load/load.h"
#include "test/config/test_support.h"
#include "test/support/reference_page.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kToOneService = "targetRefs: [{group: '', kind: Service, name: s}]";

Configuration loadExperimental(const std::string& spec) {
  return loadText(
      object("gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy", "p", "spec: {" + spec + "}\n"));
}
TrafficPolicy experimentalWith(const std::string& fields) {
  const Configuration configuration = loadExperimental(kToOneService + (fields.empty() ? "" : ", " + fields));
  EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << fields;
  return configuration.model.all<TrafficPolicy>().at(0);
}

TEST(XBackendTrafficPolicies, HaveTheDefaultsOfTheirApi) {
  const TrafficPolicy empty = experimentalWith({});
  EXPECT_FALSE(empty.retryConstraint || empty.sessionPersistence);
  for (const char* fields : {"retryConstraint: {}", "retryConstraint: {budget: {}, minRetryRate: {}}"}) {
    const RetryConstraintFields constraint = *experimentalWith(fields).retryConstraint;
    EXPECT_EQ(constraint.percent, 20u);
    EXPECT_EQ(constraint.interval, std::chrono::seconds(10));
    EXPECT_EQ(constraint.minCount, 10u);
    EXPECT_EQ(constraint.minInterval, std::chrono::seconds(1));
  }
}

TEST(XBackendTrafficPolicies, AreReadAsTheyAreWritten) {
  const TrafficPolicy policy = experimentalWith(
      "retryConstraint: {budget: {percent: 0, interval: 1h}, minRetryRate: {count: 1000000, interval: 1ms}}, "
      "sessionPersistence: {sessionName: sid, type: Header, absoluteTimeout: 1h}");
  EXPECT_EQ(policy.targets.at(0).object.kind, "Service");
  EXPECT_EQ(policy.retryConstraint->percent, 0u);
  EXPECT_EQ(policy.retryConstraint->interval, std::chrono::hours(1));
  EXPECT_EQ(policy.retryConstraint->minCount, 1'000'000u);
  EXPECT_EQ(policy.retryConstraint->minInterval, std::chrono::milliseconds(1));
  EXPECT_EQ(policy.sessionPersistence->name, "sid");
  EXPECT_EQ(policy.sessionPersistence->type, SessionType::kHeader);
  EXPECT_EQ(policy.sessionPersistence->absoluteTimeout, std::chrono::hours(1));
}

TEST(XBackendTrafficPolicies, MayTargetBackendsOfEverySpelling) {
  for (const char* target :
       {"{group: sluice.dev, kind: Backend, name: b}", "{group: gateway.networking.k8s.io, kind: Backend, name: b}",
        "{group: gateway.networking.x-k8s.io, kind: XBackend, name: b}",
        "{group: ainetworking.prototype.x-k8s.io, kind: XBackendDestination, name: b}"}) {
    EXPECT_THAT(rendered(loadExperimental("targetRefs: [" + std::string(target) + "]").problems), IsEmpty()) << target;
  }
}

TEST(XBackendTrafficPolicies, SayWhatIsWrongWithThem) {
  const std::string target = std::string(kToOneService) + ", ";
  const std::pair<std::string, const char*> wrong[] = {
      {"retryConstraint: {}", "spec.targetRefs: is required"},
      {"targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]",
       "spec.targetRefs[0]: must be a Backend or a Service"},
      {"targetRefs: [{group: '', kind: Service, name: s, sectionName: web}]",
       "spec.targetRefs[0].sectionName: is not a field of this kind"},
      {target + "retryConstraint: {budget: {percent: 101}}", "spec.retryConstraint.budget.percent: "},
      {target + "retryConstraint: {budget: {interval: 999ms}}", "retryConstraint.budget.interval: is too short"},
      {target + "retryConstraint: {budget: {interval: 61m}}", "budget.interval: must not be longer than 1h"},
      {target + "retryConstraint: {minRetryRate: {count: 0}}", "spec.retryConstraint.minRetryRate.count: "},
      {target + "retryConstraint: {minRetryRate: {count: 1000001}}", "spec.retryConstraint.minRetryRate.count: "},
      {target + "retryConstraint: {minRetryRate: {interval: 0s}}", "minRetryRate.interval: is too short"},
      {target + "retryConstraint: {minRetryRate: {interval: 61m}}", "minRetryRate.interval: must not be longer"},
      {target + "retryConstraint: {percent: 1}", "spec.retryConstraint.percent: unknown field"},
      {target + "sessionPersistence: {cookieConfig: {lifetimeType: Permanent}}",
       "spec.sessionPersistence.absoluteTimeout: is required"},
      {target + "retry: {}", "spec.retry: unknown field"},
  };
  for (const auto& [spec, what] : wrong) {
    EXPECT_THAT(rendered(loadExperimental(spec).problems), Contains(HasSubstr(what))) << spec;
  }
}

TEST(XBackendTrafficPolicies, AreOfferedNoKindInPlaceOfOneThatExists) {
  EXPECT_THAT(
      rendered(loadExperimental("targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]").problems),
      ElementsAre(EndsWith("spec.targetRefs[0]: must be a Backend or a Service")));
  EXPECT_THAT(rendered(loadExperimental("targetRefs: [{group: apps, kind: Service, name: s}]").problems),
              ElementsAre(EndsWith("must be a Backend or a Service; did you mean Service of the core group?")));
}

TEST(XBackendTrafficPolicies, AreInTheReferenceWithEveryField) {
  std::string listed;
  for (const test::PageRow& row : test::pageTable(test::referencePage("traffic-policy.md"),
                                                  "| field of Gateway API's form | its default | here |")) {
    listed += test::quotedWords(row.at(0)).at(0) + "\n";
  }
  EXPECT_EQ(listed,
            "targetRefs\nretryConstraint.budget.percent\nretryConstraint.budget.interval\n"
            "retryConstraint.minRetryRate.count\nretryConstraint.minRetryRate.interval\nsessionPersistence\n");
}

}  // namespace
}  // namespace sluice::config
