// Tests that the data of earlier revisions is read from the API server when another thread asks for it.
#include "proxy/kubernetes/revisions/earlier_revisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;

constexpr const char* kEarlierRevisions = "/apis/sluice.dev/v1alpha1/egressrevisions";

class EarlierRevisionsTest : public testing::Test {
 protected:
  void SetUp() override { offer({{"demo", "egress-a", "a"}, {"demo", "egress-b", "b"}}); }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    earlier.reset();
  }
  void offer(std::vector<EarlierRevision> newestFirst) {
    rig.inTurn([&] { earlier->offer(std::move(newestFirst)); });
  }
  void put(const std::string& revision, const std::string& state = "Superseded") {
    api.put(kEarlierRevisions, "demo", "egress-" + revision,
            R"("spec":{"gatewayRef":{"kind":"Gateway","name":"egress"},"revision":")" + revision +
                R"(","data":"data of )" + revision + R"("},"status":{"lastServed":"2026-11-01T00:00:00Z","state":")" +
                state + "\"}",
            R"("uid":"u")");
  }
  /// Fetches on another thread, while the main one goes on. Returns the data, or the error.
  std::string fetched(std::size_t which, std::chrono::milliseconds patience = std::chrono::minutes(1)) {
    const auto until = std::chrono::steady_clock::now() + patience;
    auto fetch = std::async(std::launch::async, [&] { return earlier->fetch(which, until); });
    while (fetch.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) api.serve();
    const auto got = fetch.get();
    return got ? (*got)->name + " " + (*got)->revision + " " + (*got)->data : got.error().detail;
  }

  ApiRig rig;
  FakeApi api{rig};
  std::unique_ptr<EarlierRevisions> earlier = std::make_unique<EarlierRevisions>(rig.client, rig.worker);
};

TEST_F(EarlierRevisionsTest, AreReadOneByOne) {
  put("a");
  put("b");
  EXPECT_EQ(earlier->count(), 2U);
  EXPECT_EQ(fetched(1), "egress-b b data of b");
  EXPECT_EQ(fetched(0), "egress-a a data of a");
  EXPECT_EQ(rig.target(0),
            "/apis/sluice.dev/v1alpha1/namespaces/demo/egressrevisions?fieldSelector=metadata.name%3Degress-b");
}

TEST_F(EarlierRevisionsTest, AreThoseOfTheLastCount) {
  put("a");
  put("c");
  EXPECT_EQ(earlier->count(), 2U);
  offer({{"demo", "egress-c", "c"}});
  EXPECT_EQ(fetched(0), "egress-a a data of a");
  EXPECT_EQ(earlier->count(), 1U);
  EXPECT_EQ(fetched(0), "egress-c c data of c");
}

TEST_F(EarlierRevisionsTest, HaveNoDataOnceTheyAreTaintedOrGone) {
  put("a", "Tainted");
  earlier->count();
  EXPECT_EQ(fetched(0), "egress-a a ");
  EXPECT_EQ(fetched(1), "egress-b b ");
}

TEST_F(EarlierRevisionsTest, AreNotWaitedForAfterTheServerHasRefusedOrTheTimeIsOver) {
  api.forbidden.insert(kEarlierRevisions);
  earlier->count();
  EXPECT_THAT(fetched(0), HasSubstr("EgressRevision egress-a cannot be read: HTTP status 403: "));
  api.holds = "egressrevisions";
  EXPECT_THAT(fetched(0, std::chrono::milliseconds(20)), HasSubstr("the API server does not answer"));
  rig.inTurn([this] { earlier->close(); });
  EXPECT_THAT(fetched(0), HasSubstr("the API server does not answer"));
}

}  // namespace
}  // namespace sluice::kubernetes
