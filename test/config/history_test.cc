#include "config/status/history.h"

#include <gtest/gtest.h>

#include "test/base/some_time.h"

namespace sluice::config {
namespace {

using base::someTime;
using namespace std::chrono_literals;

constexpr base::Duration kLater = 5s;

ObjectStatus gateway(std::string revision, ConditionStatus programmed = ConditionStatus::kTrue) {
  ObjectStatus status;
  status.kind = "Gateway";
  status.nameSpace = "demo";
  status.name = "egress";
  status.shape = StatusShape::kGateway;
  status.revision = status.servedRevision = std::move(revision);
  status.conditions.push_back({"Accepted", ConditionStatus::kTrue, "Accepted", "", std::nullopt});
  status.listeners.push_back({"web", 0, {}, {{"Programmed", programmed, "Programmed", "", std::nullopt}}});
  return status;
}

ObjectStatus route(std::string name, std::string parent) {
  ObjectStatus status;
  status.kind = "HTTPRoute";
  status.name = std::move(name);
  status.shape = StatusShape::kParents;
  ParentStatus one;
  one.parentRef.object.name = std::move(parent);
  one.conditions.push_back({"Accepted", ConditionStatus::kTrue, "Accepted", "", std::nullopt});
  status.parents.push_back(std::move(one));
  return status;
}

StatusList carried(StatusList statuses, const StatusList& before, base::Duration later) {
  carryHistory(statuses, before, someTime(later));
  return statuses;
}

TEST(History, BeginsWithTheFirstConfiguration) {
  const auto first = carried({gateway("a")}, {}, 0s);
  EXPECT_EQ(first[0].servedSince, someTime());
  EXPECT_EQ(first[0].changes, 1);
  EXPECT_EQ(first[0].conditions[0].lastTransitionTime, someTime());
  EXPECT_EQ(first[0].conditions[0].observedGeneration, 1);
  EXPECT_EQ(first[0].listeners[0].conditions[0].lastTransitionTime, someTime());
}

TEST(History, GoesOnAsLongAsNothingChanges) {
  const auto first = carried({gateway("a")}, {}, 0s);
  const auto second = carried({gateway("a")}, first, kLater);
  EXPECT_EQ(second[0].servedSince, someTime());
  EXPECT_EQ(second[0].changes, 1);
  EXPECT_EQ(second[0].listeners[0].conditions[0].lastTransitionTime, someTime());
}

TEST(History, SharesStatusesInWhichNothingChanged) {
  const auto first = carried({gateway("a"), route("a", "x")}, {}, 0s);
  const auto second = carried({gateway("a"), route("a", "x")}, first, kLater);
  EXPECT_EQ(second.shared(0), first.shared(0));
  EXPECT_EQ(second.shared(1), first.shared(1));
}

TEST(History, SharesNoStatusInWhichAnythingChanged) {
  const auto first = carried({gateway("a"), route("a", "x")}, {}, 0s);
  const auto isShared = [&](const ObjectStatus& changed, std::size_t index) {
    const auto second = carried({changed}, first, kLater);
    return second.shared(0) == first.shared(index);
  };
  const auto ofGateway = [&](const auto& change) {
    ObjectStatus changed = gateway("a");
    change(changed);
    return isShared(changed, 0);
  };
  EXPECT_TRUE(ofGateway([](ObjectStatus&) {}));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.revision = "b"; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.servedRevision = "b"; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.shape = StatusShape::kConditions; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.supportedFeatures.push_back("Gateway"); }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.addresses.push_back({"IPAddress", "127.0.0.1"}); }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.conditions[0].message = "why"; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.conditions[0].reason = "Other"; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.conditions[0].observedGeneration = 7; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.conditions.clear(); }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.listeners[0].attachedRoutes = 1; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.listeners[0].supportedKinds = {{"", "HTTPRoute"}}; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.listeners[0].conditions[0].message = "why"; }));
  EXPECT_FALSE(ofGateway([](ObjectStatus& each) { each.controllers.emplace_back(); }));
  EXPECT_FALSE(isShared(route("a", "y"), 1));
}

TEST(History, AChangedObjectIsServedSinceTheChangeAndItsConditionsSinceTheirOwn) {
  const auto first = carried({gateway("a")}, {}, 0s);
  const auto second = carried({gateway("b", ConditionStatus::kFalse)}, first, kLater);
  EXPECT_EQ(second[0].servedSince, someTime(kLater));
  EXPECT_EQ(second[0].changes, 2);
  EXPECT_EQ(second[0].conditions[0].lastTransitionTime, someTime());
  EXPECT_EQ(second[0].conditions[0].observedGeneration, 2);
  EXPECT_EQ(second[0].listeners[0].conditions[0].lastTransitionTime, someTime(kLater));
}

TEST(History, AnEarlierVersionThatIsServedOnKeepsItsTime) {
  const auto first = carried({gateway("a")}, {}, 0s);
  ObjectStatus refused = gateway("a");
  refused.revision = "b";
  const auto second = carried({refused}, first, kLater);
  EXPECT_EQ(second[0].servedRevision, "a");
  EXPECT_EQ(second[0].servedSince, someTime());
  EXPECT_EQ(second[0].changes, 2);
}

TEST(History, AnObjectOfWhichNothingIsServedHasNoTime) {
  ObjectStatus refused = gateway("a");
  refused.servedRevision.clear();
  EXPECT_EQ(carried({refused}, {}, 0s)[0].servedSince, std::nullopt);
}

TEST(History, IsThatOfTheObjectWhereverItStandsInTheList) {
  const auto first = carried({route("a", "x"), route("b", "x"), route("c", "x")}, {}, 0s);
  const auto second = carried({route("a", "x"), route("aa", "x"), route("c", "y"), route("b", "x")}, first, kLater);
  const auto since = [&](std::size_t i) { return second[i].parents[0].conditions[0].lastTransitionTime; };
  EXPECT_EQ(since(0), someTime());
  EXPECT_EQ(since(1), someTime(kLater)) << "the object is new";
  EXPECT_EQ(since(2), someTime(kLater)) << "the parent is new";
  EXPECT_EQ(since(3), someTime());
}

TEST(History, TheSourcesOwnGenerationCountsMore) {
  ObjectStatus written = gateway("a");
  written.conditions[0].observedGeneration = 7;
  EXPECT_EQ(carried({written}, {}, 0s)[0].conditions[0].observedGeneration, 7);
}

}  // namespace
}  // namespace sluice::config
