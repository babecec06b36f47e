// Tests that the events which another thread has collected come to the ring of the main thread.
#include "proxy/control/report/event_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "test/support/loop_driver.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;

TEST(EventRelays, HandAllOfABatchToTheRingOfTheMainThread) {
  const base::SystemClock clock;
  observe::Log log(observe::LogLevel::kOff, clock, observe::LineFile::over(2));
  observe::MetricsRegistry registry;
  observe::MetricShard metrics(registry);
  net::Worker main(clock);
  observe::EventRing ring(log, metrics);
  const EventRelay relay(main, ring);
  std::thread other([&] {
    observe::EventBatch batch;
    relay.send(batch);
    for (std::size_t i = 0; i <= observe::EventBatch::kMost; ++i) {
      batch.add(observe::EventType::kWarning, "Denied", "HTTPRoute n" + std::to_string(i) + "/r", "denied", {});
    }
    relay.send(batch);
    EXPECT_TRUE(batch.empty());
  });
  other.join();
  EXPECT_EQ(ring.document(), "[]\n") << "it belongs to the main thread";
  EXPECT_TRUE(sluice::test::runUntil(main, [&] { return ring.document() != "[]\n"; }));
  EXPECT_THAT(ring.document(), HasSubstr("HTTPRoute n0/r"));
  EXPECT_EQ(metrics.at<observe::Metric::kEventsDropped>().value(), 1u) << "there was one too many";
}

}  // namespace
}  // namespace sluice::control
