// Tests that each exchange makes one line of the access log and one observation of the metrics, whatever its outcome.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Version;
using test::Rig;
using test::RigOptions;

class ExchangeTelemetryTest : public ::testing::Test {
 protected:
  ExchangeTelemetryTest() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    path_ = folder_ + "/access.log";
    file_ = std::move(observe::LineFile::open(path_)).value();
  }
  ~ExchangeTelemetryTest() override {
    rig_.reset();
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  Rig& make(RigOptions options = {}) {
    options.accessLog = file_.get();
    return rig_.emplace(options);
  }
  std::vector<std::string> lines() {
    rig_->flushLog();
    std::ifstream in(path_);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  static bool has(const std::string& line, const std::string& part) { return line.find(part) != std::string::npos; }
  bool metric(const std::string& line) { return has(rig_->metricsText(), line + "\n"); }

  std::string folder_ = ::testing::TempDir() + "report_test.XXXXXX";
  std::string path_;
  std::unique_ptr<observe::LineFile> file_;
  std::optional<Rig> rig_;
};

constexpr const char* kServed =
    "{gateway=\"demo/egress\",route=\"demo/route\",backend=\"demo/"
    "backend\",namespace=\"\",serviceAccount=\"\",http_request_method=\"GET\"";

TEST_F(ExchangeTelemetryTest, WritesOneLineAndOneObservationForAServedRequest) {
  Rig& rig = make();
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok/a?secret=1"});
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(metric(std::string("http_server_active_requests") + kServed + "} 1"));
  rig.accept(0).respond(0, 200, "hello");
  ASSERT_TRUE(rig.settle());

  const auto all = lines();
  ASSERT_EQ(all.size(), 1U);
  for (const char* part :
       {"\"client.address\":\"198.51.100.7\"", "\"http.request.method\":\"GET\"", "\"url.scheme\":\"http\"",
        "\"url.path\":\"/ok/a\"", "\"server.address\":\"gateway.test\"", "\"network.protocol.version\":\"1.1\"",
        "\"http.response.status_code\":200", "\"error.type\":null", "\"request_bytes\":0", "\"response_bytes\":5",
        "\"upstream.address\":\"192.0.2.1:8080\"", "\"gateway\":\"demo/egress\"", "\"listener\":\"http\"",
        "\"route\":\"demo/route\"", "\"backend\":\"demo/backend\"", "\"attempts\":1", "\"revision\":\"1\""}) {
    EXPECT_TRUE(has(all[0], part)) << part << "\n" << all[0];
  }
  EXPECT_FALSE(has(all[0], "secret"));
  const std::string labels = std::string(kServed) + ",http_response_status_code=\"200\",error_type=\"\"} 1";
  EXPECT_TRUE(metric("http_server_request_duration_seconds_count" + labels));
  EXPECT_TRUE(metric("http_client_request_duration_seconds_count" + labels));
  EXPECT_TRUE(metric(std::string("http_server_active_requests") + kServed + "} 0"));
}

TEST_F(ExchangeTelemetryTest, LogsTheCallerAsFarAsItIsProven) {
  const auto lineFor = [this](std::shared_ptr<const base::Caller> caller) {
    Rig& rig = make();
    rig.caller = std::move(caller);
    rig.connect().ask({.target = "/ok"});
    EXPECT_TRUE(rig.settle());
    rig.accept(0).respond(0, 200, "x");
    EXPECT_TRUE(rig.settle());
    return lines().back();
  };
  const std::string workload = "spiffe://corp.test/ns/team/sa/bot";
  const std::vector<std::pair<std::shared_ptr<const base::Caller>, std::string>> cases{
      {std::make_shared<const base::Caller>(base::Caller{"team", "bot", workload, base::Assurance::kCertificate}),
       "\"namespace\":\"team\",\"serviceAccount\":\"bot\",\"principal\":\"" + workload +
           "\",\"assurance\":\"Certificate\","},
      {std::make_shared<const base::Caller>(base::Caller{"", "", "al\"ice\n", base::Assurance::kToken}),
       "\"namespace\":null,\"serviceAccount\":null,\"principal\":\"al\\\"ice\\n\",\"assurance\":\"Token\","},
      {nullptr, "\"namespace\":null,\"serviceAccount\":null,\"principal\":null,\"assurance\":null,"}};
  for (const auto& [caller, expected] : cases) {
    const std::string line = lineFor(caller);
    EXPECT_TRUE(has(line, expected)) << line;
  }
}

TEST_F(ExchangeTelemetryTest, CountsEveryEndOnce) {
  Rig& rig = make();
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  client.ask({.target = "/nowhere"});
  client.ask({.target = "/ok"});
  const std::size_t cancelled = client.ask({.target = "/ok"});
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  client.cancel(cancelled);
  ASSERT_TRUE(rig.settle());
  rig.wire(2).refuse();
  backend.respond(0, 200, "x");
  ASSERT_TRUE(rig.settle());
  rig.close();
  const auto all = lines();
  EXPECT_EQ(all.size(), 4U);
  EXPECT_EQ(rig.told.size(), 4U);
  EXPECT_EQ(rig.routed, 4);
  const auto with = [&](const char* part) {
    return std::count_if(all.begin(), all.end(), [&](const auto& line) { return has(line, part); });
  };
  EXPECT_EQ(with("\"error.type\":\"destination_not_found\",\"error.origin\":\"downstream\""), 1);
  EXPECT_EQ(with("\"error.type\":\"connection_terminated\",\"error.origin\":\"downstream\""), 1);
  EXPECT_EQ(with("\"error.type\":\"connection_refused\",\"error.origin\":\"upstream\""), 1);
  EXPECT_EQ(with("\"http.response.status_code\":null"), 1) << "nothing was answered to who had left";
}

TEST_F(ExchangeTelemetryTest, NamesTheSideThatBrokeOff) {
  Rig& rig = make();
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  client.wire().reset();
  ASSERT_TRUE(rig.settle());
  const auto all = lines();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(has(all[0], "\"error.type\":\"connection_terminated\",\"error.origin\":\"downstream\"")) << all[0];
  EXPECT_TRUE(has(all[0], "\"client.address\":\"198.51.100.7\"")) << all[0];
  EXPECT_TRUE(has(all[0], "\"url.scheme\":\"http\"")) << all[0];
}

TEST_F(ExchangeTelemetryTest, CountsARefusedHeadToo) {
  Rig& rig = make();
  test::ClientPeer& client = rig.connect();
  client.wire().deliver("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
  const auto all = lines();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(has(all[0], "\"http.response.status_code\":400,\"error.type\":\"http_request_error\"")) << all[0];
  EXPECT_EQ(rig.routed, 0);
}

// Another request may have ended with this status and error before, without an attempt.
TEST_F(ExchangeTelemetryTest, ObservesAttemptsThatGetNoConnectionToo) {
  Rig& rig = make();
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.wire(0).reset();  // before the connection was open
  ASSERT_TRUE(rig.settle());
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.accept(1).wire().reset();
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(rig.told.size(), 2U);
  const auto labels = [](const std::string& status) {
    return std::string(kServed) + ",http_response_status_code=\"" + status +
           "\",error_type=\"connection_terminated\"} 2";
  };
  EXPECT_TRUE(metric("http_server_request_duration_seconds_count" + labels("502")));
  EXPECT_TRUE(metric("http_client_request_duration_seconds_count" + labels(""))) << "no Backend has said 502";
}

TEST_F(ExchangeTelemetryTest, ObservesNoAttemptThatALimitHasRefused) {
  for (const std::string limit : {"backendRequests", "backendConnections", "backendPending"}) {
    RigOptions options;
    if (limit == "backendRequests") options.maxRequests = 0;
    if (limit == "backendConnections") options.maxConnections = 0;
    if (limit == "backendPending") options.pendingBound = 0;
    Rig& rig = make(options);
    rig.connect().ask({.target = "/ok"});
    ASSERT_TRUE(rig.settle());
    ASSERT_EQ(rig.told.size(), 1U) << limit;
    EXPECT_EQ(rig.told[0].status, 503);
    EXPECT_EQ(rig.dialled(), 0U);
    const std::string page = rig.metricsText();
    EXPECT_TRUE(has(page, "http_server_request_duration_seconds_count{"));
    EXPECT_FALSE(has(page, "http_client_request_duration_seconds_count{")) << limit;
    EXPECT_TRUE(has(page, "sluice_limit_hits_total{limit=\"" + limit + "\"} ")) << limit;
  }
}

TEST_F(ExchangeTelemetryTest, ObservesAnAttemptWhoseBackendIsNotReachedInTime) {
  RigOptions options;
  options.timeouts.request = std::chrono::seconds(2);
  Rig& rig = make(options);
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(rig.dialled(), 1U);
  rig.advance(std::chrono::seconds(3));
  ASSERT_EQ(rig.told.size(), 1U);
  EXPECT_TRUE(metric("http_client_request_duration_seconds_count" + std::string(kServed) +
                     ",http_response_status_code=\"\",error_type=\"http_response_timeout\"} 1"));
}

TEST_F(ExchangeTelemetryTest, ShowsTheStatusOfTheBackendEvenIfTheClientGetsAnother) {
  RigOptions options;
  options.rule = [](routing::Rule& rule) {
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = 1;
    rule.retry->backoff = base::Duration::zero();
  };
  Rig& rig = make(options);
  rig.connect().ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  test::BackendPeer& backend = rig.accept(0);
  backend.respond(0, 503, "busy");
  ASSERT_TRUE(rig.settle());
  backend.wire().reset();
  ASSERT_TRUE(rig.settle());
  const std::string attempts = "http_client_request_duration_seconds_count" + std::string(kServed);
  EXPECT_TRUE(metric(attempts + ",http_response_status_code=\"503\",error_type=\"\"} 1"));
}

TEST_F(ExchangeTelemetryTest, CountsConnectionsTowardsBackendsByUse) {
  Rig& rig = make();
  test::ClientPeer& client = rig.connect();
  const auto gauge = [this](const char* state, int value) {
    return metric("http_client_open_connections{backend=\"demo/backend\",http_connection_state=\"" +
                  std::string(state) + "\"} " + std::to_string(value));
  };
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(gauge("active", 0));
  test::BackendPeer& backend = rig.accept(0);
  EXPECT_TRUE(gauge("active", 1));
  backend.respond(0, 200, "x");
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(gauge("active", 0));
  EXPECT_TRUE(gauge("idle", 1));
  backend.wire().reset();
  EXPECT_TRUE(gauge("idle", 0));
}

/// Reports that a step of this type took no time.
void report(Rig& rig, processing::Step& step, const std::string& type, std::uint32_t number) {
  step.type = type;
  step.number = number;
  const processing::Verdict verdict = processing::Verdict::goOn();
  rig.observer().onStep({step, base::Duration::zero(), verdict, processing::StepOutcome::kDone, {}, {}});
}

TEST_F(ExchangeTelemetryTest, CountsAStepByItsTypeWhereverItLies) {
  Rig& rig = make();
  processing::Step step;
  for (const auto& [type, number] : {std::pair("a", 7u), {"b", 2u}, {"c", 0u}, {"d", 0u}, {"a", 7u}}) {
    report(rig, step, type, number);
  }
  const auto counted = [this](const std::string& type, int count) {
    return metric("sluice_processor_duration_seconds_count{type=\"" + type +
                  "\",phase=\"request-headers\",namespace=\"\",serviceAccount=\"\"} " + std::to_string(count));
  };
  EXPECT_TRUE(counted("a", 2));
  for (const char* type : {"b", "c", "d"}) EXPECT_TRUE(counted(type, 1)) << type;
}

}  // namespace
}  // namespace sluice::exchange
