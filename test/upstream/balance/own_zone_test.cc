#include "proxy/upstream/balance/own_zone.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "proxy/base/hashing/stable_hash.h"
#include "proxy/base/random.h"

namespace sluice::upstream {
namespace {

using base::BalancerType;
using Zones = std::vector<base::EndpointZones>;

/// Six endpoints, of which two are in each zone.
const std::vector<std::string> kSixNames = {"0", "1", "2", "3", "4", "5"};
const Zones kThreeZones = {{"a", {}}, {"b", {}}, {"c", {}}, {"a", {}}, {"b", {}}, {"c", {}}};

base::LoadBalancing preferring(BalancerType type = BalancerType::kRandom, std::uint32_t least = 1) {
  base::LoadBalancing terms;
  terms.type = type;
  terms.prefersZone = true;
  terms.minEndpointsInZone = least;
  return terms;
}

/// Endpoints, some of which are not available, and one of which a request may avoid.
struct SixEndpoints {
  std::set<std::size_t> out = {};
  std::optional<std::size_t> avoided = std::nullopt;
  const void* failing = nullptr;
  base::MonotonicTime now = {};
  std::size_t youngest = 6;

  static std::size_t count() { return kSixNames.size(); }
  bool available(std::size_t i) const { return !out.contains(i); }
  bool serves(std::size_t i) const { return available(i) && i != avoided; }
  static std::size_t load(std::size_t i) { return i; }
  base::Duration age(std::size_t i) const { return i == youngest ? base::Duration::zero() : base::Duration::max(); }
};

class OwnZones : public testing::Test {
 protected:
  void begin(const base::LoadBalancing& terms, const Zones& zones = kThreeZones, const std::string& zone = "b") {
    own_.emplace(terms, zone);
    own_->renew(zones, kSixNames);
  }
  /// Returns the endpoints that get some of many requests, with their shares.
  std::map<std::size_t, int> sharesOf(const SixEndpoints& endpoints = {}, int requests = 400) {
    std::map<std::size_t, int> shares;
    for (int i = 0; i < requests; ++i) {
      if (const auto chosen = choose(endpoints)) ++shares[*chosen];
    }
    return shares;
  }
  std::set<std::size_t> chosenOf(const SixEndpoints& endpoints = {}) {
    std::set<std::size_t> chosen;
    for (const auto& [endpoint, share] : sharesOf(endpoints)) chosen.insert(endpoint);
    return chosen;
  }
  std::optional<std::size_t> choose(const SixEndpoints& endpoints, std::optional<std::uint64_t> hash = std::nullopt) {
    return own_->choose(endpoints, hash, [this] { return random_.next(); });
  }

  base::Random random_{7};
  std::optional<OwnZone> own_;
};

using Some = std::set<std::size_t>;

TEST_F(OwnZones, HaveTheEndpointsOfTheGatewaysZoneWithEachTypeOfLoadBalancing) {
  for (const auto type : {BalancerType::kLeastRequest, BalancerType::kRoundRobin, BalancerType::kRandom,
                          BalancerType::kRingHash, BalancerType::kMaglev}) {
    begin(preferring(type));
    EXPECT_EQ(chosenOf(), type == BalancerType::kLeastRequest ? Some{1} : (Some{1, 4})) << "1 is the less busy one";
    if (type == BalancerType::kLeastRequest) continue;
    EXPECT_NEAR(sharesOf()[1], 200, 60) << "they share the requests";
  }
}

TEST_F(OwnZones, SendTheSameValueToTheSameEndpointWithConsistentHashing) {
  for (const auto type : {BalancerType::kRingHash, BalancerType::kMaglev}) {
    begin(preferring(type));
    std::map<std::size_t, int> shares;
    for (std::uint64_t value = 0; value < 400; ++value) {
      const std::uint64_t hash = base::stableHash(std::to_string(value));
      const auto chosen = choose({}, hash);
      ASSERT_TRUE(chosen);
      EXPECT_EQ(choose({}, hash), chosen);
      EXPECT_EQ(choose({.avoided = *chosen}, hash), *chosen == 1 ? 4U : 1U) << "the other one of the zone";
      ++shares[*chosen];
    }
    EXPECT_EQ(shares.size(), 2U);
    EXPECT_NEAR(shares[1], 200, 100);
  }
}

TEST_F(OwnZones, HaveNoEndpointIfTheZoneIsUnknownOrNotPreferredOrEmpty) {
  begin(preferring(), kThreeZones, "");
  EXPECT_EQ(chosenOf(), Some());
  begin(preferring(), {{"", {}}, {"", {}}}, "");
  EXPECT_EQ(chosenOf(), Some()) << "two unknown zones are not the same one";
  begin(base::LoadBalancing());
  EXPECT_EQ(chosenOf(), Some());
  begin(preferring(), kThreeZones, "d");
  EXPECT_EQ(chosenOf(), Some());
}

TEST_F(OwnZones, AreThoseOfHintsIfAllEndpointsHaveSome) {
  Zones zones = {{"a", {"b"}}, {"b", {"a"}}, {"c", {"b", "c"}}, {"a", {"a"}}, {"b", {"c"}}, {"c", {"a"}}};
  begin(preferring(), zones);
  EXPECT_EQ(chosenOf(), (Some{0, 2}));
  zones[5].hints.clear();
  begin(preferring(), zones);
  EXPECT_EQ(chosenOf(), (Some{1, 4})) << "one has no hints";
}

TEST_F(OwnZones, LeaveRequestsToAllIfNoneOfTheirEndpointsServes) {
  begin(preferring());
  EXPECT_EQ(chosenOf({.out = {1}}), Some{4});
  EXPECT_EQ(chosenOf({.out = {1, 4}}), Some());
  EXPECT_EQ(chosenOf({.out = {1}, .avoided = 4}), Some());
}

TEST_F(OwnZones, LeaveRequestsToAllIfTooFewOfTheirEndpointsAreAvailable) {
  begin(preferring(BalancerType::kRandom, 2));
  EXPECT_EQ(chosenOf(), (Some{1, 4}));
  EXPECT_EQ(chosenOf({.avoided = 4}), Some{1}) << "it is available to other requests";
  begin(preferring(BalancerType::kRandom, 2));
  EXPECT_EQ(chosenOf({.out = {4}}), Some());
  begin(preferring(BalancerType::kRandom, 3));
  EXPECT_EQ(chosenOf(), Some());
}

TEST_F(OwnZones, CountTheirEndpointsAgainAfterAWhileOrWhenTheirHealthIsKnownToBeOtherwise) {
  begin(preferring(BalancerType::kRandom, 2));
  EXPECT_EQ(chosenOf(), (Some{1, 4}));
  const base::MonotonicTime soon = base::MonotonicTime() + std::chrono::milliseconds(99);
  EXPECT_EQ(chosenOf({.out = {4}, .now = soon}), Some{1});
  EXPECT_EQ(chosenOf({.out = {4}, .now = soon + std::chrono::milliseconds(1)}), Some());
  const int failing = 0;
  EXPECT_EQ(chosenOf({.failing = &failing, .now = soon + std::chrono::milliseconds(1)}), (Some{1, 4}));
}

TEST_F(OwnZones, ComeFirstOnlyWithEnoughEndpointsInAllZonesTogether) {
  base::LoadBalancing terms = preferring();
  terms.minEndpoints = 6;
  begin(terms);
  EXPECT_EQ(chosenOf(), (Some{1, 4}));
  terms.minEndpoints = 7;
  begin(terms);
  EXPECT_EQ(chosenOf(), Some());
}

TEST_F(OwnZones, FollowTheEndpointsOfTheCluster) {
  for (const auto type : {BalancerType::kRingHash, BalancerType::kMaglev}) {
    begin(preferring(type));
    choose({}, 1);  // makes a table
    own_->renew(Zones{{"b", {}}, {"a", {}}, {"a", {}}, {"a", {}}, {"a", {}}, {"a", {}}}, kSixNames);
    EXPECT_EQ(choose({}, 1), 0U);
    own_->renew(Zones{}, {});
    EXPECT_EQ(choose({}, 1), std::nullopt);
  }
}

TEST_F(OwnZones, StartTheirEndpointsSlowly) {
  base::LoadBalancing terms = preferring(BalancerType::kRoundRobin);
  terms.slowStart = std::chrono::seconds(10);
  begin(terms);
  EXPECT_LT(sharesOf({.youngest = 4})[4], 100) << "a tenth of half of 400 is 20";
}

}  // namespace
}  // namespace sluice::upstream
