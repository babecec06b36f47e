#include "proxy/observe/events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "test/support/manual_clock.h"

namespace sluice::observe {
namespace {

constexpr base::WallTime at(int second) { return base::WallTime(std::chrono::seconds(second)); }

TEST(EventBatch, CountsEqualEventsAndBoundsDifferentOnes) {
  EventBatch batch;
  EXPECT_TRUE(batch.empty());
  batch.add(EventType::kWarning, "RequestDenied", "Backend a/b", "first", at(1));
  batch.add(EventType::kWarning, "RequestDenied", "Backend a/b", "second", at(2));
  batch.add(EventType::kNormal, "RequestDenied", "Backend a/b", "other type", at(3));
  for (std::size_t i = 0; i < EventBatch::kMost; ++i) {
    batch.add(EventType::kWarning, "RequestDenied", "Backend " + std::to_string(i), "m", at(4));
  }
  EXPECT_FALSE(batch.empty());
  const std::vector<Event> taken = batch.take();
  ASSERT_EQ(taken.size(), EventBatch::kMost);
  EXPECT_EQ(batch.takeDropped(), 2U);
  EXPECT_TRUE(batch.empty());
  const auto denied = std::find_if(taken.begin(), taken.end(), [](const Event& each) {
    return each.type == EventType::kWarning && each.object == "Backend a/b";
  });
  ASSERT_NE(denied, taken.end());
  EXPECT_EQ(denied->count, 2U);
  EXPECT_EQ(denied->message, "second");
  EXPECT_EQ(denied->first, at(1));
  EXPECT_EQ(denied->last, at(2));
}

TEST(EventBatch, LeavesPlacesToOtherNamespaces) {
  EventBatch batch;
  for (std::size_t i = 0; i < 2 * EventBatch::kMostOfNamespace; ++i) {
    batch.add(EventType::kWarning, "ProcessorFailed", "PayloadProcessor flood/p" + std::to_string(i), "m", at(1));
  }
  EXPECT_EQ(batch.takeDropped(), EventBatch::kMostOfNamespace);
  batch.add(EventType::kWarning, "ProcessorFailed", "PayloadProcessor quiet/p", "m", at(1));
  batch.add(EventType::kWarning, "ProcessorFailed", "PayloadProcessor flood/p0", "known", at(1));
  batch.add(EventType::kWarning, "RolledBack", "", "m", at(1));
  EXPECT_EQ(batch.takeDropped(), 0U);
  EXPECT_EQ(batch.take().size(), EventBatch::kMostOfNamespace + 2);
  batch.add(EventType::kWarning, "ProcessorFailed", "PayloadProcessor flood/p999", "m", at(2));
  EXPECT_EQ(batch.take().size(), 1U) << "each batch begins anew";
}

class EventRingTest : public testing::Test {
 protected:
  static Event event(const std::string& object, int second, std::uint64_t count = 1) {
    return {EventType::kWarning, "RequestDenied", object, "m", count, at(second), at(second)};
  }
  double dropped() { return static_cast<double>(metrics_.at<Metric::kEventsDropped>().value()); }
  std::string logged() {
    ::fflush(nullptr);
    return testing::internal::GetCapturedStderr();
  }

  test::ManualClock clock_;
  MetricsRegistry registry_;
  MetricShard metrics_{registry_};
};

TEST_F(EventRingTest, ShowsTheNewestFirstWithCountsAndTimes) {
  Log log(LogLevel::kOff, clock_, LineFile::over(STDERR_FILENO));
  EventRing ring(log, metrics_);
  ring.add({event("a", 1), event("b", 2)});
  ring.add({event("a", 5, 3)});
  ring.note({EventType::kNormal, "Reloaded", "", "revision x is served", 1, at(7), at(7)});
  EXPECT_EQ(
      ring.document(),
      "[{\"time\":\"1970-01-01T00:00:07.000Z\",\"first\":\"1970-01-01T00:00:07.000Z\","
      "\"last\":\"1970-01-01T00:00:07.000Z\",\"count\":1,\"type\":\"Normal\",\"reason\":\"Reloaded\",\"object\":\"\","
      "\"message\":\"revision x is served\"},"
      "{\"time\":\"1970-01-01T00:00:05.000Z\",\"first\":\"1970-01-01T00:00:01.000Z\","
      "\"last\":\"1970-01-01T00:00:05.000Z\",\"count\":4,\"type\":\"Warning\",\"reason\":\"RequestDenied\","
      "\"object\":\"a\",\"message\":\"m\"},"
      "{\"time\":\"1970-01-01T00:00:02.000Z\",\"first\":\"1970-01-01T00:00:02.000Z\","
      "\"last\":\"1970-01-01T00:00:02.000Z\",\"count\":1,\"type\":\"Warning\",\"reason\":\"RequestDenied\","
      "\"object\":\"b\",\"message\":\"m\"}]\n");
}

TEST_F(EventRingTest, HoldsABoundedNumberAndCountsTheOthers) {
  Log log(LogLevel::kOff, clock_, LineFile::over(STDERR_FILENO));
  EventRing ring(log, metrics_);
  for (std::size_t i = 0; i < EventRing::kMost + 5; ++i) ring.add({event(std::to_string(i), 1)});
  EXPECT_EQ(dropped(), 5);
  EXPECT_EQ(ring.document().find("\"object\":\"4\","), std::string::npos);
  EXPECT_NE(ring.document().find("\"object\":\"5\","), std::string::npos);
  ring.add({}, 7);
  EXPECT_EQ(dropped(), 12);
}

TEST_F(EventRingTest, LogsAnEventOnceAMinuteAndAFewAtATime) {
  const auto lines = [this](const std::function<void(EventRing&)>& use) {
    testing::internal::CaptureStderr();
    {
      Log log(LogLevel::kInfo, clock_, LineFile::over(STDERR_FILENO));
      EventRing ring(log, metrics_);
      use(ring);
    }
    const std::string text = logged();
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines([](EventRing& ring) {
              for (int second = 100; second < 220; ++second) ring.add({event("a", second)});
            }),
            2);
  EXPECT_EQ(lines([](EventRing& ring) {
              std::vector<Event> many;
              for (int i = 0; i < 100; ++i) many.push_back(event(std::to_string(i), 100));
              ring.add(std::move(many));
            }),
            20);
  EXPECT_EQ(lines([](EventRing& ring) { ring.note(event("a", 100)); }), 0);
}

}  // namespace
}  // namespace sluice::observe
