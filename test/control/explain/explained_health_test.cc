// Tests the health of Backends in explanations.
#include "proxy/control/explain/explained_health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "proxy/control/explain/explanation_output.h"
#include "test/control/explain/explain_world.h"

namespace sluice::control {
namespace {

using test::World;
using testing::HasSubstr;
using testing::Not;

class ExplainedHealthTest : public testing::Test {
 protected:
  Explanation explanation() const {
    Explanation made = test::explained(world_, "http://a.test/");
    addHealth(world_.snapshot(), made);
    return made;
  }
  std::string state() const { return explanation().backends.at(0).health->state; }
  const routing::BackendReach& reach() const { return *world_.snapshot().backends.at(0)->reach; }

  static constexpr base::WallTime kStart{std::chrono::hours(1)};
  const World world_{{test::kClass, test::kGateway, test::kBackend, test::kRoute}};
};

TEST_F(ExplainedHealthTest, FollowsTheConnections) {
  EXPECT_EQ(state(), "unknown");
  reach().onAnswer();
  static_cast<void>(reach().announce(kStart));
  EXPECT_EQ(state(), "serving");
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i)
    reach().onFailure(base::Error::upstream(base::ErrorType::kConnectionRefused, "connection refused"), kStart);
  static_cast<void>(reach().announce(kStart + std::chrono::minutes(1)));
  EXPECT_EQ(state(), "failing");
  EXPECT_THAT(explanationOutput(explanation()).text, HasSubstr("  health    failing: origin.test:8080 "));
}

TEST_F(ExplainedHealthTest, IsNotShownWithoutAGateway) {
  const Explanation made = test::explained(world_, "http://a.test/");
  EXPECT_THAT(explanationOutput(made).text, Not(HasSubstr("health")));
  EXPECT_THAT(content::outputJson(explanationOutput(made).value), HasSubstr(R"("health":null)"));
}

}  // namespace
}  // namespace sluice::control
