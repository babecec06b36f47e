// Tests which replicas differ from the others, and in which fields.
#include "proxy/server/kubernetes/replica_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/server/kubernetes/cluster_status.h"

namespace sluice::server {
namespace {

using kubernetes::ReplicaReport;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

ReplicaReport replica(const std::string& name, const std::string& served = "one", const std::string& gateway = "") {
  ReplicaReport report;
  report.replica = name;
  report.nameSpace = "demo";
  report.replicaOf = "demo.egress";
  report.gateway = gateway;
  report.desired = "one";
  report.served = served;
  if (served != "one") report.state = control::ConfigState::kRollback;
  return report;
}

std::vector<DifferingGroup> groupsOf(const std::vector<ReplicaReport>& reports) {
  std::vector<const ReplicaReport*> live;
  for (const ReplicaReport& each : reports) live.push_back(&each);
  return differingGroups(live);
}

/// Returns the names of the replicas that differ, group after group.
std::vector<std::string> differing(const std::vector<ReplicaReport>& reports) {
  std::vector<std::string> names;
  for (const DifferingGroup& group : groupsOf(reports)) {
    for (const DifferingReplica& each : group.differing) names.push_back(each.replica);
  }
  return names;
}

TEST(ReplicaDifferences, AreThoseFromMostOthers) {
  EXPECT_THAT(differing({}), IsEmpty());
  EXPECT_THAT(differing({replica("a", "two")}), IsEmpty()) << "there are no others";
  EXPECT_THAT(differing({replica("a"), replica("b"), replica("c")}), IsEmpty());
  EXPECT_THAT(differing({replica("a", "two"), replica("b"), replica("c", "two")}), ElementsAre("demo/b"))
      << "most may be the bad ones";
  EXPECT_THAT(differing({replica("a", "two"), replica("b")}), ElementsAre("demo/a")) << "those in sync are the others";
  ReplicaReport failing = replica("b");
  failing.failedInAll = 3;
  EXPECT_THAT(differing({replica("a"), failing}), ElementsAre("demo/b"));
  EXPECT_THAT(differing({failing, replica("c")}), ElementsAre("demo/b")) << "whatever their order is";
}

TEST(ReplicaDifferences, HaveTheFieldWithBothValues) {
  ReplicaReport failing = replica("b");
  failing.failed = {{"HTTPRoute", "demo", "web", "", "Invalid", "m"}, {"Backend", "", "x", "", "Pending", "m"}};
  failing.failedInAll = 5;
  const auto groups = groupsOf({replica("a"), failing, replica("c")});
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].replicas, 3U);
  ASSERT_THAT(groups[0].differing, SizeIs(1));
  EXPECT_THAT(
      groups[0].differing[0].fields,
      ElementsAre(DifferingField{"failed", {"Backend x: Pending", "HTTPRoute demo/web: Invalid", "and 3 more"}, {}}));
  const auto behind = groupsOf({replica("a"), replica("b", ""), replica("c")});
  EXPECT_THAT(behind.at(0).differing.at(0).fields,
              ElementsAre(DifferingField{"served", {}, {"one"}}, DifferingField{"state", {"Rollback"}, {"InSync"}}));
}

TEST(ReplicaDifferences, AreSoughtAmongReplicasOfTheSameGateways) {
  const std::string other = "demo/other";
  EXPECT_THAT(differing({replica("a"), replica("b", "two", other), replica("c", "two", other)}), IsEmpty())
      << "each Gateway has revisions of its own";
  EXPECT_THAT(differing({replica("a"), replica("b"), replica("c", "two"), replica("d", "one", other),
                         replica("e", "one", other), replica("f", "two", other)}),
              ElementsAre("demo/c", "demo/f"));
}

TEST(ReplicaDifferences, AreNamedForFiveReplicasAndCountedForTheRest) {
  ClusterStatus status;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "r" + std::to_string(100 + i);
    status.replicas.push_back({replica(name, i < 8 ? "two" : "one"), "", false});
  }
  ReplicaReport failing = replica("r999");
  for (int i = 0; i < 9; ++i) failing.failed.push_back({"Backend", "", "b" + std::to_string(i), "", "Pending", "m"});
  failing.failedInAll = 9;
  status.replicas.insert(status.replicas.begin(), {failing, "", false});
  status.replicas.push_back({replica("gone", "old"), "", true});
  std::string text = clusterStatusOutput(status).text;
  text = text.substr(0, text.find("no Gateway"));
  EXPECT_THAT(text, HasSubstr("9 of 101 replicas differ from the others:\n"));
  EXPECT_THAT(text, HasSubstr("demo/r103"));
  EXPECT_THAT(text, Not(HasSubstr("demo/r104")));
  EXPECT_THAT(text, HasSubstr("Backend b4: Pending"));
  EXPECT_THAT(text, Not(HasSubstr("Backend b5: Pending")));
  EXPECT_THAT(text, HasSubstr("and 4 more\n"));
  EXPECT_THAT(text, Not(HasSubstr("demo/gone")));
  EXPECT_EQ(clusterStatusOutput(status).value.find("differences")->items.at(0).find("differing")->items.size(), 9U)
      << "programs get all";
}

}  // namespace
}  // namespace sluice::server
