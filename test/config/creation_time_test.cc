#include "config/fields/creation_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;

TEST(CreationTime, IsBroughtToUtc) {
  EXPECT_EQ(sortableTime("2026-01-31T23:59:59Z"), "2026-01-31T23:59:59");
  EXPECT_EQ(sortableTime("2026-01-31t23:59:59z"), "2026-01-31T23:59:59");
  EXPECT_EQ(sortableTime("2026-02-01T01:29:59+01:30"), "2026-01-31T23:59:59");
  EXPECT_EQ(sortableTime("2026-01-31T18:59:59-05:00"), "2026-01-31T23:59:59");
  EXPECT_EQ(sortableTime("2026-01-31T23:59:59-00:00"), "2026-01-31T23:59:59");
  EXPECT_EQ(sortableTime("2024-02-29T00:00:00Z"), "2024-02-29T00:00:00");
  EXPECT_EQ(sortableTime("2016-12-31T23:59:60Z"), "2017-01-01T00:00:00");
  EXPECT_EQ(sortableTime("0000-01-01T00:00:00Z"), "0000-01-01T00:00:00");
}

TEST(CreationTime, HasNoZerosAtTheEndOfItsFraction) {
  EXPECT_EQ(sortableTime("2026-01-31T23:59:59.120Z"), "2026-01-31T23:59:59.12");
  EXPECT_EQ(sortableTime("2026-01-31T23:59:59.0Z"), "2026-01-31T23:59:59");
  EXPECT_EQ(sortableTime("2026-01-31T23:59:59.000001+00:00"), "2026-01-31T23:59:59.000001");
}

TEST(CreationTime, ComparesAsATime) {
  const char* const ascending[] = {"2026-01-01T00:00:00+14:00",   "2025-12-31T23:00:00Z",      "2026-01-01T00:00:00Z",
                                   "2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.05Z",   "2026-01-01T00:00:00.5Z",
                                   "2026-01-01T00:00:01Z",        "2025-12-31T23:00:02-01:00", "9999-12-31T23:59:59Z"};
  for (std::size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_LT(*sortableTime(ascending[i - 1]), *sortableTime(ascending[i])) << ascending[i];
    EXPECT_LT(*sortableTime(ascending[i]), kAfterAllTimes);
  }
}

TEST(CreationTime, IsNothingElse) {
  for (const char* text : {"",
                           "yesterday",
                           "2026-01-31",
                           "2026-01-31T23:59:59",
                           "2026-01-31 23:59:59Z",
                           "2026-1-31T23:59:59Z",
                           "2026-01-31T23:59Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2026-01-00T00:00:00Z",
                           "2026-01-31T24:00:00Z",
                           "2026-01-31T23:60:00Z",
                           "2026-01-31T23:59:61Z",
                           "2026-01-31T23:59:59.Z",
                           "2026-01-31T23:59:59,5Z",
                           "2026-01-31T23:59:59+01",
                           "2026-01-31T23:59:59+0100",
                           "2026-01-31T23:59:59+24:00",
                           "2026-01-31T23:59:59+01:60",
                           "2026-01-31T23:59:59Zz",
                           " 2026-01-31T23:59:59Z",
                           "2026-01-31T23:59:59Z ",
                           "+2026-01-31T23:59:59Z",
                           "0000-01-01T00:00:00+00:01",
                           "9999-12-31T23:59:59-00:01",
                           "99999-01-01T00:00:00Z",
                           "1767225600"}) {
    EXPECT_EQ(sortableTime(text), std::nullopt) << text;
  }
}

std::string classCreated(const std::string& time) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata:\n  name: c\n  creationTimestamp: " +
         time + "\nspec: {controllerName: sluice.dev/egress-gateway}\n";
}

TEST(CreationTime, OfAnObjectIsAnErrorIfItIsNoTime) {
  for (const char* wrong : {"yesterday", "2026-01-31", "''"}) {
    const Configuration refused = loadText(classCreated(wrong));
    ASSERT_EQ(refused.problems.size(), 1U) << wrong;
    EXPECT_EQ(refused.problems[0].position.line, 5U);
    EXPECT_EQ(refused.problems[0].field, "metadata.creationTimestamp");
    EXPECT_NE(refused.problems[0].message.find("must be a time like 2026-01-31T23:59:59Z"), std::string::npos);
    EXPECT_TRUE(refused.model.all<GatewayClass>().empty());
  }
}

TEST(CreationTime, OfAnObjectIsKeptInUtc) {
  const Configuration read = loadText(classCreated("2026-02-01T00:59:59+01:00"));
  EXPECT_THAT(rendered(read.problems), ElementsAre());
  EXPECT_EQ(read.model.all<GatewayClass>().front().meta.creationTimestamp, "2026-01-31T23:59:59");
  EXPECT_EQ(loadText(classCreated("null")).model.all<GatewayClass>().front().meta.creationTimestamp, kAfterAllTimes)
      << "whoever has none is younger than all that have one";
}

}  // namespace
}  // namespace sluice::config
