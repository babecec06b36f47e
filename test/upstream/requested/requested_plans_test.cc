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
  RequestedPlans::Plan find(const std::string& host, net::ClientNetwork client, std::size_t most = 4) {
    return plans_.find({host, 80, port_}, client, most);
  }
  std::string found(const std::string& host, net::ClientNetwork client, std::size_t most = 4) {
    const auto plan = find(host, client, most);
    return plan != nullptr ? plan->hostname : "none";
  }

  const std::shared_ptr<const routing::BackendPlan> port_ = portOfAny();
  std::set<std::string> busy_;
  std::vector<std::string> retired_;
  RequestedPlans plans_{{.haveRequests = [this](const auto& plan) { return busy_.contains(plan.hostname); },
                         .retire = [this](const auto& plan) { retired_.push_back(plan.hostname); }}};
};

TEST_F(Requested, AreMadeOnce) {
  const auto plan = find("a.test", kOne);
  EXPECT_EQ(find("a.test", kTwo), plan);
  EXPECT_NE(find("b.test", kOne), plan);
  EXPECT_NE(plans_.find({"a.test", 81, port_}, kOne, 4), plan);
  EXPECT_NE(plans_.find({"a.test", 80, portOfAny("other")}, kOne, 4), plan);
  EXPECT_EQ(plans_.size(), 4U);
  EXPECT_TRUE(plans_.holds(plan->identity));
}

TEST_F(Requested, GiveWayToNewOnesInTheOrderOfTheirUse) {
  for (const char* host : {"a.test", "b.test", "c.test", "d.test"}) find(host, kOne);
  const auto identity = find("b.test", kOne)->identity;
  find("a.test", kOne);
  EXPECT_EQ(found("e.test", kOne), "e.test");
  EXPECT_EQ(found("f.test", kOne), "f.test");
  EXPECT_EQ(retired_, (std::vector<std::string>{"c.test", "d.test"}));
  EXPECT_TRUE(plans_.holds(identity));
  EXPECT_EQ(found("g.test", kOne), "g.test");
  EXPECT_FALSE(plans_.holds(identity));
}

TEST_F(Requested, KeepThoseWithRequests) {
  for (const char* host : {"a.test", "b.test", "c.test", "d.test"}) find(host, kOne);
  busy_ = {"a.test", "b.test", "d.test"};
  EXPECT_EQ(found("e.test", kOne), "e.test");
  EXPECT_EQ(retired_, (std::vector<std::string>{"c.test"}));
  busy_.insert("e.test");
  EXPECT_EQ(found("f.test", kOne), "none");
  EXPECT_EQ(found("a.test", kTwo), "a.test");
}

TEST_F(Requested, OfAClientReplaceItsOwnOnesFromItsShareOn) {
  for (int i = 0; i < 6; ++i) find("many-" + std::to_string(i) + ".test", kOne, 8);
  find("a.test", kTwo, 8);
  find("b.test", kTwo, 8);
  find("many-0.test", kOne, 8);
  EXPECT_EQ(found("c.test", kTwo, 8), "c.test");
  EXPECT_EQ(retired_, (std::vector<std::string>{"a.test"})) << "a quarter is its share";
  EXPECT_EQ(found("many-6.test", kOne, 8), "many-6.test");
  EXPECT_EQ(retired_.back(), "many-1.test");
  busy_ = {"b.test", "c.test"};
  EXPECT_EQ(found("d.test", kTwo, 8), "none");
  EXPECT_EQ(found("a.test", 3, 8), "a.test") << "another client takes the place of the least recently used one";
  EXPECT_EQ(retired_.back(), "many-2.test");
}

TEST_F(Requested, LeaveWithTheirBackend) {
  const auto kept = find("a.test", kOne);
  const auto other = portOfAny("other");
  plans_.find({"a.test", 80, other}, kOne, 4);
  auto backend = std::make_shared<routing::BackendPlan>();
  backend->dynamic = std::make_shared<const routing::DynamicTargets>(routing::DynamicTargets{{}, {portOfAny()}});
  plans_.keepOf({other, backend});
  EXPECT_EQ(plans_.size(), 1U);
  EXPECT_EQ(find("a.test", kOne), kept);
  plans_.keepOf({});
  EXPECT_FALSE(plans_.holds(kept->identity));
}

}  // namespace
}  // namespace sluice::upstream
