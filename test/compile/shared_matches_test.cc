#include "proxy/compile/routes/shared_matches.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::compile {
namespace {

TEST(SharedMatches, AreThoseOfSeveralRoutes) {
  const auto planWith = [](const std::vector<std::string>& identities) {
    RoutePlan plan;
    for (const std::string& each : identities) plan.rules.push_back({nullptr, {{nullptr, each}}});
    return plan;
  };
  const RoutePlan first = planWith({"own", "own", "both", "x"});
  const RoutePlan second = planWith({"both", "y"});
  SharedMatches matches;
  matches.add(first);
  matches.add(second);
  EXPECT_TRUE(matches.numberOf("both"));
  for (const char* single : {"own", "x", "y", "z"}) EXPECT_FALSE(matches.numberOf(single)) << single;
}

}  // namespace
}  // namespace sluice::compile
