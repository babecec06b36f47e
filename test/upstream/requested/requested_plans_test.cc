#include "proxy/upstream/requested/requested_plans.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sluice::upstream {
namespace {

constexpr net::ClientNetwork kOne = 1;
constexpr net::ClientNetwork kTwo = 2;

std::shared_ptr<const routing::BackendPlan> portOfAny(const std::string& identity = "any") {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->identity = identity;
  return plan;
}

/// Plans whose clusters are known by their hostnames.
class Requested : public testing::Test {
 protected:
  RequestedPlans::Plan planOf(const std::string& host) const {
    const routing::RequestedTarget target{host, 80, port_};
    const auto known = plans_.find(target);
    return known != nullptr ? known : routing::requestedPlan(target);
  }
  bool take(const std::string& host, net::ClientNetwork client, std::size_t most = 4) {
    return plans_.take(planOf(host), client, most);
  }
  bool has(const std::string& host) const { return plans_.find({host, 80, port_}) != nullptr; }

  const std::shared_ptr<const routing::BackendPlan> port_ = portOfAny();
  std::set<std::string> busy_;
  std::vector<std::string> retired_;
  RequestedPlans plans_{{.areBusy = [this](const auto& plan) { return busy_.contains(plan.hostname); },
                         .retire = [this](const auto& plan) { retired_.push_back(plan.hostname); }}};
};

TEST_F(Requested, AreKnownOnceTheyAreTaken) {
  const auto plan = planOf("a.test");
  EXPECT_FALSE(has("a.test"));
  EXPECT_TRUE(plans_.take(plan, kOne, 4));
  EXPECT_EQ(planOf("a.test"), plan);
  EXPECT_TRUE(plans_.holds(plan->identity));
  EXPECT_TRUE(plans_.take(plan, kTwo, 4));
  EXPECT_FALSE(has("b.test"));
  EXPECT_EQ(plans_.find({"a.test", 81, port_}), nullptr);
  EXPECT_EQ(plans_.find({"a.test", 80, portOfAny("other")}), nullptr);
}

TEST_F(Requested, GiveWayToNewOnesInTheOrderOfTheirUse) {
  net::ClientNetwork client = 0;
  for (const char* host : {"a.test", "b.test", "c.test", "d.test"}) take(host, ++client);
  const auto identity = planOf("b.test")->identity;
  take("b.test", kOne);
  take("a.test", kOne);
  EXPECT_TRUE(take("e.test", 5));
  EXPECT_TRUE(take("f.test", 6));
  EXPECT_EQ(retired_, (std::vector<std::string>{"c.test", "d.test"}));
  EXPECT_TRUE(plans_.holds(identity));
  EXPECT_TRUE(take("g.test", 7));
  EXPECT_FALSE(plans_.holds(identity));
}

TEST_F(Requested, KeepThoseThatAreBusy) {
  net::ClientNetwork client = 0;
  for (const char* host : {"a.test", "b.test", "c.test", "d.test"}) take(host, ++client);
  busy_ = {"a.test", "b.test", "d.test"};
  EXPECT_TRUE(take("e.test", 5));
  EXPECT_EQ(retired_, (std::vector<std::string>{"c.test"}));
  busy_.insert("e.test");
  EXPECT_FALSE(take("f.test", 6));
  EXPECT_TRUE(take("a.test", 6)) << "it has a place";
}

TEST_F(Requested, AreFoundBehindManyThatAreBusy) {
  constexpr std::size_t kMany = 1000;
  for (std::size_t i = 0; i < kMany; ++i) {
    const std::string host = "n" + std::to_string(i) + ".test";
    ASSERT_TRUE(take(host, i, kMany));
    if (i + 1 < kMany) busy_.insert(host);
  }
  std::size_t refused = 0;
  while (!take("new.test", kMany, kMany)) ASSERT_LE(++refused, 4U) << "a request looks at some of them";
  EXPECT_EQ(retired_, (std::vector<std::string>{"n999.test"}));
}

TEST_F(Requested, OfAClientThatHasItsShareLeaveRoomForOthers) {
  constexpr std::size_t kMost = 8;
  for (int i = 0; i < 8; ++i) take("many-" + std::to_string(i) + ".test", kOne, kMost);
  EXPECT_EQ(retired_, (std::vector<std::string>{"many-0.test", "many-1.test"})) << "it replaces its own";
  for (int i = 2; i < 8; ++i) busy_.insert("many-" + std::to_string(i) + ".test");
  EXPECT_FALSE(take("many-8.test", kOne, kMost)) << "all of its own are busy";
  EXPECT_TRUE(take("a.test", kTwo, kMost));
  EXPECT_TRUE(take("b.test", kTwo, kMost));
  EXPECT_EQ(retired_.size(), 2U);
  EXPECT_TRUE(take("c.test", kTwo, kMost));
  EXPECT_EQ(retired_.back(), "a.test") << "a quarter is its share";
  EXPECT_TRUE(take("d.test", 3, kMost)) << "another client takes the place of the least recently used one";
  EXPECT_EQ(retired_.back(), "b.test");
}

TEST_F(Requested, LeaveWhenTheirBoundIsLowered) {
  for (int i = 0; i < 8; ++i) take("n" + std::to_string(i) + ".test", static_cast<net::ClientNetwork>(i), 8);
  for (int i = 8; i < 20; ++i)
    EXPECT_TRUE(take("n" + std::to_string(i) + ".test", static_cast<net::ClientNetwork>(i), 2));
  int held = 0;
  for (int i = 0; i < 20; ++i) held += has("n" + std::to_string(i) + ".test") ? 1 : 0;
  EXPECT_EQ(held, 2);
}

TEST_F(Requested, LeaveWithTheirBackend) {
  const auto kept = planOf("a.test");
  take("a.test", kOne);
  const auto other = portOfAny("other");
  plans_.take(routing::requestedPlan({"a.test", 80, other}), kOne, 4);
  auto backend = std::make_shared<routing::BackendPlan>();
  backend->dynamic = std::make_shared<const routing::DynamicTargets>(
      routing::DynamicTargets{routing::PolicyNeed::kDenyByDefault, {}, {portOfAny()}});
  plans_.keepOf({other, backend});
  EXPECT_EQ(retired_.size(), 1U);
  EXPECT_TRUE(has("a.test"));
  plans_.keepOf({});
  EXPECT_FALSE(has("a.test"));
}

}  // namespace
}  // namespace sluice::upstream
