#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "proxy/observe/metrics_reader.h"
#include "test/observe/support.h"

namespace sluice::observe {
namespace {

std::uint64_t valueOf(const std::string& text, const std::string& series) {
  const std::size_t at = text.find("\n" + series + " ");
  if (at == std::string::npos) return 0;
  return std::stoull(text.substr(at + series.size() + 2));
}

TEST(MetricsThreads, SumUpTheCountsOfManyWorkersWhileTheyAreRead) {
  constexpr int kWorkers = 4;
  constexpr int kRounds = 5000;
  MetricsRegistry registry(50);
  std::atomic<int> running = kWorkers;
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&registry, &running] {
      MetricShard shard(registry);
      Counter& hits = shard.at<Metric::kLimitHits>("connections");
      for (int round = 0; round < kRounds; ++round) {
        hits.add();
        shard.at<Metric::kDnsLookupDuration>(std::to_string(round % 60), "")
            .observe(std::chrono::milliseconds(round % 20));
      }
      --running;
    });
  }
  std::uint64_t last = 0;
  while (running > 0) {
    const std::uint64_t now = valueOf(exposeMetrics(registry), "sluice_limit_hits_total{limit=\"connections\"}");
    EXPECT_GE(now, last) << "a counter never goes back";
    last = now;
  }
  for (std::thread& worker : workers) worker.join();

  std::uint64_t lookups = 0;
  for (const std::string& line : splitLines(exposeMetrics(registry))) {
    if (line.starts_with("dns_lookup_duration_seconds_count")) lookups += std::stoull(line.substr(line.rfind(' ')));
  }
  EXPECT_EQ(lookups, std::uint64_t{kWorkers} * kRounds) << "each observation is somewhere, once";
  EXPECT_EQ(valueOf(exposeMetrics(registry), "sluice_limit_hits_total{limit=\"connections\"}"),
            std::uint64_t{kWorkers} * kRounds);
}

TEST(MetricsThreads, BucketsAlwaysAgreeWithTheirCount) {
  MetricsRegistry registry;
  std::atomic<bool> stop = false;
  std::thread worker([&registry, &stop] {
    MetricShard shard(registry);
    Histogram& histogram = shard.at<Metric::kDnsLookupDuration>("x", "");
    for (int i = 0; !stop; ++i) histogram.observe(std::chrono::milliseconds(i % 20'000));
  });
  const std::string labels = "{dns_question_name=\"x\",error_type=\"\"";
  for (int i = 0; i < 200; ++i) {
    const std::string text = exposeMetrics(registry);
    EXPECT_EQ(valueOf(text, "dns_lookup_duration_seconds_bucket" + labels + ",le=\"+Inf\"}"),
              valueOf(text, "dns_lookup_duration_seconds_count" + labels + "}"));
  }
  stop = true;
  worker.join();
}

TEST(MetricsThreads, SeriesComeAndGoWhileTheyAreRead) {
  MetricsRegistry registry(40);
  std::atomic<int> running = 3;
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&registry, &running] {
      MetricShard shard(registry);
      for (int round = 0; round < 300; ++round) {
        for (int backend = 0; backend < 20; ++backend) {
          shard.at<Metric::kClientOpenConnections>("a/" + std::to_string(backend), "idle").add(1);
          shard.at<Metric::kClientOpenConnections>("a/" + std::to_string(backend), "idle").add(-1);
        }
        shard.forget([round](std::string_view object) { return object == "a/" + std::to_string(round % 20); });
      }
      shard.forget([](std::string_view) { return false; });
      --running;
    });
  }
  while (running > 0) EXPECT_EQ(valueOf(exposeMetrics(registry), "sluice_metric_series_dropped_total"), 0u);
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(exposeMetrics(registry).find("http_client_open_connections{"), std::string::npos);
}

}  // namespace
}  // namespace sluice::observe
