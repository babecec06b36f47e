#include "proxy/compile/served_objects.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace sluice::compile {
namespace {

constexpr std::string_view kServedApiGroup = "gateway.networking.k8s.io";
constexpr std::string_view kServedOwnGroup = "sluice.dev";

/// `group` and `kind` must be constants.
config::ObjectStatus statusOfKind(std::string_view group, std::string_view kind, const std::string& nameSpace,
                                  const std::string& name,
                                  config::StatusShape shape = config::StatusShape::kConditions) {
  config::ObjectStatus status;
  status.group = group;
  status.kind = kind;
  status.nameSpace = nameSpace;
  status.name = name;
  status.shape = shape;
  return status;
}

config::ObjectStatus policyTargeting(const std::string& nameSpace, std::string_view group, const std::string& kind,
                                     const std::string& name) {
  config::ObjectStatus status =
      statusOfKind(kServedOwnGroup, "PayloadProcessor", nameSpace, "p", config::StatusShape::kAncestors);
  config::ParentStatus ancestor;
  ancestor.parentRef.object.group = group;
  ancestor.parentRef.object.kind = kind;
  ancestor.parentRef.object.name = name;
  status.parents.push_back(ancestor);
  return status;
}

/// Tests with a process that serves the Gateway demo/egress, with the HTTPRoute apps/web to the Backend vault/far.
class ServedObjectsOf : public ::testing::Test {
 protected:
  ServedObjectsOf() {
    compiled.statuses.push_back(
        statusOfKind(kServedApiGroup, "Gateway", "demo", "egress", config::StatusShape::kGateway));
    compiled.statuses.push_back(
        statusOfKind(kServedApiGroup, "HTTPRoute", "apps", "web", config::StatusShape::kParents));
    auto backend = std::make_shared<routing::BackendPlan>();
    backend->object = "Backend.sluice.dev/vault/far";
    auto ofSettings = std::make_shared<routing::BackendPlan>();
    ofSettings->object = "GatewayClass.gateway.networking.k8s.io/server";
    auto snapshot = std::make_shared<routing::Snapshot>();
    snapshot->backends = {backend, ofSettings};
    compiled.snapshot = std::move(snapshot);
  }
  bool has(const config::ObjectStatus& object) const { return ServedObjects(compiled).has(object); }

  CompileResult compiled;
};

TEST_F(ServedObjectsOf, AProcessAreItsGatewaysRoutesAndBackendsInUse) {
  EXPECT_TRUE(has(compiled.statuses[0]));
  EXPECT_TRUE(has(compiled.statuses[1]));
  EXPECT_TRUE(has(statusOfKind(kServedOwnGroup, "Backend", "vault", "far")));
  EXPECT_FALSE(has(statusOfKind(kServedOwnGroup, "Backend", "vault", "of-another")));
  EXPECT_FALSE(has(statusOfKind(kServedOwnGroup, "Backend", "demo", "far")));
  compiled.namedBackends = {"Backend.sluice.dev/vault/broken"};
  EXPECT_TRUE(has(statusOfKind(kServedOwnGroup, "Backend", "vault", "broken"))) << "a route names it";
  EXPECT_TRUE(has(statusOfKind(kServedApiGroup, "GatewayClass", "", "sluice")));
}

TEST_F(ServedObjectsOf, AProcessAreOthersOfTheirNamespaces) {
  for (const char* nameSpace : {"demo", "apps", "vault"}) {
    EXPECT_TRUE(has(statusOfKind(kServedOwnGroup, "PayloadProcessingPipeline", nameSpace, "p"))) << nameSpace;
  }
  EXPECT_FALSE(has(statusOfKind(kServedOwnGroup, "PayloadProcessingPipeline", "tenant", "p")));
}

TEST_F(ServedObjectsOf, AProcessAreNoPoliciesOfOtherGateways) {
  EXPECT_TRUE(has(policyTargeting("demo", kServedApiGroup, "Gateway", "egress")));
  EXPECT_FALSE(has(policyTargeting("demo", kServedApiGroup, "Gateway", "another")));
  EXPECT_TRUE(has(policyTargeting("apps", kServedApiGroup, "HTTPRoute", "web")));
  EXPECT_FALSE(has(policyTargeting("apps", kServedApiGroup, "HTTPRoute", "of-another")));
  EXPECT_FALSE(has(policyTargeting("vault", kServedOwnGroup, "Backend", "of-another")));
  EXPECT_TRUE(has(policyTargeting("apps", "", "Service", "any")));
  EXPECT_TRUE(has(statusOfKind(kServedOwnGroup, "PayloadProcessor", "demo", "p", config::StatusShape::kAncestors)));
}

}  // namespace
}  // namespace sluice::compile
