#include "proxy/processing/use_health.h"

#include <gtest/gtest.h>

namespace sluice::processing {
namespace {

constexpr base::MonotonicTime kUseBegin{std::chrono::hours(1)};

TEST(UseHealth, RecoversOnceAfterACalm) {
  UseHealth health;
  EXPECT_FALSE(health.fails());
  EXPECT_FALSE(health.takeRecovery(kUseBegin)) << "it has never failed";
  health.onFailure(kUseBegin);
  EXPECT_TRUE(health.fails());
  EXPECT_FALSE(health.takeRecovery(kUseBegin + UseHealth::kCalm - base::Duration(1)));
  health.onFailure(kUseBegin + base::Duration(1));
  EXPECT_FALSE(health.takeRecovery(kUseBegin + UseHealth::kCalm)) << "it has failed again";
  EXPECT_TRUE(health.fails());
  EXPECT_TRUE(health.takeRecovery(kUseBegin + UseHealth::kCalm + base::Duration(1)));
  EXPECT_FALSE(health.fails());
  EXPECT_FALSE(health.takeRecovery(kUseBegin + 2 * UseHealth::kCalm));
}

}  // namespace
}  // namespace sluice::processing
