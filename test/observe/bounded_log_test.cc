#include "proxy/observe/bounded_log.h"

#include <gtest/gtest.h>

#include "test/observe/support.h"
#include "test/support/manual_clock.h"

namespace sluice::observe {
namespace {

class BoundedLogTest : public testing::Test {
 protected:
  std::size_t lines() { return splitLines(pipe_.read()).size(); }
  void tell(int times) {
    for (int i = 0; i < times; ++i) {
      if (bounded_.wants()) bounded_.write("something", {{"number", i}});
    }
  }

  LogPipe pipe_;
  sluice::test::ManualClock clock_;
  Log log_{LogLevel::kDebug, clock_, LineFile::over(pipe_.writer())};
  BoundedLog bounded_{&log_, clock_};
};

TEST_F(BoundedLogTest, WritesNoMoreThanItsBoundInASecondAndSaysHowManyWereLeftOut) {
  tell(150);
  EXPECT_EQ(lines(), 100U);
  clock_.advance(std::chrono::seconds(1));
  tell(1);
  const std::string text = pipe_.read();
  EXPECT_NE(text.find("some were dropped"), std::string::npos);
  EXPECT_NE(text.find("\"lines\":50"), std::string::npos) << text;
  EXPECT_EQ(splitLines(text).size(), 2U);
}

TEST_F(BoundedLogTest, FollowsTheLevelOfTheLog) {
  log_.setLevel(LogLevel::kInfo);
  tell(1);
  EXPECT_EQ(lines(), 0U);
  log_.setLevel(LogLevel::kDebug);
  tell(1);
  EXPECT_EQ(lines(), 1U);
}

TEST_F(BoundedLogTest, HasALevelOfItsOwn) {
  BoundedLog traced(&log_, clock_, LogLevel::kTrace);
  EXPECT_FALSE(traced.wants()) << "the log has the level debug";
  log_.setLevel(LogLevel::kTrace);
  ASSERT_TRUE(traced.wants());
  traced.write("something", {});
  EXPECT_NE(pipe_.read().find("\"TRACE\""), std::string::npos);
}

TEST_F(BoundedLogTest, IsSilentWithoutALog) {
  BoundedLog silent(nullptr, clock_);
  EXPECT_FALSE(silent.wants());
}

}  // namespace
}  // namespace sluice::observe
