#include "proxy/kubernetes/lease/reporters.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/kubernetes/lease/replica_report.h"

namespace sluice::kubernetes {
namespace {

ReplicaReport reportFrom(const std::string& nameSpace, const std::string& gateway = "demo/egress") {
  ReplicaReport report;
  report.replica = "egress-test-5d9c7b8f6-x2x4z";
  report.nameSpace = nameSpace;
  report.podUid = "u-1";
  report.gateway = gateway;
  return report;
}

/// A controller in sluice-system that runs the Pods of demo/egress, and not those of demo/own and other/own.
const Reporters kSomeReporters{"sluice-system",
                               {{"demo/egress", {"egress-test"}}, {"demo/own", {}}, {"other/own", {}}}};

TEST(Reporters, TrustReportsInTheControllersNamespaceForEveryGateway) {
  ReplicaReport report = reportFrom("sluice-system", "");
  report.podUid = "";
  report.replica = "any";
  EXPECT_TRUE(kSomeReporters.trusts(report, "demo/egress"));
  EXPECT_TRUE(kSomeReporters.trusts(report, "demo/unknown"));
  EXPECT_TRUE(kSomeReporters.trusts(report));
  EXPECT_TRUE(kSomeReporters.mayTrust("sluice-system"));
}

TEST(Reporters, TrustOtherReportsOnlyForGatewaysOfTheirNamespace) {
  EXPECT_TRUE(kSomeReporters.trusts(reportFrom("demo"), "demo/egress"));
  EXPECT_FALSE(kSomeReporters.trusts(reportFrom("demo"), "other/own"));
  EXPECT_FALSE(kSomeReporters.trusts(reportFrom("other"), "demo/egress"));
  EXPECT_FALSE(kSomeReporters.trusts(reportFrom("other", "demo/egress"))) << "it says nothing of its own Gateway";
  EXPECT_TRUE(kSomeReporters.trusts(reportFrom("other", "demo/egress,other/own")));
  EXPECT_TRUE(kSomeReporters.trusts(reportFrom("other", "")));
  EXPECT_FALSE(kSomeReporters.trusts(reportFrom("tenant", "")));
  EXPECT_TRUE(kSomeReporters.mayTrust("other"));
  EXPECT_FALSE(kSomeReporters.mayTrust("oth"));
  EXPECT_FALSE(kSomeReporters.mayTrust("tenant"));
  EXPECT_FALSE(Reporters{}.mayTrust("demo"));
}

TEST(Reporters, TrustOnlyPodsOfTheDeploymentThatTheControllerHasMade) {
  ReplicaReport report = reportFrom("demo");
  report.podUid = "";
  EXPECT_FALSE(kSomeReporters.trusts(report, "demo/egress"));
  EXPECT_TRUE(kSomeReporters.trusts(report, "demo/own"));
  report = reportFrom("demo");
  report.replica = "another-test-5d9c7b8f6-x2x4z";
  EXPECT_FALSE(kSomeReporters.trusts(report, "demo/egress"));
  EXPECT_FALSE(kSomeReporters.trusts(report));
}

/// The same controller, which runs the Pods of two Gateways in its own namespace too.
const Reporters kReportersWithPods{"sluice-system",
                                   {{"demo/egress", {"egress-test"}},
                                    {"demo/own", {}},
                                    {"sluice-system/egress", {"egress-test"}},
                                    {"sluice-system/second", {"second-test"}}}};

TEST(Reporters, TrustAPodOfAGatewayInTheControllersNamespaceForThatGatewayAlone) {
  ReplicaReport report = reportFrom("sluice-system", "");
  EXPECT_TRUE(kReportersWithPods.trusts(report, "sluice-system/egress"));
  EXPECT_FALSE(kReportersWithPods.trusts(report, "sluice-system/second"));
  EXPECT_FALSE(kReportersWithPods.trusts(report, "demo/egress"));
  EXPECT_FALSE(kReportersWithPods.trusts(report, "demo/own"));
  EXPECT_TRUE(kReportersWithPods.trusts(report));
  report.podUid = "";
  EXPECT_FALSE(kReportersWithPods.trusts(report, "sluice-system/egress"));
  EXPECT_FALSE(kReportersWithPods.trusts(report, "demo/own")) << "it has the name of a Pod";
  EXPECT_FALSE(kReportersWithPods.trusts(report));
  EXPECT_FALSE(kReportersWithPods.trusts(reportFrom("sluice-system", "demo/own")));
}

TEST(Reporters, TrustNoOtherReportThereForAGatewayElsewhereWhosePodsTheControllerRuns) {
  ReplicaReport report = reportFrom("sluice-system", "");
  report.replica = "any";
  EXPECT_FALSE(kReportersWithPods.trusts(report, "demo/egress")) << "a Pod of sluice-system/egress may write that";
  EXPECT_TRUE(kReportersWithPods.trusts(report, "demo/own"));
  EXPECT_TRUE(kReportersWithPods.trusts(report, "sluice-system/egress"));
  EXPECT_TRUE(kReportersWithPods.trusts(report));
}

TEST(Reporters, KnowThePodsOfADeploymentByTheirNames) {
  EXPECT_TRUE(isNameOfPod("egress-test-5d9c7b8f6-x2x4z", "egress-test"));
  EXPECT_FALSE(isNameOfPod("egress-test-5d9c7b8f6-x2x4z", "egress"));
  EXPECT_FALSE(isNameOfPod("egress-test-x2x4z", "egress-test"));
  EXPECT_FALSE(isNameOfPod("egress-test--x2x4z", "egress-test"));
  EXPECT_FALSE(isNameOfPod("egress-test5d9c7b8f6-x2x4z", "egress-test"));
  EXPECT_FALSE(isNameOfPod("egress-test-5d9c7b8f6-x2-4z", "egress-test"));
  EXPECT_FALSE(isNameOfPod("egress-test-5d9c7b8f6x2x4z", "egress-test"));
  EXPECT_FALSE(isNameOfPod("egress-test-5d9c7b8f612-x2x4z", "egress-test")) << "no ReplicaSet has such a hash";
  EXPECT_FALSE(isNameOfPod("x2x4z", ""));
}

TEST(Reporters, KnowPodsWhoseNamesAreCut) {
  // The name of a Pod has 63 characters at most, of which 5 are its own.
  const std::string longest(63, 'a');
  EXPECT_TRUE(isNameOfPod(longest.substr(0, 58) + "x2x4z", longest));
  EXPECT_FALSE(isNameOfPod(longest.substr(0, 57) + "x2x4z", longest));
  const std::string shorter(50, 'a');
  EXPECT_TRUE(isNameOfPod(shorter + "-5d9c7b8" + "x2x4z", shorter));
  EXPECT_FALSE(isNameOfPod(shorter + "-5d9c7b" + "x2x4z", shorter));
  EXPECT_TRUE(isNameOfPod(std::string(46, 'a') + "-5d9c7b8f61-" + "x2x4z", std::string(46, 'a')));
  EXPECT_TRUE(isNameOfPod(std::string(47, 'a') + "-5d9c7b8f61" + "x2x4z", std::string(47, 'a')));
  EXPECT_TRUE(isNameOfPod(std::string(57, 'a') + "-" + "x2x4z", std::string(57, 'a')));
}

}  // namespace
}  // namespace sluice::kubernetes
