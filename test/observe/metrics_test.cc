#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "proxy/observe/metrics_reader.h"
#include "test/observe/support.h"
#include "test/support/reference_page.h"

namespace sluice::observe {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> linesOf(const MetricsRegistry& registry, std::string_view start) {
  std::vector<std::string> found;
  for (const std::string& line : splitLines(exposeMetrics(registry))) {
    if (line.starts_with(start)) found.push_back(line);
  }
  return found;
}

constexpr std::string_view kDropped = "sluice_metric_series_dropped_total ";

TEST(MetricFamilies, HaveTheNamesAndLabelsOfTheProduct) {
  const std::set<std::string_view> expected{"http_server_request_duration_seconds",
                                            "http_server_active_requests",
                                            "http_client_request_duration_seconds",
                                            "http_client_open_connections",
                                            "dns_lookup_duration_seconds",
                                            "sluice_upstream_tls_handshakes_total",
                                            "sluice_upstream_ejections_total",
                                            "sluice_retry_unreplayable_total",
                                            "sluice_client_connections",
                                            "sluice_client_bytes_total",
                                            "sluice_processor_duration_seconds",
                                            "sluice_processor_failures_total",
                                            "sluice_processor_unreplayable_total",
                                            "sluice_library_call_duration_seconds",
                                            "sluice_tunnel_bytes_total",
                                            "sluice_tunnel_duration_seconds",
                                            "sluice_tunnels",
                                            "sluice_tunnels_total",
                                            "sluice_limit_hits_total",
                                            "sluice_address_denied_total",
                                            "sluice_egress_decisions_total",
                                            "sluice_identity_total",
                                            "sluice_config_state",
                                            "sluice_config_reloads_total",
                                            "sluice_metric_series_dropped_total",
                                            "sluice_events_dropped_total",
                                            "sluice_log_lines_dropped_total"};
  std::set<std::string_view> names;
  for (const MetricFamily& family : kMetricFamilies) names.insert(family.name);
  EXPECT_EQ(names, expected);
  for (const Metric metric :
       {Metric::kServerRequestDuration, Metric::kServerActiveRequests, Metric::kClientRequestDuration}) {
    const auto& labels = familyOf(metric).labels;
    EXPECT_EQ(labels[0], "gateway");
    EXPECT_EQ(labels[1], "route");
    EXPECT_EQ(labels[2], "backend");
    EXPECT_EQ(labels[3], "namespace");
    EXPECT_EQ(labels[4], "serviceAccount");
    EXPECT_EQ(labels[5], "http_request_method");
  }
  for (const MetricFamily& family : kMetricFamilies) {
    if (!family.name.starts_with("sluice_processor_")) continue;
    const std::size_t count = family.labelCount();
    EXPECT_EQ(family.labels[0], "type");
    EXPECT_EQ(family.labels[1], "phase");
    EXPECT_EQ(family.labels[count - 2], "namespace");
    EXPECT_EQ(family.labels[count - 1], "serviceAccount");
  }
}

TEST(MetricFamilies, AreInTheReferenceWithKindLabelsAndMeaning) {
  constexpr std::array<std::string_view, 3> kKinds{"counter", "gauge", "histogram"};
  const auto rows = test::pageTable(test::referencePage("metrics.md"), "| metric | kind | labels | meaning |");
  std::vector<std::string> names;
  for (const MetricFamily& family : kMetricFamilies) names.emplace_back(family.name);
  ASSERT_EQ(test::firstWords(rows), names) << "all families, in their order, and no others";
  for (const MetricFamily& family : kMetricFamilies) {
    const test::PageRow& row = rows[static_cast<std::size_t>(family.id)];
    ASSERT_EQ(row.size(), 4u) << family.name;
    EXPECT_EQ(row[1], kKinds[static_cast<std::size_t>(family.kind)]) << family.name;
    const std::vector<std::string> labels(family.labels.begin(), family.labels.begin() + family.labelCount());
    EXPECT_EQ(test::quotedWords(row[2]), labels) << family.name;
    EXPECT_FALSE(row[3].empty()) << family.name;
  }
}

TEST(MetricFamilies, AreAllThatTheReferenceNames) {
  std::set<std::string> names{"sluice_lua_"};  // the begin of the names that scripts choose
  for (const char* header :
       {"| metric of the configuration | kind | labels | meaning |", "| metric of health | kind | labels | meaning |",
        "| metric of the process | kind | labels | meaning |"}) {
    const auto others = test::firstWords(test::pageTable(test::referencePage("metrics.md"), header));
    names.insert(others.begin(), others.end());
  }
  for (const MetricFamily& family : kMetricFamilies) {
    names.emplace(family.name);
    if (family.kind == MetricKind::kHistogram) names.insert(std::string(family.name) + "_count");
  }
  const std::regex name(R"re(\b(?:sluice|http_server|http_client|dns_lookup)_\w+)re");
  std::ifstream header(SLUICE_SOURCE_DIR "/filters/library/sluice_processor.h");
  const std::string interface {
    std::istreambuf_iterator<char>(header), {}
  };
  const std::filesystem::path pages = SLUICE_SOURCE_DIR "/config/reference";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(pages)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = std::filesystem::relative(entry.path(), pages);
    const std::string page = test::referencePage(file);
    for (auto match = std::sregex_iterator(page.begin(), page.end(), name); match != std::sregex_iterator(); ++match) {
      const bool isOfLibraries = interface.find(match->str()) != std::string::npos;
      EXPECT_TRUE(isOfLibraries || names.contains(match->str())) << file << ": there is no metric " << match->str();
    }
  }
}

TEST(MetricFamilies, HaveNamesWithTheirUnitOrKind) {
  for (const MetricFamily& family : kMetricFamilies) {
    EXPECT_EQ(family.kind == MetricKind::kCounter, family.name.ends_with("_total")) << family.name;
    EXPECT_EQ(family.kind == MetricKind::kHistogram, family.name.ends_with("_seconds")) << family.name;
    EXPECT_EQ(family.help.find_first_of("\n\\"), std::string_view::npos) << family.name;
  }
}

TEST(StatusLabel, IsThreeDigitsOrNothing) {
  EXPECT_EQ(std::string_view(StatusLabel(200)), "200");
  EXPECT_EQ(std::string_view(StatusLabel(100)), "100");
  EXPECT_EQ(std::string_view(StatusLabel(999)), "999");
  for (const int status : {0, 99, 1000})
    EXPECT_EQ(std::string_view(StatusLabel(static_cast<std::uint16_t>(status))), "");
}

TEST(Metrics, DescribeEveryFamilyBeforeItHasSeries) {
  const MetricsRegistry registry;
  const std::string text = exposeMetrics(registry);
  for (const MetricFamily& family : kMetricFamilies) {
    EXPECT_THAT(text, HasSubstr("# HELP " + std::string(family.name) + " " + std::string(family.help) + "\n"));
    EXPECT_THAT(text, HasSubstr("# TYPE " + std::string(family.name) + " "));
  }
  EXPECT_THAT(text, HasSubstr("# TYPE sluice_limit_hits_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE sluice_config_state gauge\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE dns_lookup_duration_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("\nsluice_metric_series_dropped_total 0\n"));
  EXPECT_EQ(text.back(), '\n');
}

TEST(Metrics, CountUp) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  Counter& hits = shard.at<Metric::kLimitHits>("headerBytes");
  hits.add();
  hits.add(2);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("\nsluice_limit_hits_total{limit=\"headerBytes\"} 3\n"));
}

TEST(Metrics, SetRaiseAndLowerGauges) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  Gauge& active = shard.at<Metric::kServerActiveRequests>("ns/gw", "ns/r", "ns/b", "", "", "GET");
  active.add(2);
  active.add(-3);
  EXPECT_THAT(exposeMetrics(registry),
              HasSubstr("http_server_active_requests{gateway=\"ns/gw\",route=\"ns/r\",backend=\"ns/b\",namespace=\"\","
                        "serviceAccount=\"\",http_request_method=\"GET\"} -1\n"));
  shard.at<Metric::kConfigState>("InSync").set(1);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("sluice_config_state{state=\"InSync\"} 1\n"));
}

TEST(Metrics, WriteHistogramsCumulativelyInSeconds) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  Histogram& lookups = shard.at<Metric::kDnsLookupDuration>("example.com", "");
  lookups.observe(5ms);
  lookups.observe(5ms + 1ns);
  lookups.observe(1s);
  lookups.observe(11s);
  lookups.observe(-1s);
  const auto lines = linesOf(registry, "dns_lookup_duration_seconds");
  ASSERT_EQ(lines.size(), Histogram::kBuckets + 2);
  const std::string labels = "{dns_question_name=\"example.com\",error_type=\"\"";
  EXPECT_EQ(lines[0], "dns_lookup_duration_seconds_bucket" + labels + ",le=\"0.005\"} 2");
  EXPECT_EQ(lines[1], "dns_lookup_duration_seconds_bucket" + labels + ",le=\"0.01\"} 3");
  EXPECT_EQ(lines[8], "dns_lookup_duration_seconds_bucket" + labels + ",le=\"0.75\"} 3");
  EXPECT_EQ(lines[9], "dns_lookup_duration_seconds_bucket" + labels + ",le=\"1\"} 4");
  EXPECT_EQ(lines[13], "dns_lookup_duration_seconds_bucket" + labels + ",le=\"10\"} 4");
  EXPECT_EQ(lines[14], "dns_lookup_duration_seconds_bucket" + labels + ",le=\"+Inf\"} 5");
  EXPECT_EQ(lines[15], "dns_lookup_duration_seconds_sum" + labels + "} 12.010000001");
  EXPECT_EQ(lines[16], "dns_lookup_duration_seconds_count" + labels + "} 5");
}

TEST(Metrics, CountAnUpperBoundInItsOwnBucket) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  Histogram& histogram = shard.at<Metric::kDnsLookupDuration>("x", "");
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    histogram.observe(Histogram::kBounds[i].upper);
    EXPECT_EQ(histogram.bucket(i), i == 0 ? 1u : 2u);
    histogram.observe(Histogram::kBounds[i].upper + 1ns);
    EXPECT_EQ(histogram.bucket(i + 1), 1u);
    EXPECT_DOUBLE_EQ(std::stod(std::string(Histogram::kBounds[i].text)),
                     std::chrono::duration<double>(Histogram::kBounds[i].upper).count());
  }
}

TEST(Metrics, ReturnTheSameInstrumentForTheSameValues) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  Counter& first = shard.at<Metric::kIdentity>("success", "true");
  for (int i = 0; i < 100; ++i) shard.at<Metric::kIdentity>("success", std::to_string(i));
  EXPECT_EQ(&shard.at<Metric::kIdentity>(std::string("success"), "true"), &first);
}

TEST(Metrics, DistinguishValuesThatAreEqualWhenJoined) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  shard.at<Metric::kIdentity>("ab", "c").add(1);
  shard.at<Metric::kIdentity>("a", "bc").add(2);
  shard.at<Metric::kIdentity>("abc", "").add(3);
  EXPECT_EQ(linesOf(registry, "sluice_identity_total{").size(), 3u);
}

TEST(Metrics, AreSummedOverShards) {
  MetricsRegistry registry;
  MetricShard first(registry);
  MetricShard second(registry);
  first.at<Metric::kLimitHits>("connections").add(2);
  second.at<Metric::kLimitHits>("connections").add(3);
  EXPECT_NE(&first.at<Metric::kLimitHits>("connections"), &second.at<Metric::kLimitHits>("connections"));
  first.at<Metric::kDnsLookupDuration>("x", "").observe(1s);
  second.at<Metric::kDnsLookupDuration>("x", "").observe(2s);
  EXPECT_EQ(linesOf(registry, "sluice_limit_hits_total{"),
            std::vector<std::string>{"sluice_limit_hits_total{limit=\"connections\"} 5"});
  EXPECT_THAT(exposeMetrics(registry),
              HasSubstr("dns_lookup_duration_seconds_sum{dns_question_name=\"x\",error_type=\"\"} 3.000000000\n"));
}

TEST(Metrics, KeepTheirCountsWhenAShardEnds) {
  MetricsRegistry registry;
  {
    MetricShard shard(registry);
    shard.at<Metric::kLimitHits>("connections").add(2);
  }
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("sluice_limit_hits_total{limit=\"connections\"} 2\n"));
}

TEST(Metrics, EscapeLabelValues) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  shard.at<Metric::kLimitHits>("a\"b\\c\nd\xff\xc3\xbc").add();
  EXPECT_THAT(exposeMetrics(registry),
              HasSubstr("sluice_limit_hits_total{limit=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\xc3\xbc\"} 1\n"));
}

TEST(Metrics, CutLongLabelValues) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  const std::string fits(MetricsRegistry::kMaxLabelBytes, 'x');
  Counter& counter = shard.at<Metric::kLimitHits>(fits);
  EXPECT_EQ(&shard.at<Metric::kLimitHits>(fits + "y"), &counter);
  EXPECT_NE(&shard.at<Metric::kLimitHits>(fits.substr(1)), &counter);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("{limit=\"" + fits + "\"}"));
}

TEST(MetricsBound, ShowsTheLastSeriesThatFitsAndPutsTheNextUnderOther) {
  MetricsRegistry registry(2);
  MetricShard shard(registry);
  shard.at<Metric::kProcessorUnreplayable>("a", "true", "", "").add();
  shard.at<Metric::kProcessorUnreplayable>("b", "true", "", "").add();
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("\"__other__\"")));
  EXPECT_EQ(linesOf(registry, kDropped).at(0), "sluice_metric_series_dropped_total 0");

  Counter& third = shard.at<Metric::kProcessorUnreplayable>("c", "true", "", "");
  Counter& fourth = shard.at<Metric::kProcessorUnreplayable>("d", "true", "", "");
  EXPECT_EQ(&third, &fourth);
  third.add();
  fourth.add();
  EXPECT_THAT(exposeMetrics(registry),
              HasSubstr("sluice_processor_unreplayable_total{type=\"__other__\",phase=\"__other__\",namespace=\"__"
                        "other__\",serviceAccount=\"__other__\"} 2\n"));
  EXPECT_EQ(linesOf(registry, "sluice_processor_unreplayable_total{").size(), 3u);
  EXPECT_EQ(linesOf(registry, kDropped).at(0), "sluice_metric_series_dropped_total 2");
}

TEST(MetricsBound, AppliesToEachFamilyAlone) {
  MetricsRegistry registry(1);
  MetricShard shard(registry);
  shard.at<Metric::kLimitHits>("a").add();
  shard.at<Metric::kLimitHits>("b").add();
  shard.at<Metric::kConfigState>("InSync").set(1);
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("sluice_config_state{state=\"InSync\"} 1\n"));
}

TEST(MetricsBound, OfPoliciesIsThatOfTheirNamespace) {
  MetricsRegistry registry(1);
  MetricShard shard(registry);
  shard.at<Metric::kEgressDecisions>("one/a", "x", "allowed").add();
  shard.at<Metric::kEgressDecisions>("one/b", "x", "allowed").add();
  shard.at<Metric::kEgressDecisions>("two/a", "x", "allowed").add();
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("policy=\"two/a\""));
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("policy=\"one/b\"")));
}

TEST(MetricSeries, OfAPolicyEndWithIt) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  shard.at<Metric::kEgressDecisions>("demo/gone", "x", "denied").add();
  shard.at<Metric::kEgressDecisions>("demo/there", "x", "denied").add();
  shard.forget([](std::string_view object) { return object == "demo/there"; });
  EXPECT_THAT(exposeMetrics(registry), Not(HasSubstr("demo/gone")));
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("demo/there"));
}

TEST(MetricsBound, AppliesToAllShardsTogether) {
  MetricsRegistry registry(1);
  MetricShard first(registry);
  MetricShard second(registry);
  first.at<Metric::kLimitHits>("a").add();
  second.at<Metric::kLimitHits>("b").add();
  second.at<Metric::kLimitHits>("a").add();
  EXPECT_EQ(linesOf(registry, "sluice_limit_hits_total{"),
            (std::vector<std::string>{"sluice_limit_hits_total{limit=\"a\"} 2",
                                      "sluice_limit_hits_total{limit=\"__other__\"} 1"}));
}

TEST(MetricsBound, IsAThousandByDefault) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  for (int i = 0; i < 1001; ++i) shard.at<Metric::kLimitHits>(std::to_string(i)).add();
  EXPECT_EQ(linesOf(registry, "sluice_limit_hits_total{").size(), 1001u) << "with the other one";
  EXPECT_EQ(linesOf(registry, kDropped).at(0), "sluice_metric_series_dropped_total 1");
}

}  // namespace
}  // namespace sluice::observe
