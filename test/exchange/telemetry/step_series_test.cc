// Tests that the kept instruments of steps are bounded, whatever workloads there are.
#include "proxy/exchange/telemetry/step_series.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::exchange {
namespace {

processing::Step stepOfNumber(std::uint32_t number) {
  processing::Step step;
  step.type = "acme.test/Guard:v1";
  step.number = number;
  return step;
}

class StepSeriesTest : public ::testing::Test {
 protected:
  observe::Histogram& of(std::uint32_t number, const std::string& account) {
    return series_.durationsOf(stepOfNumber(number), {account.empty() ? "" : "team", account});
  }

  observe::MetricsRegistry registry_;
  observe::MetricShard shard_{registry_};
  StepSeries series_{shard_};
};

TEST_F(StepSeriesTest, KeepTheirNamesWhenTheCallerIsGone) {
  observe::Histogram* first = nullptr;
  {
    const std::string account = "an-account-with-a-name-that-is-allocated";
    first = &of(1, account);
    EXPECT_NE(&of(1, "other"), first);
  }
  EXPECT_EQ(&of(1, "an-account-with-a-name-that-is-allocated"), first);
  EXPECT_EQ(series_.workloads(), 2U);
}

TEST_F(StepSeriesTest, TellNamespacesFromAccounts) {
  observe::Histogram& one = series_.durationsOf(stepOfNumber(1), {"ab", "c"});
  EXPECT_NE(&series_.durationsOf(stepOfNumber(1), {"a", "bc"}), &one);
}

TEST_F(StepSeriesTest, AreBounded) {
  observe::Histogram& unknown = of(1, "");
  for (std::size_t i = 0; i < StepSeries::kMostWorkloads + 5; ++i) {
    of(1, std::to_string(i));
    ASSERT_LE(series_.workloads(), StepSeries::kMostWorkloads);
  }
  EXPECT_EQ(series_.workloads(), 5U);
  EXPECT_EQ(&of(1, ""), &unknown);
  series_.letGo();
  EXPECT_EQ(series_.workloads(), 0U);
}

}  // namespace
}  // namespace sluice::exchange
