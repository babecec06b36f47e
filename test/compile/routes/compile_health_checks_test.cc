// Tests which rules and generations share active health checks.
#include "proxy/compile/routes/compile_health_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sluice::compile {
namespace {

using Health = std::shared_ptr<const routing::HealthCheck>;

class HealthChecksOfRules : public testing::Test {
 protected:
  static config::ActiveHealthSettings byHttp(const std::string& path) {
    config::ActiveHealthSettings check;
    check.type = config::ActiveHealthSettings::Type::kHttp;
    check.path = path;
    return check;
  }
  /// Returns what a rule has for the Backend of that identity.
  Health compiled(const config::ActiveChecks& checks, const char* identity = "backend") {
    RuleTraffic traffic;
    traffic.own.activeHealth = &checks;
    auto plan = std::make_shared<routing::BackendPlan>();
    plan->identity = identity;
    routing::Rule rule;
    rule.backends.emplace_back().backend = plan;
    const std::vector<Health> all = compileHealthChecks(traffic, rule, states_);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? nullptr : all.front();
  }

  processing::SharedStates states_;
};

TEST_F(HealthChecksOfRules, AreSharedIfTheBackendAndTheListAreTheSame) {
  const Health two = compiled({byHttp("/a"), byHttp("/b")});
  EXPECT_EQ(two->checks().size(), 2U);
  EXPECT_EQ(compiled({byHttp("/a"), byHttp("/b")}), two);
  EXPECT_NE(compiled({byHttp("/a")}), two);
  EXPECT_NE(compiled({byHttp("/a"), byHttp("/b")}, "other")->checks()[0], two->checks()[0]);
}

TEST_F(HealthChecksOfRules, ShareTheChecksThatTheListsHaveInCommon) {
  const Health two = compiled({byHttp("/a"), byHttp("/b")});
  two->checks()[1]->set(routing::CheckedState::kUnhealthy);
  const Health others = compiled({byHttp("/b"), byHttp("/c"), byHttp("/b")});
  ASSERT_EQ(others->checks().size(), 2U) << "one that is written twice is made once";
  EXPECT_EQ(others->checks()[0], two->checks()[1]);
  EXPECT_TRUE(others->fails()) << "it keeps its state";
}

TEST_F(HealthChecksOfRules, AreOthersIfAHeaderOrTheLogIsAnother) {
  std::vector<Health> all = {compiled({byHttp("/a")})};
  const std::vector<std::function<void(config::ActiveHealthSettings&)>> changes = {
      [](auto& check) { check.headers = {{"a", "b"}}; },
      [](auto& check) { check.headers = {{"a", "c"}}; },
      [](auto& check) { check.headers = {{"ab", "c"}}; },
      [](auto& check) { check.headers = {{"a", "b"}, {"a", "c"}}; },
      [](auto& check) { check.log = base::CheckLog::kAll; },
      [](auto& check) { check.log = base::CheckLog::kOff; },
  };
  for (const auto& change : changes) {
    config::ActiveHealthSettings check = byHttp("/a");
    change(check);
    const Health health = compiled({check});
    for (const Health& each : all) EXPECT_NE(health->checks()[0], each->checks()[0]) << all.size();
    all.push_back(health);
  }
  EXPECT_THAT(all[4]->checks()[0]->settings().headers,
              testing::ElementsAre(std::pair<std::string, std::string>("a", "b"),
                                   std::pair<std::string, std::string>("a", "c")));
  EXPECT_EQ(all[5]->checks()[0]->settings().log, base::CheckLog::kAll);
}

}  // namespace
}  // namespace sluice::compile
