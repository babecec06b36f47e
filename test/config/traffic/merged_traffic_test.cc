// Tests how a BackendTrafficPolicy is merged with its parent, and which policies may ask for merging.
#include "config/read/traffic/merged_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/config/traffic/backend_traffic.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MergedTraffic mergedFrom(const std::string& parent, const std::string& policy) {
  return mergedTraffic(backendTraffic(parent), backendTraffic("mergeType: StrategicMerge, " + policy));
}

TEST(MergedTraffic, HasTheFieldsOfBothAtAnyDepth) {
  const MergedTraffic merged = mergedFrom(
      "retry: {numRetries: 5, retryOn: {triggers: [5xx]}}, healthCheck: {passive: {consecutive5XxErrors: 7}}, timeout: "
      "{http: {requestTimeout: 9s}}",
      "retry: {numRetries: 1}, healthCheck: {passive: {baseEjectionTime: 4s}}, timeout: {tcp: {connectTimeout: 2s}}");
  EXPECT_EQ(merged.error, "");
  EXPECT_EQ(merged.policy.retry->attempts, 1U);
  EXPECT_EQ(merged.policy.retry->codes.size(), 100U);
  EXPECT_EQ(merged.policy.passiveHealth->consecutive5XxErrors, 7U);
  EXPECT_EQ(merged.policy.passiveHealth->baseEjectionTime, std::chrono::seconds(4));
  EXPECT_EQ(merged.policy.timeouts->request, std::chrono::seconds(9));
  EXPECT_EQ(merged.policy.timeouts->connect, std::chrono::seconds(2));
  EXPECT_THAT(merged.policy.targets, IsEmpty());
}

TEST(MergedTraffic, TakesListsAsAWholeAndRemovesWhatIsNull) {
  const MergedTraffic merged =
      mergedFrom("retry: {numRetries: 5, retryOn: {triggers: [retriable-status-codes], httpStatusCodes: [429, 500]}}",
                 "retry: {numRetries: null, retryOn: {httpStatusCodes: [409]}}");
  EXPECT_EQ(merged.error, "");
  EXPECT_EQ(merged.policy.retry->attempts, 2U) << "the default";
  EXPECT_THAT(merged.policy.retry->codes, ElementsAre(409));
}

TEST(MergedTraffic, SaysWhatIsWrongWithBothTogether) {
  const MergedTraffic merged = mergedFrom("healthCheck: {active: {type: HTTP, http: {path: /}}}",
                                          "healthCheck: {active: {type: TCP, tcp: {send: {type: Text, text: a}}}}");
  EXPECT_THAT(merged.error, HasSubstr("spec.healthCheck.active.http"));
}

TEST(MergedTraffic, IsForRoutesAlone) {
  const auto problems = [](const std::string& target, const std::string& type) {
    return rendered(loadBackendTraffic("targetRefs: [{group: gateway.networking.k8s.io, kind: " + target +
                                       ", name: r}], mergeType: " + type)
                        .problems);
  };
  for (const char* type : {"StrategicMerge", "JSONMerge"}) {
    EXPECT_THAT(problems("HTTPRoute", type), IsEmpty());
    EXPECT_THAT(problems("GRPCRoute", type), IsEmpty());
    EXPECT_THAT(problems("Gateway", type),
                ElementsAre(HasSubstr("spec.mergeType: must be given only if all targets are routes")));
  }
  EXPECT_THAT(problems("HTTPRoute", "Merge"), ElementsAre(HasSubstr("spec.mergeType: must be")));
}

}  // namespace
}  // namespace sluice::config
