// The series of the registry: their number per namespace, their end, and how a page of them is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/observe/metrics_reader.h"
#include "test/observe/support.h"

namespace sluice::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Metric kRequests = Metric::kServerActiveRequests;
constexpr Metric kDurations = Metric::kServerRequestDuration;

Histogram& durationsOf(MetricShard& shard, std::string_view route, int status) {
  return shard.at<kDurations>("infra/egress", route, "infra/origin", "", "", "GET", std::to_string(status), "");
}

std::size_t countOf(const MetricsRegistry& registry, std::string_view start) {
  std::size_t count = 0;
  for (const std::string& line : splitLines(exposeMetrics(registry))) {
    if (line.starts_with(start)) ++count;
  }
  return count;
}

std::size_t seriesOf(const MetricsRegistry& registry) {
  return countOf(registry, "http_server_request_duration_seconds_count{");
}

TEST(MetricsOfNamespaces, DoNotTakeTheSeriesOfOtherNamespaces) {
  MetricsRegistry registry(10);
  MetricShard shard(registry);
  for (int status = 200; status < 300; ++status) durationsOf(shard, "greedy/route", status);
  EXPECT_EQ(seriesOf(registry), 11u) << "with the one for all others";
  for (int status = 200; status < 210; ++status) durationsOf(shard, "modest/route", status).observe({});
  EXPECT_EQ(seriesOf(registry), 21u);
  EXPECT_THAT(exposeMetrics(registry),
              HasSubstr("http_server_request_duration_seconds_count{gateway=\"infra/egress\",route="
                        "\"modest/route\",backend=\"infra/origin\",namespace=\"\",serviceAccount="
                        "\"\",http_request_method=\"GET\",http_response_status_code=\"209\",error_type=\"\"} 1\n"));
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("sluice_metric_series_dropped_total 90\n"));
  durationsOf(shard, "modest/route", 210);
  EXPECT_EQ(seriesOf(registry), 21u) << "it has all of its own";
}

TEST(MetricsOfNamespaces, BelongToTheRouteOrTheBackendOrTheGateway) {
  MetricsRegistry registry(1);
  MetricShard shard(registry);
  shard.at<kRequests>("a/gateway", "b/route", "c/backend", "", "", "GET").add(1);
  shard.at<kRequests>("a/gateway", "", "c/backend", "", "", "GET").add(2);
  shard.at<kRequests>("a/gateway", "", "", "", "", "GET").add(3);
  shard.at<kRequests>("", "", "", "", "", "GET").add(4);
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("\"__other__\"")));
  shard.at<kRequests>("x/gateway", "b/other", "x/backend", "", "", "GET").add(1);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("route=\"__other__\""));
}

TEST(MetricsOfNamespaces, AreBoundedTogether) {
  MetricsRegistry registry(10, 25);
  MetricShard shard(registry);
  for (const char* route : {"a/route", "b/route", "c/route", "d/route"}) {
    for (int status = 200; status < 210; ++status) durationsOf(shard, route, status);
  }
  EXPECT_EQ(seriesOf(registry), 26u);
}

void callBy(MetricShard& shard, const std::string& nameSpace, const std::string& account) {
  shard.at<kRequests>("infra/egress", "shared/route", "infra/origin", nameSpace, account, "GET").add(1);
}

TEST(MetricsOfWorkloads, LeaveRoomForSeriesThatNameNone) {
  MetricsRegistry registry(8);
  MetricShard shard(registry);
  for (int i = 0; i < 10; ++i) callBy(shard, "greedy", "account-" + std::to_string(i));
  EXPECT_EQ(countOf(registry, "http_server_active_requests{"), 7u) << "three quarters, and the one that others share";
  EXPECT_THAT(exposeMetrics(registry),
              HasSubstr("{gateway=\"infra/egress\",route=\"shared/route\",backend=\"infra/origin\",namespace="
                        "\"__other__\",serviceAccount=\"__other__\",http_request_method=\"GET\"} 4\n"));
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("sluice_metric_series_dropped_total 4\n"));
  callBy(shard, "", "");
  EXPECT_EQ(countOf(registry, "http_server_active_requests{"), 8u);
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("gateway=\"__other__\"")));
}

TEST(MetricsOfWorkloads, LeaveRoomInTheFamilyToo) {
  MetricsRegistry registry(100, 8);
  MetricShard shard(registry);
  for (int i = 0; i < 10; ++i) callBy(shard, "greedy", "account-" + std::to_string(i));
  EXPECT_EQ(countOf(registry, "http_server_active_requests{"), 7u);
}

TEST(MetricsOfWorkloads, BelongToTheirNamespaceIfTheyNameNoObject) {
  MetricsRegistry registry(4);
  MetricShard shard(registry);
  const auto failed = [&](const std::string& nameSpace, int account) {
    shard.at<Metric::kProcessorUnreplayable>("t", "request-body", nameSpace, std::to_string(account)).add();
  };
  for (int i = 0; i < 10; ++i) failed("greedy", i);
  for (int i = 0; i < 3; ++i) failed("modest", i);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(exposeMetrics(registry),
                HasSubstr("namespace=\"modest\",serviceAccount=\"" + std::to_string(i) + "\"} 1\n"));
  }
  EXPECT_THAT(
      exposeMetrics(registry),
      HasSubstr("{type=\"t\",phase=\"request-body\",namespace=\"__other__\",serviceAccount=\"__other__\"} 7\n"));
}

TEST(MetricsForget, EndsSeriesWithTheObjectsThatTheyName) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  durationsOf(shard, "a/gone", 200).observe({});
  durationsOf(shard, "a/stays", 200).observe({});
  shard.at<Metric::kClientOpenConnections>("a/gone", "idle").set(0);
  shard.at<Metric::kLimitHits>("a/gone").add();
  shard.forget([](std::string_view object) { return object != "a/gone"; });
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("route=\"a/gone\"")));
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("backend=\"a/gone\"")));
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("route=\"a/stays\""));
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("limit=\"a/gone\"")) << "that is no object";
  durationsOf(shard, "a/gone", 200).observe({});
  EXPECT_EQ(countOf(registry, "http_server_request_duration_seconds_count{"), 2u);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("http_response_status_code=\"200\",error_type=\"\"} 1\n"))
      << "whoever comes back begins at nothing";
}

TEST(MetricsForget, KeepsAGaugeUntilItIsZero) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  const auto none = [](std::string_view) { return false; };
  Gauge& active = shard.at<kRequests>("a/gateway", "a/route", "", "", "", "GET");
  active.add(1);
  shard.forget(none);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("http_server_active_requests{gateway=\"a/gateway\""));
  EXPECT_EQ(&shard.at<kRequests>("a/gateway", "a/route", "", "", "", "GET"), &active);
  active.add(-1);
  shard.forget(none);
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("http_server_active_requests{")));
}

TEST(MetricsForget, KeepsASeriesWholeUntilAllShardsHaveForgottenIt) {
  MetricsRegistry registry;
  MetricShard first(registry);
  MetricShard second(registry);
  durationsOf(first, "a/route", 200).observe({});
  durationsOf(second, "a/route", 200).observe({});
  const auto none = [](std::string_view) { return false; };
  first.forget(none);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("error_type=\"\"} 2\n")) << "a counter never goes back";
  durationsOf(first, "a/route", 200).observe({});
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("error_type=\"\"} 3\n"));
  first.forget(none);
  second.forget(none);
  EXPECT_EQ(seriesOf(registry), 0u);
}

TEST(MetricsForget, MakesRoomForOtherSeries) {
  MetricsRegistry registry(2, 2);
  MetricShard shard(registry);
  durationsOf(shard, "a/one", 200);
  durationsOf(shard, "a/two", 200);
  shard.forget([](std::string_view object) { return object != "a/one"; });
  durationsOf(shard, "a/three", 200);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("a/three"));
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("\"__other__\"")));
}

TEST(MetricsReading, ReturnsTheWholePageInPieces) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  for (int status = 200; status < 230; ++status) durationsOf(shard, "a/route", status);
  MetricsReader reader(registry);
  std::string page;
  std::size_t pieces = 0;
  for (bool more = true; more;) {
    std::string piece;
    more = reader.read(piece, 100);
    EXPECT_LT(piece.size(), 10'000u) << "a series more than was asked for";
    EXPECT_TRUE(piece.empty() || piece.ends_with("\n"));
    page += piece;
    ++pieces;
  }
  EXPECT_EQ(page, exposeMetrics(registry));
  EXPECT_GT(pieces, 30u);
}

TEST(MetricsReading, GoesOnWhileSeriesEndAndBegin) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  for (int status = 200; status < 210; ++status) durationsOf(shard, "a/gone", status);
  durationsOf(shard, "a/stays", 200).observe({});
  MetricsReader reader(registry);
  std::string page;
  ASSERT_TRUE(reader.read(page, 1000)) << "it stands in the midst of what leaves";
  shard.forget([](std::string_view object) { return object != "a/gone"; });
  durationsOf(shard, "a/new", 200).observe({});
  while (reader.read(page, page.size() + 1)) {
  }
  EXPECT_THAT(page, HasSubstr("route=\"a/stays\""));
  EXPECT_THAT(page, HasSubstr("route=\"a/new\""));
  EXPECT_THAT(page, HasSubstr("\nsluice_metric_series_dropped_total 0\n"));
}

}  // namespace
}  // namespace sluice::observe
