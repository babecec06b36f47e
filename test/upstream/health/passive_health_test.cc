#include "proxy/upstream/health/passive_health.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::upstream {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(PassiveHealth, EjectsForTwiceAsLongAfterEachFailure) {
  std::size_t failing = 0;
  PassiveHealth health(failing);
  base::MonotonicTime now{hours(1)};
  EXPECT_FALSE(health.ejected(now, /*probing=*/false));
  for (const int rest : {500, 1000, 2000}) {
    health.onFailure(now);
    health.onFailure(now);  // of another attempt that was on its way
    EXPECT_TRUE(health.ejected(now + milliseconds(rest - 1), /*probing=*/false));
    now += milliseconds(rest);
    EXPECT_FALSE(health.ejected(now, /*probing=*/false));
    EXPECT_TRUE(health.ejected(now, /*probing=*/true)) << "a request finds out already";
  }
  health.onSuccess();
  EXPECT_FALSE(health.ejected(now, /*probing=*/true));
}

TEST(PassiveHealth, CountsTheEndpointsThatFail) {
  std::size_t failing = 0;
  const base::MonotonicTime now{hours(1)};
  PassiveHealth first(failing);
  first.onFailure(now);
  first.onFailure(now + hours(1));
  EXPECT_EQ(failing, 1u);
  {
    PassiveHealth second(failing);
    second.onFailure(now);
    EXPECT_EQ(failing, 2u);
  }
  EXPECT_EQ(failing, 1u) << "an endpoint that has gone does not fail";
  first.onSuccess();
  first.onSuccess();
  EXPECT_EQ(failing, 0u);
}

}  // namespace
}  // namespace sluice::upstream
