// Tests that of the objects with the controller's label only those are kept that are wanted.
#include "proxy/kubernetes/provision/wanted_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "test/kubernetes/provision/following_fixture.h"
#include "test/support/live_bytes.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kLabelledPath = "/api/v1/services";

class WantedObjectTests : public FollowingFixture<WantedObjects, WantedObjectsUser> {
 protected:
  WantedObjectTests() : FollowingFixture(labelledObjects(provisioned::kService), "Services cannot be read") {}
  void want(OwnedNames wanted) {
    act([&](WantedObjects& objects) { objects.want(std::move(wanted)); });
  }
  void put(const std::string& name, const std::string& owner) {
    api.put(kLabelledPath, "demo", name, "", labelledFor(owner));
  }
  std::size_t lists() { return api.asked("sendInitialEvents"); }

  std::set<std::string> found;  // the names
  int accesses = 0;

 private:
  void onFound(const ApiObjectKey& name, const content::Value&) override {
    found.insert(name.second);
    ++changes;
  }
  void onLost(const ApiObjectKey& name) override {
    EXPECT_EQ(found.erase(name.second), 1U) << "it was not found";
    ++changes;
  }
  void onAccess() override { ++accesses; }
};

TEST_F(WantedObjectTests, AreThoseWithTheWantedNameAndOwner) {
  put("a", "u-1");
  put("b", "u-1");
  put("c", "u-1");
  want({{{"demo", "a"}, "u-1"}, {{"demo", "b"}, "u-2"}, {{"demo", "c"}, ""}, {{"other", "c"}, "u-1"}});
  EXPECT_THAT(found, ElementsAre("a", "c")) << "anybody may own c";
  EXPECT_EQ(follower->access(), WantedObjects::Access::kRead);
  put("b", "u-2");
  put("a", "u-2");
  EXPECT_THAT(found, ElementsAre("b", "c")) << "a is another one now";
  api.remove(kLabelledPath, "demo", "b");
  EXPECT_THAT(found, ElementsAre("c"));
  want({});
  EXPECT_THAT(found, IsEmpty());
}

TEST_F(WantedObjectTests, AreListedAgainIfTheyWereThereBefore) {
  put("a", "u-1");
  want({});
  EXPECT_EQ(lists(), 1U);
  want({{{"demo", "new"}, "u-1"}});
  EXPECT_EQ(lists(), 1U) << "it is yet to come";
  want({{{"demo", "a"}, "u-1"}});
  EXPECT_EQ(lists(), 2U);
  EXPECT_THAT(found, ElementsAre("a"));
  want({});
  want({{{"demo", "a"}, "u-1"}});
  EXPECT_THAT(found, ElementsAre("a")) << "it was there all the time";
  put("later", "u-1");
  want({{{"demo", "a"}, "u-1"}, {{"demo", "later"}, "u-1"}});
  EXPECT_THAT(found, ElementsAre("a", "later"));
}

TEST_F(WantedObjectTests, AreLostIfANewListDoesNotHaveThem) {
  put("a", "u-1");
  put("b", "u-1");
  want({{{"demo", "a"}, "u-1"}, {{"demo", "b"}, "u-1"}});
  api.forbidden = {kLabelledPath};
  api.endWatches(kLabelledPath);
  api.remove(kLabelledPath, "demo", "a");
  api.pass(seconds(30));
  EXPECT_THAT(found, ElementsAre("a", "b")) << "nothing is known of this gap";
  api.forbidden.clear();
  api.pass(seconds(60));
  EXPECT_THAT(found, ElementsAre("b"));
}

TEST_F(WantedObjectTests, AreMissedOnceInTheLog) {
  api.forbidden = {kLabelledPath};
  want({{{"demo", "a"}, "u-1"}});
  api.pass(seconds(90));
  EXPECT_EQ(follower->access(), WantedObjects::Access::kNone);
  EXPECT_EQ(accesses, 1);
  EXPECT_EQ(rig.logged.count("Services cannot be read"), 1U) << rig.logged.text();
  api.forbidden.clear();
  put("a", "u-1");
  api.pass(seconds(60));
  EXPECT_THAT(found, ElementsAre("a"));
  EXPECT_EQ(accesses, 2);
}

/// Returns the bytes that a follower of one Service keeps when so many others have its label.
class CrowdedServices : public WantedObjectTests {
 public:
  explicit CrowdedServices(int others) : others_(others) {}
  void TestBody() override {
    put("wanted", "u-1");
    for (int i = 0; i < others_; ++i) put("a-service-of-somebody-else-" + std::to_string(i), "u-of-a-stranger");
    want({{{"demo", "wanted"}, "u-1"}});
    for (int i = 0; i < others_ / 100; ++i) put("a-later-service-" + std::to_string(i), "u-of-a-stranger");
    EXPECT_THAT(found, ElementsAre("wanted"));
    const std::size_t before = sluice::test::liveBytes();
    TearDown();
    kept = before - sluice::test::liveBytes();
  }

  std::size_t kept = 0;

 private:
  const int others_;
};

TEST(WantedObjects, KeepNoMemoryOfTheServicesOfStrangers) {
  CrowdedServices alone(0);
  alone.TestBody();
  CrowdedServices crowded(10'000);
  crowded.TestBody();
  EXPECT_GT(alone.kept, 8'000U) << "the table of marks";
  EXPECT_LT(crowded.kept, alone.kept + 16'384);
}

}  // namespace
}  // namespace sluice::kubernetes
