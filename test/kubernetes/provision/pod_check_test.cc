#include "proxy/kubernetes/provision/pod_check.h"

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
using testing::Not;

class PodChecking : public testing::Test, private PodCheckUser {
 protected:
  void watch() {
    rig.inTurn([&] { check->watch(kName); });
    pass(PodCheck::kFirstLookAfter);
  }
  /// Lets so much time pass, and a moment more, because timers have their grain.
  void pass(base::Duration time) { rig.advance(time + std::chrono::milliseconds(100)); }
  /// Answers the next request with a Pod that waits for this reason; `more` is the token of the next page.
  void answer(const std::string& reason, const std::string& more = "") {
    rig.answer(answered++, 200,
               R"({"metadata":{"continue":")" + more +
                   R"("},"items":[{"status":{"containerStatuses":[{"image":"a","state":{"waiting":{"reason":")" +
                   reason + R"("}}}]}}]})");
  }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    check.reset();
  }

  const PodCheck::DeploymentName kName{"demo", "egress"};
  std::size_t answered = 0;
  int changes = 0;
  ApiRig rig;
  std::unique_ptr<PodCheck> check = std::make_unique<PodCheck>(rig.client, static_cast<PodCheckUser&>(*this));

 private:
  void onPodsChecked() override { ++changes; }
};

TEST_F(PodChecking, ReadsAllPagesBeforeItTells) {
  watch();
  answer("ImagePullBackOff", "page/2");
  EXPECT_EQ(check->faultOf(kName), "");
  ASSERT_EQ(rig.requests(), 2U);
  EXPECT_THAT(rig.target(1), HasSubstr("&continue=page%2F2"));
  answer("CrashLoopBackOff");
  EXPECT_EQ(check->faultOf(kName), "CrashLoopBackOff: image a; ImagePullBackOff: image a");
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(rig.requests(), 2U) << "the next look is later";
  pass(PodCheck::kLookAgainAfter);
  ASSERT_EQ(rig.requests(), 3U);
  EXPECT_THAT(rig.target(2), Not(HasSubstr("continue")));
  answer("ContainerCreating");
  EXPECT_EQ(check->faultOf(kName), "");
  EXPECT_EQ(changes, 2);
}

TEST_F(PodChecking, ReadsNotMorePagesThanItsBoundAndKeepsFewReasons) {
  watch();
  for (int page = 0; page < PodCheck::kMostPages; ++page) {
    ASSERT_EQ(rig.requests(), answered + 1);
    answer("Reason" + std::to_string(page), "more");
  }
  EXPECT_EQ(rig.requests(), answered) << "whoever makes Pods with these labels hides only his own";
  EXPECT_THAT(check->faultOf(kName), HasSubstr("Reason3"));
  EXPECT_THAT(check->faultOf(kName), Not(HasSubstr("Reason4")));
}

TEST_F(PodChecking, BeginsAnewAfterAPageThatFails) {
  watch();
  answer("ImagePullBackOff", "old");
  rig.answer(answered++, 410, statusBody(410, "the token is too old"));
  pass(PodCheck::kLookAgainAfter);
  ASSERT_EQ(rig.requests(), 3U);
  EXPECT_THAT(rig.target(2), Not(HasSubstr("continue")));
  answer("CrashLoopBackOff");
  EXPECT_EQ(check->faultOf(kName), "CrashLoopBackOff: image a");
}

TEST_F(PodChecking, LooksLessAndLessOftenUntilTheDeploymentChanges) {
  watch();
  answer("ImagePullBackOff");
  for (const base::Duration pause : {seconds(5), seconds(10), seconds(20), seconds(40), seconds(60), seconds(60)}) {
    rig.advance(pause - seconds(1));
    EXPECT_EQ(rig.requests(), answered) << pause / seconds(1);
    pass(seconds(1));
    ASSERT_EQ(rig.requests(), answered + 1) << pause / seconds(1);
    answer("ImagePullBackOff");
  }
  rig.inTurn([&] { check->watch(kName); });
  for (int look = 0; look < 2; ++look) {
    pass(PodCheck::kLookAgainAfter);
    ASSERT_EQ(rig.requests(), answered + 1);
    answer("ImagePullBackOff");
  }
  EXPECT_EQ(changes, 1);
}

TEST_F(PodChecking, TakesNoAnswerAboutADeploymentThatItHasForgotten) {
  watch();
  rig.inTurn([&] { check->forget(kName); });
  answer("ImagePullBackOff");
  pass(PodCheck::kLookAgainAfter);
  EXPECT_EQ(check->faultOf(kName), "");
  EXPECT_EQ(rig.requests(), 1U);
  EXPECT_EQ(changes, 0);
}

}  // namespace
}  // namespace sluice::kubernetes
