// The rows of the live page: what comes first, how many there are, and what a search finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "proxy/server/page/configuration_rows.h"
#include "proxy/server/page/page_sections.h"
#include "proxy/server/page/traffic_rows.h"
#include "proxy/server/page/worker_rows.h"

namespace sluice::server {
namespace {

using control::EndpointRow;
using control::EndpointState;
using observe::Metric;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

base::WallTime wallAt(int second) { return base::WallTime(seconds(second)); }

class PageRowsTest : public ::testing::Test {
 protected:
  PageRowsTest() { window_.read(registry_, base::MonotonicTime(seconds(1))); }
  void count(const std::string& route, int requests, const char* error = "") {
    auto& series = shard_.at<Metric::kServerRequestDuration>("demo/egress", route, "", "", "", "GET", "200", error);
    for (int i = 0; i < requests; ++i) series.observe(std::chrono::milliseconds(1));
  }
  void look() { window_.read(registry_, base::MonotonicTime(seconds(2))); }

  observe::MetricsRegistry registry_;
  observe::MetricShard shard_{registry_};
  TrafficWindow window_;
};

TEST_F(PageRowsTest, HaveTheBusiestOfThousandsOfRoutes) {
  std::vector<RouteName> routes;
  for (int i = 0; i < 5000; ++i) routes.push_back({"demo/r" + std::to_string(i), "HTTPRoute"});
  count("demo/r4711", 5);
  count("demo/r4999", 1, "dns_error");
  look();
  const PageRows rows = routeRows(routes, window_, {});
  EXPECT_EQ(rows.total, 5000u);
  ASSERT_THAT(rows.rows, SizeIs(kMostRows));
  EXPECT_THAT(rows.rows[0], HasSubstr(R"("route":"demo/r4999","kind":"HTTPRoute","rate":1,"errors":1)"));
  EXPECT_THAT(rows.rows[1], HasSubstr(R"("route":"demo/r4711","kind":"HTTPRoute","rate":5,"errors":0)"));
  const PageRows found = routeRows(routes, window_, "R471");
  EXPECT_EQ(found.total, 11u) << "r471 and r4710 to r4719";
  EXPECT_THAT(found.rows[0], HasSubstr("demo/r4711"));
}

TEST_F(PageRowsTest, NameBackendsThatDoNotServeFirst) {
  EndpointRow down{"Backend.sluice.dev/demo/api", "a.test:443", EndpointState::kUnhealthy, false, wallAt(5)};
  down.failures = {3, wallAt(9), base::ErrorType::kConnectionRefused, "10.0.0.7:443 refuses connections"};
  const EndpointRow up{"Service/demo/shop", "10.1.0.5:80", EndpointState::kHealthy};
  EndpointRow ejected{"Service/demo/shop", "10.1.0.6:80", EndpointState::kEjected};
  ejected.by = "HTTPRoute demo/web, rule 0";
  const std::vector<EndpointRow> all{up, ejected, down};
  look();
  const PageRows rows = backendRows(all, window_, {});
  ASSERT_THAT(rows.rows, SizeIs(2));
  EXPECT_THAT(rows.rows[0],
              HasSubstr(R"("backend":"Backend demo/api","state":"unhealthy","endpoints":1,"healthy":0,)"
                        R"("lastError":"connection_refused","lastFailure":"10.0.0.7:443 refuses connections")"));
  EXPECT_THAT(rows.rows[1], HasSubstr(R"("backend":"Service demo/shop","state":"ejected","endpoints":2,"healthy":1)"));
  const std::vector<Trouble> troubles = endpointTroubles(all);
  ASSERT_THAT(troubles, SizeIs(2));
  EXPECT_EQ(troubles[0].message, "ejected by HTTPRoute demo/web, rule 0");
  EXPECT_EQ(troubleRow(troubles[1]),
            R"({"severity":"error","object":"Backend demo/api","field":"a.test:443","place":"unhealthy",)"
            R"("reason":"connection_refused","message":"10.0.0.7:443 refuses connections",)"
            R"("since":"1970-01-01T00:00:05.000Z"})");
}

TEST_F(PageRowsTest, ShowTheFullestLimitsAndThoseThatAreHit) {
  shard_.at<Metric::kLimitHits>("connect").add(4);
  shard_.at<Metric::kLimitHits>("backendPending").add(2);
  look();
  const std::vector<PageLimit> limits{{"tunnels", {}, 1, 100}, {"backendRequests", "Backend demo/api", 9, 10}};
  const PageRows rows = limitRows(limits, window_);
  ASSERT_EQ(rows.total, 4u);
  EXPECT_EQ(rows.rows[0], R"({"limit":"backendRequests","object":"Backend demo/api","used":9,"most":10,"percent":90,)"
                          R"("hits":null,"total":0})");
  EXPECT_THAT(rows.rows[3], HasSubstr(R"("limit":"connect","object":"","hits":4,"total":4)"));
  std::vector<std::string> reasons;
  for (const Trouble& each : limitTroubles(limits, window_)) reasons.push_back(each.field + " " + each.reason);
  EXPECT_THAT(reasons, ElementsAre("backendRequests LimitNearBound", "backendPending LimitReached"))
      << "a Backend that does not answer is no limit of ours";
}

TEST_F(PageRowsTest, JoinWhatTheWorkersTell) {
  WorkerLists lists(3);  // the third is silent
  for (int worker = 0; worker < 2; ++worker) {
    lists[worker].emplace();
    exchange::FailureReport& report = lists[worker]->failures;
    exchange::RecentFailure failure;
    failure.time = wallAt(worker + 1);
    failure.requestId = "id" + std::to_string(worker);
    failure.origin = base::ErrorOrigin::kUpstream;
    failure.message = "<script>\n";
    report.recent.push_back(failure);
    report.denied.push_back({"demo/cart", base::Assurance::kAddress, "demo/only", base::ErrorType::kHttpRequestDenied,
                             "h" + std::to_string(worker) + ".test", 2, wallAt(worker + 1)});
  }
  const PageRows errors = errorRows(lists);
  ASSERT_THAT(errors.rows, SizeIs(2));
  EXPECT_THAT(errors.rows[0], HasSubstr(R"("requestId":"id1","fault":"Backend")"));
  EXPECT_THAT(errors.rows[0], HasSubstr(R"("message":"<script>\n")"));
  EXPECT_THAT(deniedRows(lists).rows, ElementsAre(R"({"client":"demo/cart","assurance":"Address","by":"demo/only",)"
                                                  R"("type":"http_request_denied","authority":"h1.test","count":4,)"
                                                  R"("last":"1970-01-01T00:00:02.000Z"})"));
}

TEST_F(PageRowsTest, CountErrorsByWhoseFaultTheyAre) {
  const auto told = [](std::uint64_t refused) {
    WorkerLists lists(1);
    lists[0].emplace();
    lists[0]->failures.counts[static_cast<std::size_t>(base::ErrorOrigin::kUpstream)]
                             [static_cast<std::size_t>(base::ErrorType::kConnectionRefused)] = refused;
    return lists;
  };
  FaultCounts counts;
  counts.take(told(0), window_);
  EXPECT_THAT(counts.rows(window_).rows, IsEmpty());
  look();
  counts.take(told(6), window_);
  EXPECT_THAT(counts.rows(window_).rows,
              ElementsAre(R"({"fault":"Backend","type":"connection_refused","rate":6,"total":6})"));
  counts.take(WorkerLists(1), window_);
  EXPECT_THAT(counts.rows(window_).rows, SizeIs(1)) << "a worker that is silent takes nothing back";
}

TEST_F(PageRowsTest, ShowTheCertificateThatEndsFirst) {
  constexpr int kDay = 24 * 3600;
  control::CompiledConfiguration known;
  control::NamedCertificate authorities;
  authorities.use = control::NamedCertificate::Use::kAuthorities;
  authorities.object = "Backend demo/api";
  authorities.times = {{.until = wallAt(2 * kDay)}, {.until = wallAt(9 * kDay)}};
  control::NamedCertificate chain = authorities;
  chain.use = control::NamedCertificate::Use::kListener;
  chain.object = "Gateway demo/egress";
  known.certificates = {authorities, chain};
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->object = "Backend.sluice.dev/demo/api";
  plan->hostname = "api.test";
  plan->tls.emplace();
  const auto reach = std::make_shared<const routing::BackendReach>();
  plan->reach = reach;
  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->backends.push_back(plan);
  known.compiled.snapshot = snapshot;
  const std::string unseen = certificateRows(known, wallAt(kDay)).rows.back();
  EXPECT_THAT(unseen, HasSubstr(R"("use":"peer","peer":"api.test","source":"","ends":"","days":null)"));
  reach->onCertificate(wallAt(kDay / 2));
  const PageRows rows = certificateRows(known, wallAt(kDay));
  ASSERT_THAT(rows.rows, SizeIs(3));
  EXPECT_THAT(rows.rows[0], HasSubstr(R"("ends":"1970-01-01T12:00:00.000Z","days":-1)")) << "it has ended";
  EXPECT_THAT(rows.rows[1], HasSubstr(R"("use":"listener")")) << "a chain ends with the first of its certificates";
  EXPECT_THAT(rows.rows[1], HasSubstr(R"("days":1)"));
  EXPECT_THAT(rows.rows[2], HasSubstr(R"("use":"authorities")"));
  EXPECT_THAT(rows.rows[2], HasSubstr(R"("days":8)"));
}

TEST_F(PageRowsTest, TellARefusalAndTheFilesOfProblemsFirst) {
  control::CompiledConfiguration known;
  control::Revisions revisions{"new", "old", "old", control::Standing::kRefused, wallAt(7)};
  config::Problem warning{config::Severity::kWarning, {}, "HTTPRoute demo/a", "", "is never reached"};
  config::Problem error{config::Severity::kError,
                        {std::make_shared<const std::string>("r.yaml"), 14, 3},
                        "HTTPRoute demo/b",
                        "spec.rules[0]",
                        "is wrong"};
  revisions.problems = std::make_shared<const config::Problems>(config::Problems{warning, error});
  const std::vector<Trouble> troubles = configurationTroubles(known, revisions, control::CountedObjects::kAll);
  ASSERT_THAT(troubles, SizeIs(3));
  EXPECT_EQ(troubles[0].reason, "Rollback");
  EXPECT_THAT(troubles[0].message, HasSubstr("revision new cannot be served: r.yaml:14:3: error: HTTPRoute demo/b"));
  EXPECT_EQ(troubles[1].place, "r.yaml:14");
  EXPECT_EQ(troubles[1].field, "spec.rules[0]");
  EXPECT_EQ(troubles[1].since, wallAt(7));
  EXPECT_FALSE(troubles[2].isError);
}

}  // namespace
}  // namespace sluice::server
