#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadRetry(const std::string& retry) {
  return loadText(
      object("gateway.networking.k8s.io/v1", "HTTPRoute", "r", "spec:\n  rules:\n  - retry: " + retry + "\n"));
}
HttpRouteRule ruleWith(const std::string& retry) {
  const Configuration configuration = loadRetry(retry);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  return configuration.model.all<HttpRoute>().at(0).rules.at(0);
}
std::vector<std::string> problemsOfRetry(const std::string& retry) { return rendered(loadRetry(retry).problems); }

TEST(HttpRouteRetry, IsReadAsItIsWritten) {
  const HttpRouteRule rule = ruleWith("{codes: [500, 400, 599], attempts: 3, backoff: 1s500ms}");
  ASSERT_TRUE(rule.retry);
  EXPECT_THAT(rule.retry->codes, ElementsAre(500, 400, 599));
  EXPECT_EQ(rule.retry->attempts, 3u);
  EXPECT_EQ(rule.retry->backoff, std::chrono::milliseconds(1500));
  EXPECT_TRUE(rule.unsupported.empty());
}

TEST(HttpRouteRetry, HasDefaultsWhereTheApiHasNone) {
  const HttpRouteRule rule = ruleWith("{}");
  ASSERT_TRUE(rule.retry);
  EXPECT_TRUE(rule.retry->codes.empty());
  EXPECT_EQ(rule.retry->attempts, 1u);
  EXPECT_EQ(rule.retry->backoff, std::chrono::milliseconds(25));
  EXPECT_FALSE(ruleWith("null").retry);
}

TEST(HttpRouteRetry, ChecksItsCodes) {
  EXPECT_THAT(problemsOfRetry("{codes: [399]}"), ElementsAre(HasSubstr("spec.rules[0].retry.codes[0]: ")));
  EXPECT_THAT(problemsOfRetry("{codes: [500, 600]}"), ElementsAre(HasSubstr("codes[1]: ")));
  EXPECT_THAT(problemsOfRetry("{codes: [500, 500]}"), ElementsAre(EndsWith("codes[1]: repeats a code of the list")));
  EXPECT_THAT(problemsOfRetry("{codes: ['500']}"), ElementsAre(HasSubstr("codes[0]: ")));
}

TEST(HttpRouteRetry, ChecksAttemptsAndBackoff) {
  EXPECT_THAT(problemsOfRetry("{attempts: 0}"), ElementsAre(HasSubstr("retry.attempts: ")));
  EXPECT_THAT(problemsOfRetry("{backoff: soon}"), ElementsAre(HasSubstr("retry.backoff: must be a duration")));
  EXPECT_THAT(problemsOfRetry("{tries: 2}"), ElementsAre(HasSubstr("retry.tries: unknown field")));
}

TEST(HttpRouteRetry, NotesMoreThanTenAttemptsAsUnsupported) {
  EXPECT_TRUE(ruleWith("{attempts: 10}").unsupported.empty());
  for (const char* attempts : {"11", "9223372036854775807"}) {
    const HttpRouteRule rule = ruleWith("{attempts: " + std::string(attempts) + "}");
    EXPECT_EQ(rule.retry->attempts, 10u);
    ASSERT_EQ(rule.unsupported.size(), 1u);
    EXPECT_EQ(rule.unsupported[0].path, "spec.rules[0].retry.attempts");
    EXPECT_FALSE(rule.unsupported[0].altersTraffic);
  }
}

}  // namespace
}  // namespace sluice::config
