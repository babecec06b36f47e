// Tests that requests are counted under the workload that makes them, whenever that becomes known, and that the number
// of workloads does not matter.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using test::Rig;

std::shared_ptr<const base::Caller> provenWorkload(const std::string& nameSpace, const std::string& account) {
  return std::make_shared<const base::Caller>(base::Caller{
      nameSpace, account, "spiffe://corp.test/ns/" + nameSpace + "/sa/" + account, base::Assurance::kCertificate});
}

class WorkloadSeries : public ::testing::Test {
 protected:
  void ask() {
    rig_.connect().ask({.target = "/ok"});
    ASSERT_TRUE(rig_.settle());
  }
  /// Answers the newest request, which has a connection of its own.
  void answer() {
    rig_.accept(rig_.dialled() - 1).respond(0, 200, "x");
    ASSERT_TRUE(rig_.settle());
  }
  bool has(const std::string& text) const { return rig_.metricsText().find(text) != std::string::npos; }
  static std::string labels(const std::string& nameSpace, const std::string& account) {
    return "{gateway=\"demo/egress\",route=\"demo/route\",backend=\"demo/backend\",namespace=\"" + nameSpace +
           "\",serviceAccount=\"" + account + "\",http_request_method=\"GET\"";
  }
  bool active(const std::string& nameSpace, const std::string& account, int count) const {
    return has("http_server_active_requests" + labels(nameSpace, account) + "} " + std::to_string(count) + "\n");
  }
  bool answered(const std::string& nameSpace, const std::string& account, int count) const {
    const std::string rest = labels(nameSpace, account) + ",http_response_status_code=\"200\",error_type=\"\"} " +
                             std::to_string(count) + "\n";
    return has("http_server_request_duration_seconds_count" + rest) &&
           has("http_client_request_duration_seconds_count" + rest);
  }

  Rig rig_;
};

TEST_F(WorkloadSeries, AreApartForTwoWorkloadsOfOneRule) {
  rig_.caller = provenWorkload("team", "bot");
  ask();
  rig_.caller = provenWorkload("team", "cook");
  ask();
  EXPECT_TRUE(active("team", "bot", 1));
  EXPECT_TRUE(active("team", "cook", 1));
  for (std::size_t i = 0; i < 2; ++i) rig_.accept(i).respond(0, 200, "x");
  ASSERT_TRUE(rig_.settle());
  for (const char* account : {"bot", "cook"}) {
    EXPECT_TRUE(active("team", account, 0)) << account;
    EXPECT_TRUE(answered("team", account, 1)) << account;
  }
}

TEST_F(WorkloadSeries, HaveEmptyNamesForACallerWithoutAccount) {
  rig_.caller = std::make_shared<const base::Caller>(base::Caller{"", "", "alice", base::Assurance::kToken});
  ask();
  answer();
  EXPECT_TRUE(answered("", "", 1));
  EXPECT_FALSE(has("alice")) << "a principal is no label";
}

TEST_F(WorkloadSeries, AreFoundAgainWhenAnotherConnectionNamesTheSameWorkload) {
  for (int round = 0; round < 2; ++round) {
    Rig rig;
    for (int i = 1; i <= 3; ++i) {
      rig.caller = provenWorkload("team", round == 0 ? "bot" : "account-with-a-name-that-is-allocated");
      rig.connect().ask({.target = "/ok"});
      ASSERT_TRUE(rig.settle());
      if (i == 1) rig.accept(0);
      rig.backends[0]->respond(static_cast<std::size_t>(i - 1), 200, "x");
      ASSERT_TRUE(rig.settle());
    }
    EXPECT_NE(rig.metricsText().find("error_type=\"\"} 3\n"), std::string::npos);
  }
}

TEST_F(WorkloadSeries, AreLeftByARequestWhoseCallerBecomesKnown) {
  ask();
  EXPECT_TRUE(active("", "", 1));
  test::identify(rig_, provenWorkload("team", "bot"));
  EXPECT_TRUE(active("", "", 0));
  EXPECT_TRUE(active("team", "bot", 1));
  answer();
  EXPECT_TRUE(active("", "", 0));
  EXPECT_TRUE(active("team", "bot", 0));
  EXPECT_TRUE(answered("team", "bot", 1));
  EXPECT_FALSE(answered("", "", 1));
  EXPECT_EQ(rig_.routed, 1);
}

TEST_F(WorkloadSeries, AreBoundedAndNoRequestIsLost) {
  ask();
  const std::size_t most = ExchangeTelemetry::kMostSeries + 10;
  for (std::size_t i = 0; i < most; ++i) test::identify(rig_, provenWorkload("team", std::to_string(i)));
  EXPECT_TRUE(active("team", "0", 0));
  EXPECT_TRUE(active("__other__", "__other__", 1)) << "the last one has no series of its own";
  EXPECT_FALSE(has("gateway=\"__other__\"")) << "the names of the route are kept";
  test::identify(rig_, provenWorkload("team", "0"));
  EXPECT_TRUE(active("__other__", "__other__", 0));
  EXPECT_TRUE(active("team", "0", 1));
  answer();
  EXPECT_TRUE(active("team", "0", 0));
}

/// Reports a step of a request of this workload.
void reportStepOf(Rig& rig, const processing::Step& step, const std::string& account) {
  const processing::Verdict verdict = processing::Verdict::fail("it broke");
  const processing::Peer client{"198.51.100.7", account.empty() ? "" : "team", account};
  rig.observer().onStep({step, base::Duration::zero(), verdict, processing::StepOutcome::kUnreplayable, {}, client});
}

TEST_F(WorkloadSeries, OfStepsAreThoseOfTheirRequests) {
  processing::Step step;
  step.type = "acme.test/Guard:v1";
  step.number = 3;
  for (const char* account : {"bot", "bot", "cook", ""}) reportStepOf(rig_, step, account);
  const auto counted = [this](const std::string& workload, int count) {
    const std::string labels = workload + "} " + std::to_string(count) + "\n";
    const std::string type = "{type=\"acme.test/Guard:v1\",phase=\"request-headers\"";
    return has("sluice_processor_duration_seconds_count" + type + labels) &&
           has("sluice_processor_failures_total" + type + ",reason=\"error\",outcome=\"closed\"" + labels) &&
           has("sluice_processor_unreplayable_total" + type + labels);
  };
  const std::string none = ",namespace=\"\",serviceAccount=\"\"";
  EXPECT_TRUE(counted(",namespace=\"team\",serviceAccount=\"bot\"", 2));
  EXPECT_TRUE(counted(",namespace=\"team\",serviceAccount=\"cook\"", 1));
  EXPECT_TRUE(counted(none, 1));
  step.preAuth = true;
  reportStepOf(rig_, step, "bot");
  EXPECT_TRUE(counted(none, 2)) << "a step before authentication has no identity";
}

}  // namespace
}  // namespace sluice::exchange
