// Tests that statuses in a cluster have conditions of other sources besides those that compiling gives.
#include "proxy/kubernetes/status/cluster_statuses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

config::ParentStatus parentOf(const std::string& name, const std::string& nameSpace = "") {
  config::ParentStatus parent;
  config::ObjectRef& object = parent.parentRef.object;
  object.group = "gateway.networking.k8s.io";
  object.kind = "Gateway";
  object.nameSpace = nameSpace;
  object.name = name;
  return parent;
}

/// Returns the names of the parents of route demo/web that remain beside Gateway demo/egress.
std::vector<std::string> writtenParents(std::vector<config::ParentStatus> parents) {
  config::ObjectStatus gateway;
  gateway.group = "gateway.networking.k8s.io";
  gateway.kind = "Gateway";
  gateway.nameSpace = "demo";
  gateway.name = "egress";
  gateway.shape = config::StatusShape::kGateway;
  config::ObjectStatus route = gateway;
  route.kind = "HTTPRoute";
  route.name = "web";
  route.shape = config::StatusShape::kParents;
  route.parents = std::move(parents);
  control::CompiledConfiguration compiled;
  compiled.compiled.statuses = {gateway, route};
  const config::StatusList written = clusterStatuses(compiled, /*keepsPods=*/false);
  EXPECT_EQ(written.shared(0), compiled.compiled.statuses.shared(0));
  std::vector<std::string> names;
  for (const config::ParentStatus& each : written[1].parents) names.push_back(each.parentRef.object.name);
  return names;
}

TEST(ClusterStatuses, LeaveGatewaysOfOthersToTheirControllers) {
  EXPECT_THAT(writtenParents({parentOf("egress"), parentOf("other"), parentOf("egress", "team")}),
              ElementsAre("egress"));
  EXPECT_THAT(writtenParents({parentOf("egress", "demo")}), ElementsAre("egress"));
  EXPECT_THAT(writtenParents({parentOf("other")}), IsEmpty());
}

}  // namespace
}  // namespace sluice::kubernetes
