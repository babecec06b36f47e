#include "proxy/upstream/balance/balancer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace sluice::upstream {
namespace {

using base::BalancerType;

const std::vector<std::string> kNames = {"a", "b", "c", "d"};

base::LoadBalancing termsOf(BalancerType type) {
  base::LoadBalancing terms;
  terms.type = type;
  return terms;
}

/// Endpoints, some of which are out.
struct NamedEndpoints {
  const std::set<std::string>& out;
  bool whole;

  static std::size_t count() { return kNames.size(); }
  bool serves(std::size_t i) const { return !out.contains(kNames[i]); }
  static std::size_t load(std::size_t i) { return i; }
  static base::Duration age(std::size_t /*i*/) { return base::Duration::max(); }
  static std::span<const std::string> names() { return kNames; }
  bool isWhole() const { return whole; }
};

/// Chooses one of kNames that is not among `out`; "" if there is none.
std::string choose(Balancer& balancer, std::optional<std::uint64_t> hash, std::uint64_t random,
                   const std::set<std::string>& out = {}, bool isWhole = true) {
  const auto index = balancer.choose(NamedEndpoints{out, isWhole}, hash, [random] { return random; });
  return index ? kNames[*index] : "";
}

TEST(Balancer, TakesTheLessBusyOfTwo) {
  Balancer balancer(termsOf(BalancerType::kLeastRequest));
  EXPECT_EQ(choose(balancer, std::nullopt, 0), "a") << "of a and b";
  EXPECT_EQ(choose(balancer, std::nullopt, 0, {"a"}), "b");
  EXPECT_EQ(choose(balancer, std::nullopt, 0, {"a", "b"}), "c");
  EXPECT_EQ(choose(balancer, std::nullopt, 0, {"a", "b", "c", "d"}), "");
}

TEST(Balancer, GoesRoundFromAnEndpointByChanceAndPassesOverThoseThatDoNotServe) {
  Balancer balancer(termsOf(BalancerType::kRoundRobin));
  std::string order;
  for (int i = 0; i < 8; ++i) order += choose(balancer, std::nullopt, std::uint64_t{1} << 63);
  EXPECT_EQ(order, "cdabcdab");
  EXPECT_EQ(choose(balancer, std::nullopt, 0, {"c"}), "d");
  EXPECT_EQ(choose(balancer, std::nullopt, 0, {"a", "b", "c", "d"}), "");
}

TEST(Balancer, ChoosesByChanceWithRandomAndWithoutAValue) {
  for (const BalancerType type : {BalancerType::kRandom, BalancerType::kRingHash, BalancerType::kMaglev}) {
    Balancer balancer(termsOf(type));
    for (std::uint64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(choose(balancer, std::nullopt, i << 62), kNames[i]);
    }
  }
}

TEST(Balancer, SendsTheSameValueToTheSameEndpointAndElsewhereWhileThatDoesNotServe) {
  for (const BalancerType type : {BalancerType::kRingHash, BalancerType::kMaglev}) {
    for (const bool isWhole : {true, false}) {
      Balancer one(termsOf(type));
      Balancer other(termsOf(type));  // that of another worker
      std::map<std::string, std::set<std::string>> insteadOf;
      for (std::uint64_t value = 0; value < 300; ++value) {
        const std::uint64_t hash = base::stableHash(std::to_string(value));
        const std::string usual = choose(one, hash, value, {}, isWhole);
        EXPECT_EQ(choose(other, hash, value + 7, {}, isWhole), usual);
        const std::string instead = choose(one, hash, value, {usual}, isWhole);
        EXPECT_EQ(choose(other, hash, value + 7, {usual}, isWhole), instead);
        EXPECT_NE(instead, usual);
        insteadOf[usual].insert(instead);
        EXPECT_EQ(choose(one, hash, value, {"a", "b", "c", "d"}, isWhole), "");
      }
      for (const auto& [usual, others] : insteadOf)
        EXPECT_EQ(others.size(), 3U) << "the load of " << usual << " is spread";
    }
  }
}

}  // namespace
}  // namespace sluice::upstream
