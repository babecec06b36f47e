#include "proxy/server/check/egress_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/content/json.h"
#include "proxy/server/check/egress_output.h"

namespace sluice::server {
namespace {

using net::ProbeResult;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr base::Duration kTimeout = std::chrono::seconds(5);

ProbedAddress probed(ProbeResult result, std::optional<ProbeResult> control = ProbeResult::kTimedOut) {
  const CheckTarget target = *parseCheckTarget("1.1.1.1:443");
  ProbedAddress found{target, target.address, net::ProbeOutcome{result, "the system's words", {}}, "",
                      std::chrono::milliseconds(12)};
  if (result == ProbeResult::kRejected) found.outcome->sender = *net::Address::parse("10.0.0.1", 0);
  found.control = control;
  return found;
}

ProbedAddress unresolved() {
  return {*parseCheckTarget("example.com:443"), std::nullopt, std::nullopt, "example.com: no name server answers"};
}

EgressReport reportOn(const std::vector<ProbedAddress>& targets) {
  return judgeEgress({targets, {}}, std::nullopt, "team-a", kTimeout);
}

TEST(EgressReport, JudgesEveryResultBesideItsControl) {
  struct JudgedRow {
    ProbeResult result;
    std::optional<ProbeResult> control;
    EgressVerdict verdict;
    std::string reason;
    std::string happened;
  };
  const std::vector<JudgedRow> kRows = {
      {ProbeResult::kReached, ProbeResult::kTimedOut, EgressVerdict::kOpen, "Reached", "connected after 12 ms"},
      {ProbeResult::kReached, std::nullopt, EgressVerdict::kOpen, "Reached", "connected after 12 ms"},
      {ProbeResult::kReached, ProbeResult::kReached, EgressVerdict::kUnclear, "Intercepted",
       "connected after 12 ms, as 192.0.2.1 did, where nobody is"},
      {ProbeResult::kRefused, ProbeResult::kTimedOut, EgressVerdict::kOpen, "Refused", "refused by the address itself"},
      {ProbeResult::kRefused, ProbeResult::kUnreachable, EgressVerdict::kOpen, "Refused",
       "refused by the address itself"},
      {ProbeResult::kRefused, std::nullopt, EgressVerdict::kOpen, "Refused", "refused by the address itself"},
      {ProbeResult::kRefused, ProbeResult::kRefused, EgressVerdict::kClosed, "RefusedOnTheWay",
       "refused, as 192.0.2.1 was, where nobody is"},
      {ProbeResult::kRejected, ProbeResult::kTimedOut, EgressVerdict::kClosed, "RefusedOnTheWay",
       "refused by 10.0.0.1 on the way: the system's words"},
      {ProbeResult::kUnreachable, ProbeResult::kUnreachable, EgressVerdict::kClosed, "Unreachable",
       "no way there: the system's words"},
      {ProbeResult::kTimedOut, ProbeResult::kTimedOut, EgressVerdict::kClosed, "NoAnswer", "no answer within 5s"},
      {ProbeResult::kFailed, ProbeResult::kFailed, EgressVerdict::kUnclear, "NotTried",
       "could not be tried: the system's words"},
  };
  for (const JudgedRow& row : kRows) {
    const EgressReport report = reportOn({probed(row.result, row.control)});
    ASSERT_EQ(report.addresses.size(), 1u);
    EXPECT_EQ(report.addresses[0].verdict, row.verdict) << row.reason;
    EXPECT_EQ(report.addresses[0].reason, row.reason);
    EXPECT_EQ(report.addresses[0].happened, row.happened);
    EXPECT_EQ(report.verdict, row.verdict);
    EXPECT_EQ(report.good(), row.verdict == EgressVerdict::kClosed);
  }
}

TEST(EgressReport, IsOpenIfOneWayIsOpenAndClosedOnlyWithoutADoubt) {
  const ProbedAddress closed = probed(ProbeResult::kTimedOut);
  const ProbedAddress open = probed(ProbeResult::kReached);
  const ProbedAddress intercepted = probed(ProbeResult::kReached, ProbeResult::kReached);
  EXPECT_EQ(reportOn({closed, open, closed}).verdict, EgressVerdict::kOpen);
  EXPECT_EQ(reportOn({intercepted, open}).verdict, EgressVerdict::kOpen);
  EXPECT_EQ(reportOn({intercepted, closed}).verdict, EgressVerdict::kUnclear);
  EXPECT_EQ(reportOn({probed(ProbeResult::kFailed), closed}).verdict, EgressVerdict::kUnclear);
}

TEST(EgressReport, TakesANameThatIsNotResolvedForNoProof) {
  EXPECT_EQ(reportOn({unresolved(), probed(ProbeResult::kTimedOut)}).verdict, EgressVerdict::kClosed);
  const EgressReport alone = reportOn({unresolved()});
  EXPECT_EQ(alone.verdict, EgressVerdict::kUnclear);
  EXPECT_EQ(alone.addresses[0].reason, "NotResolved");
  EXPECT_EQ(alone.addresses[0].happened, "not resolved: example.com: no name server answers");
  EXPECT_THAT(alone.advice, ElementsAre(HasSubstr("Name an address")));
}

TEST(EgressReport, NeedsAGatewayThatIsReachableByOneOfItsAddresses) {
  const CheckTarget gateway = *parseCheckTarget("egress.sluice-system:10080");
  const EgressFindings good = {{probed(ProbeResult::kTimedOut)},
                               {probed(ProbeResult::kTimedOut), probed(ProbeResult::kReached)}};
  EXPECT_TRUE(judgeEgress(good, gateway, "", kTimeout).good());
  EXPECT_THAT(judgeEgress(good, gateway, "", kTimeout).advice, IsEmpty());
  const EgressFindings bad = {{probed(ProbeResult::kTimedOut)}, {probed(ProbeResult::kRefused)}};
  const EgressReport report = judgeEgress(bad, gateway, "team-a", kTimeout);
  EXPECT_EQ(report.verdict, EgressVerdict::kClosed);
  EXPECT_FALSE(report.good());
  EXPECT_THAT(report.advice, ElementsAre(HasSubstr("a NetworkPolicy of team-a must name the gateway's Pods")));
}

TEST(EgressReport, NamesTheNamespaceInItsAdvice) {
  const std::string command = "kubectl apply -n team-a -k config/kustomize/enforced-egress";
  EXPECT_THAT(reportOn({probed(ProbeResult::kReached)}).advice, testing::Contains(HasSubstr(command)));
  EXPECT_THAT(judgeEgress({{probed(ProbeResult::kReached)}, {}}, std::nullopt, "", kTimeout).advice,
              testing::Contains(HasSubstr("kubectl apply -n NAMESPACE ")));
  EXPECT_THAT(reportOn({probed(ProbeResult::kTimedOut)}).advice, ElementsAre(HasSubstr("--gateway HOST:PORT")));
  EXPECT_THAT(reportOn({probed(ProbeResult::kRefused)}).advice,
              testing::Contains(HasSubstr("A target that refused counts as open")));
}

TEST(EgressOutput, HasALineForEachAddress) {
  const EgressReport report =
      judgeEgress({{probed(ProbeResult::kReached), unresolved()}, {probed(ProbeResult::kReached)}},
                  *parseCheckTarget("1.1.1.1:443"), "team-a", kTimeout);
  EXPECT_THAT(
      egressOutput(report).text,
      testing::StartsWith("PROTOCOL   TARGET            ADDRESS       DIRECT EGRESS   WHAT HAPPENED\n"
                          "TCP        1.1.1.1:443       1.1.1.1:443   open            connected after 12 ms\n"
                          "TCP        example.com:443   -             unclear         not resolved: example.com: no "
                          "name server answers\n"
                          "TCP        1.1.1.1:443       1.1.1.1:443   (the gateway)   connected after 12 ms\n"
                          "\n"
                          "direct egress from the namespace team-a is open: 1 of 2 tries got out\n"
                          "the gateway 1.1.1.1:443 is reachable\n"
                          "\n"
                          "what to do:\n- "));
}

std::string egressJson(const EgressReport& report) { return content::outputJson(egressOutput(report).value); }

TEST(EgressOutput, HasTheSameForPrograms) {
  const auto document = content::parseJson(
      egressJson(judgeEgress({{probed(ProbeResult::kTimedOut), unresolved()}, {probed(ProbeResult::kRefused)}},
                             *parseCheckTarget("gateway:80"), "team-a", kTimeout)));
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->find("verdict")->text, "closed");
  EXPECT_EQ(document->find("namespace")->text, "team-a");
  const auto& addresses = document->find("addresses")->items;
  ASSERT_EQ(addresses.size(), 2u);
  EXPECT_EQ(addresses[0].find("target")->text, "1.1.1.1:443");
  EXPECT_EQ(addresses[0].find("protocol")->text, "TCP");
  EXPECT_EQ(addresses[0].find("verdict")->text, "closed");
  EXPECT_EQ(addresses[0].find("reason")->text, "NoAnswer");
  EXPECT_EQ(addresses[0].find("milliseconds")->text, "12");
  EXPECT_EQ(addresses[1].find("address"), nullptr);
  EXPECT_EQ(document->find("gateway")->find("target")->text, "gateway:80");
  EXPECT_EQ(document->find("gateway")->find("addresses")->items[0].find("verdict"), nullptr);
  EXPECT_FALSE(document->find("advice")->items.empty());
  EXPECT_THAT(egressJson(reportOn({})), Not(HasSubstr("gateway\":{")));
  EXPECT_THAT(egressJson(judgeEgress({}, *parseCheckTarget("gateway:80"), "", kTimeout)),
              HasSubstr(R"("gateway":{"target":"gateway:80","reachable":false,)"));
}

}  // namespace
}  // namespace sluice::server
