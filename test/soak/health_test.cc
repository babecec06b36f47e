// Tests how the soak distinguishes growth from warming up.
#include "test/soak/health.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::soak {
namespace {

std::vector<double> course(double atStart, double third, double last) {
  std::vector<double> values(20, atStart);
  values.insert(values.end(), 10, third);
  values.insert(values.end(), 10, last);
  return values;
}

TEST(Trend, IgnoresTheFirstHalf) {
  const auto trend = trendOf(course(1, 100, 100));
  ASSERT_TRUE(trend);
  EXPECT_EQ(trend->growth(), 0);
  EXPECT_TRUE(trend->isFlat(0, 0));
}

TEST(Trend, NeedsEnoughValues) {
  EXPECT_FALSE(trendOf(std::vector<double>(7, 1)));
  EXPECT_TRUE(trendOf(std::vector<double>(8, 1)));
}

TEST(Trend, DoesNotTakeASpikeForGrowth) {
  std::vector<double> values = course(1, 100, 100);
  values.back() = 1000;
  EXPECT_TRUE(trendOf(values)->isFlat(0, 0));
}

TEST(Trend, IsFlatWithinTheShareOrTheSlack) {
  EXPECT_TRUE(trendOf(course(0, 100, 103))->isFlat(0.03, 0));
  EXPECT_FALSE(trendOf(course(0, 100, 104))->isFlat(0.03, 0));
  EXPECT_TRUE(trendOf(course(0, 100, 104))->isFlat(0.03, 4));
  EXPECT_FALSE(trendOf(course(0, 100, 105))->isFlat(0.03, 4));
  EXPECT_TRUE(trendOf(course(0, 100, 50))->isFlat(0, 0)) << "less is no growth";
}

TEST(Metrics, AreSummedOverTheirSeries) {
  const std::string page = "# HELP a text\na{x=\"1\",y=\"1\"} 2\na{x=\"1\",y=\"2\"} 3\na{x=\"2\"} 4\nab 5\na 6\n";
  EXPECT_EQ(sumOf(page, "a"), 15);
  EXPECT_EQ(sumOf(page, "a{x=\"1\""), 5);
  EXPECT_EQ(sumOf(page, "b"), 0);
}

}  // namespace
}  // namespace sluice::soak
