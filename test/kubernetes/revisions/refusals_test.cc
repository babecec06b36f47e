#include "proxy/kubernetes/revisions/refusals.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;

class RefusalsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kMost = 5;
  void refuse(const std::string& revision) {
    rig.inTurn([&] { refusals.note(revision, "digest of " + revision, kMost); });
  }
  /// Lets time pass in small steps, in which each further attempt is refused, too. Returns how long it took to the end.
  milliseconds timeToTheEnd() {
    milliseconds taken{0};
    for (; !refusals.areFinal() && taken < milliseconds(5000); ++taken) {
      if (again.size() == refusals.count()) refuse("a");
      rig.advance(milliseconds(1));
    }
    return taken;
  }

  ApiRig rig;
  std::vector<std::string> again;
  Refusals refusals{rig.worker, 7, [this](const std::string& digest) { again.push_back(digest); }};
};

TEST_F(RefusalsTest, AreFinalAfterAsManyAttemptsWithinASecond) {
  refuse("a");
  EXPECT_EQ(refusals.count(), 1U);
  EXPECT_FALSE(refusals.areFinal());
  const milliseconds taken = timeToTheEnd();
  EXPECT_EQ(refusals.count(), kMost);
  EXPECT_EQ(again, std::vector<std::string>(kMost - 1, "digest of a"));
  EXPECT_GE(taken, milliseconds(60));
  EXPECT_LE(taken, milliseconds(1000));
  rig.advance(std::chrono::minutes(1));
  EXPECT_EQ(again.size(), kMost - 1) << "it is not tried any more";
  refuse("a");
  EXPECT_TRUE(refusals.areFinal());
  EXPECT_EQ(refusals.count(), kMost) << "whenever it is read again";
}

TEST_F(RefusalsTest, BeginAgainWithAnotherRevision) {
  refuse("a");
  refuse("a");
  EXPECT_EQ(refusals.count(), 2U);
  refuse("b");
  EXPECT_EQ(refusals.count(), 1U);
  rig.advance(milliseconds(10));
  EXPECT_EQ(again, (std::vector<std::string>{"digest of a", "digest of b"})) << "the first time at once";
}

TEST_F(RefusalsTest, EndWhenNothingIsRefused) {
  refuse("a");
  refuse("a");
  rig.inTurn([this] { refusals.clear(); });
  rig.advance(std::chrono::minutes(1));
  EXPECT_EQ(again.size(), 1U) << "the second attempt is not made";
  EXPECT_EQ(refusals.count(), 0U);
  refuse("a");
  EXPECT_EQ(refusals.count(), 1U);
}

TEST_F(RefusalsTest, AreFinalAtOnceIfOneIsEnough) {
  rig.inTurn([this] { refusals.note("a", "digest of a", 1); });
  EXPECT_TRUE(refusals.areFinal());
  rig.advance(std::chrono::minutes(1));
  EXPECT_TRUE(again.empty());
}

}  // namespace
}  // namespace sluice::kubernetes
