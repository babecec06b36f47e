// Tests that the catalog is applied when it changes, and only by the leader.
#include "proxy/kubernetes/status/catalog_publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::string listWith(const std::string& data) {
  return R"({"apiVersion":"v1","kind":"List","items":[)"
         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kinds","namespace":"demo"},"data":{"a":")" +
         data +
         R"("}},{"apiVersion":"gateway.networking.k8s.io/v1","kind":"GatewayClass","metadata":{"name":"sluice",)"
         R"("annotations":{"a":"demo/kinds"}}}]})";
}

class PublishedCatalogs : public ::testing::Test {
 protected:
  void want(const std::string& list) {
    rig.inTurn([&] { publisher->want(list); });
  }
  void lead(bool leads = true) {
    rig.inTurn([&] { publisher->lead(leads); });
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    publisher.reset();
  }
  ApiRig rig;
  std::unique_ptr<CatalogPublisher> publisher = std::make_unique<CatalogPublisher>(rig.client);
};

TEST_F(PublishedCatalogs, AreAppliedOneObjectAfterTheOther) {
  want(listWith("one"));
  EXPECT_EQ(rig.requests(), 0u) << "it does not lead";
  lead();
  ASSERT_EQ(rig.requests(), 1u);
  EXPECT_EQ(rig.target(0), "/api/v1/namespaces/demo/configmaps/kinds?fieldManager=sluice-catalog&force=true");
  EXPECT_EQ(rig.field(0, "content-type"), "application/apply-patch+yaml");
  EXPECT_THAT(rig.request(0).body, HasSubstr("\"one\""));
  rig.answer(0, 200, "{}");
  ASSERT_EQ(rig.requests(), 2u);
  EXPECT_EQ(rig.target(1),
            "/apis/gateway.networking.k8s.io/v1/gatewayclasses/sluice?fieldManager=sluice-catalog&force=true");
  rig.answer(1, 200, "{}");
  want(listWith("one"));
  rig.advance(seconds(59));
  EXPECT_EQ(rig.requests(), 2u);
}

TEST_F(PublishedCatalogs, AreAppliedOnceAMinuteBecauseSomebodyMayHaveDeletedThem) {
  lead();
  want(listWith("one"));
  for (std::size_t round = 0; round < 3; ++round) {
    ASSERT_EQ(rig.requests(), 2 * round + 1);
    rig.answer(2 * round, 200, "{}");
    rig.answer(2 * round + 1, 200, "{}");
    rig.advance(seconds(59));
    EXPECT_EQ(rig.requests(), 2 * round + 2);
    rig.advance(seconds(2));
  }
}

TEST_F(PublishedCatalogs, AreAppliedAgainWhenTheyHaveChangedMeanwhile) {
  lead();
  want(listWith("one"));
  want(listWith("two"));
  rig.answer(0, 200, "{}");
  rig.answer(1, 200, "{}");
  ASSERT_EQ(rig.requests(), 3u);
  EXPECT_THAT(rig.request(2).body, HasSubstr("\"two\""));
}

TEST_F(PublishedCatalogs, AreTriedAgainLaterAndTheReasonIsSaidOnce) {
  lead();
  want(listWith("one"));
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(rig.requests(), i + 1);
    rig.answer(i, 403, statusBody(403, "not permitted"));
    rig.advance(seconds(9));
    EXPECT_EQ(rig.requests(), i + 1);
    rig.advance(seconds(2));
  }
  EXPECT_EQ(rig.logged.count("cannot be published"), 1u);
}

TEST_F(PublishedCatalogs, AreNotAppliedForAClassThatIsGone) {
  lead();
  want(listWith("one"));
  rig.answer(0, 403, statusBody(403, "not permitted"));
  want("");
  rig.advance(seconds(60));
  lead(false);
  lead();
  EXPECT_EQ(rig.requests(), 1u) << "to apply a class would create it";
}

TEST_F(PublishedCatalogs, AreAppliedAnewByWhoeverLeadsNext) {
  lead();
  want(listWith("one"));
  rig.answer(0, 200, "{}");
  rig.answer(1, 200, "{}");
  lead(false);
  want(listWith("two"));
  EXPECT_EQ(rig.requests(), 2u);
  lead();
  EXPECT_EQ(rig.requests(), 3u);
}

}  // namespace
}  // namespace sluice::kubernetes
