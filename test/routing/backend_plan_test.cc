#include <gtest/gtest.h>

#include "proxy/routing/snapshot.h"

namespace sluice::routing {
namespace {

std::string titleWith(const std::string& object, bool ofSettings = false) {
  BackendPlan plan;
  plan.object = object;
  plan.ofSettings = ofSettings;
  return titleOf(plan);
}

TEST(BackendPlan, HasTheTitleOfItsObject) {
  EXPECT_EQ(titleWith("Backend.gateway.networking.k8s.io/demo/api.v2"), "Backend demo/api.v2");
  EXPECT_EQ(titleWith("Service/demo/api.v2"), "Service demo/api.v2");
  EXPECT_EQ(titleWith("GatewayClass.gateway.networking.k8s.io/ext.test:5005", true), "");
  EXPECT_EQ(titleWith(""), "");
}

}  // namespace
}  // namespace sluice::routing
