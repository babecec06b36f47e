#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <random>

#include "proxy/routing/snapshot.h"

namespace sluice::routing {
namespace {

Rule ruleWith(std::initializer_list<std::uint32_t> weights) {
  Rule rule;
  for (const std::uint32_t weight : weights) {
    rule.backends.emplace_back().weight = weight;
    rule.totalWeight += weight;
  }
  return rule;
}

TEST(Rule, ChoosesInProportionToTheWeights) {
  const Rule rule = ruleWith({1, 0, 3});
  std::map<const WeightedBackend*, int> hits;
  std::mt19937_64 random(1);
  for (int i = 0; i < 40000; ++i) ++hits[rule.choose(random())];
  EXPECT_NEAR(hits[&rule.backends[0]], 10000, 500);
  EXPECT_EQ(hits.count(&rule.backends[1]), 0U);
  EXPECT_NEAR(hits[&rule.backends[2]], 30000, 500);
}

TEST(Rule, ChoosesTheFirstAndTheLastAtTheEndsOfTheRange) {
  const Rule rule = ruleWith({1, 1000000, 1});
  EXPECT_EQ(rule.choose(0), &rule.backends[0]);
  EXPECT_EQ(rule.choose(std::numeric_limits<std::uint64_t>::max()), &rule.backends[2]);
}

TEST(Rule, ChoosesNothingWithoutBackendsOrIfAllWeightsAreZero) {
  EXPECT_EQ(ruleWith({}).choose(7), nullptr);
  EXPECT_EQ(ruleWith({0, 0}).choose(7), nullptr);
}

TEST(Rule, ChoosesAnotherBackendThatServesAndWasNotTried) {
  Rule rule = ruleWith({1, 2, 0, 3, 4});
  for (WeightedBackend& share : rule.backends) share.backend = std::make_shared<BackendPlan>();
  rule.backends[4].failure = base::Error::config("broken");
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(rule.chooseAnother(0, 0), &rule.backends[0]);
  EXPECT_EQ(rule.chooseAnother(kLargest, 0), &rule.backends[3]);
  EXPECT_EQ(rule.chooseAnother(0, 1), &rule.backends[1]);
  EXPECT_EQ(rule.chooseAnother(kLargest, 8), &rule.backends[1]);
  EXPECT_EQ(rule.chooseAnother(kLargest / 2, 8 + 2), &rule.backends[0]);
  EXPECT_EQ(rule.chooseAnother(0, 1 + 2 + 8), nullptr);
}

}  // namespace
}  // namespace sluice::routing
