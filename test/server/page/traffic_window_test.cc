#include "proxy/server/page/traffic_window.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace sluice::server {
namespace {

using observe::Metric;
using std::chrono::milliseconds;
using std::chrono::seconds;

class TrafficWindows : public ::testing::Test {
 protected:
  void request(const char* route, const char* backend, base::Duration time, const char* status = "200",
               const char* error = "", int count = 1) {
    auto& server =
        shard_.at<Metric::kServerRequestDuration>("demo/egress", route, backend, "", "", "GET", status, error);
    auto& client =
        shard_.at<Metric::kClientRequestDuration>("demo/egress", route, backend, "", "", "GET", status, error);
    for (int i = 0; i < count; ++i) {
      server.observe(time);
      client.observe(time);
    }
  }
  void readAt(int second) { window_.read(registry_, base::MonotonicTime(seconds(1000 + second))); }

  observe::MetricsRegistry registry_;
  observe::MetricShard shard_{registry_};
  TrafficWindow window_;
};

TEST_F(TrafficWindows, CountOnlyWhatComesAfterTheFirstLook) {
  request("demo/a", "demo/x", milliseconds(1), "200", "", 1000);
  readAt(0);
  EXPECT_FALSE(window_.all().rate) << "a rate needs a time";
  EXPECT_FALSE(window_.route("demo/a").p50Ms);
  request("demo/a", "demo/x", milliseconds(1), "200", "", 6);
  request("demo/b", "demo/x", milliseconds(1), "502", "connection_refused", 4);
  readAt(2);
  EXPECT_DOUBLE_EQ(window_.all().rate.value(), 5);
  EXPECT_DOUBLE_EQ(window_.all().errors.value(), 2);
  EXPECT_DOUBLE_EQ(window_.route("demo/a").rate.value(), 3);
  EXPECT_DOUBLE_EQ(window_.route("demo/a").errors.value(), 0);
  EXPECT_DOUBLE_EQ(window_.route("demo/b").serverErrors.value(), 2);
  EXPECT_DOUBLE_EQ(window_.backend("demo/x").rate.value(), 5);
  EXPECT_DOUBLE_EQ(window_.route("demo/unknown").rate.value(), 0);
  EXPECT_FALSE(window_.route("demo/unknown").p99Ms) << "no request, no time";
}

TEST_F(TrafficWindows, ForgetWhatIsOlderThanTwentySeconds) {
  readAt(0);
  request("demo/a", "demo/x", milliseconds(1), "200", "", 100);
  shard_.at<Metric::kLimitHits>("connect").add(100);
  for (int second = 1; second <= 9; ++second) readAt(second);
  EXPECT_DOUBLE_EQ(window_.route("demo/a").rate.value(), 100.0 / 9);
  EXPECT_DOUBLE_EQ(window_.hits("connect").value(), 100.0 / 9);
  for (int second = 10; second <= 21; ++second) readAt(second);
  EXPECT_DOUBLE_EQ(window_.route("demo/a").rate.value(), 0);
  EXPECT_DOUBLE_EQ(window_.hits("connect").value(), 0);
  EXPECT_EQ(window_.hitsSinceStart("connect"), 100u);
  request("demo/a", "demo/x", milliseconds(1), "200", "", 12);
  readAt(21);
  EXPECT_GT(window_.route("demo/a").rate.value(), 0);
}

TEST_F(TrafficWindows, ReadNamesThatTheFormatOfMetricsEscapes) {
  readAt(0);
  request("demo/a\"b\\n", "demo/x\n,route=\"demo/c\"", milliseconds(1));
  readAt(1);
  EXPECT_DOUBLE_EQ(window_.route("demo/a\"b\\n").rate.value(), 1);
  EXPECT_DOUBLE_EQ(window_.backend("demo/x\n,route=\"demo/c\"").rate.value(), 1);
  EXPECT_DOUBLE_EQ(window_.route("demo/c").rate.value(), 0);
}

TEST_F(TrafficWindows, ForgetSeriesThatHaveEnded) {
  readAt(0);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 400; ++i) {
      request(("demo/r" + std::to_string(round * 400 + i)).c_str(), "demo/x", milliseconds(1));
    }
    readAt(1 + round);
    shard_.forget([](std::string_view) { return false; });
  }
  readAt(5);
  EXPECT_FALSE(window_.all().rate) << "it begins anew";
  request("demo/a", "demo/x", milliseconds(1));
  readAt(6);
  EXPECT_DOUBLE_EQ(window_.all().rate.value(), 1);
}

TEST_F(TrafficWindows, SumConnectionsOfAllWorkers) {
  observe::MetricShard other(registry_);
  shard_.at<Metric::kDownstreamConnections>().add(3);
  other.at<Metric::kDownstreamConnections>().add(4);
  readAt(0);
  EXPECT_EQ(window_.connections(), 7);
}

TEST(QuantileMs, LiesWithinTheBucketAsPrometheusEstimatesIt) {
  std::array<std::uint64_t, observe::Histogram::kBuckets> buckets{};
  EXPECT_FALSE(quantileMs(buckets, 0.5));
  buckets[1] = 10;  // 5 to 10 ms
  EXPECT_DOUBLE_EQ(quantileMs(buckets, 0.5).value(), 7.5);
  buckets[0] = 10;
  EXPECT_DOUBLE_EQ(quantileMs(buckets, 0.5).value(), 5);
  buckets.back() = 1000;
  EXPECT_DOUBLE_EQ(quantileMs(buckets, 0.99).value(), 10'000) << "the last bound";
}

}  // namespace
}  // namespace sluice::server
