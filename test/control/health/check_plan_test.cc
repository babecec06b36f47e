#include "proxy/control/health/check_plan.h"

#include <gtest/gtest.h>

namespace sluice::control {
namespace {

routing::BackendPlan securePlan() {
  routing::BackendPlan plan;
  plan.name = "demo/backend";
  plan.object = "Backend.sluice.dev/demo/backend";
  plan.hostname = "backend.test";
  plan.port = 443;
  plan.tls.emplace().serverName = "backend.test";
  plan.identity = "backend";
  plan.countsAs = "other";
  plan.reach = std::make_shared<const routing::BackendReach>();
  return plan;
}

TEST(CheckPlan, HasConnectionsOfItsOwn) {
  const auto plan = planOfChecks(securePlan(), std::nullopt, {}, 1);
  EXPECT_NE(plan->identity.text(), planOfChecks(securePlan(), std::nullopt, {}, 2)->identity.text());
  EXPECT_EQ(plan->countedAs().text(), plan->identity.text());
  EXPECT_EQ(plan->authority, "backend.test");
  EXPECT_EQ(plan->tls->serverName, "backend.test");
  EXPECT_EQ(plan->reach, nullptr) << "requests alone say whether the Backend takes connections";
}

TEST(CheckPlan, HasThePortAndTheTlsOfTheCheck) {
  routing::HealthCheckSettings settings;
  settings.port = 9000;
  settings.serverName = "health.test";
  settings.insecureSkipVerify = true;
  const auto secure = planOfChecks(securePlan(), std::nullopt, settings, 1);
  EXPECT_EQ(secure->port, 9000);
  EXPECT_EQ(secure->authority, "backend.test:9000");
  EXPECT_EQ(secure->tls->serverName, "health.test");
  EXPECT_TRUE(secure->tls->insecureSkipVerify);
  settings.plain = true;
  EXPECT_FALSE(planOfChecks(securePlan(), std::nullopt, settings, 1)->tls);
  routing::BackendPlan without = securePlan();
  without.tls.reset();
  settings.plain = false;
  EXPECT_FALSE(planOfChecks(without, std::nullopt, settings, 1)->tls) << "a Backend without TLS is asked without";
}

TEST(CheckPlan, LeadsToOneEndpointOfAService) {
  routing::HealthCheckSettings settings;
  settings.port = 9000;
  routing::BackendPlan service = securePlan();
  service.endpoints = routing::Endpoints{{"10.0.0.1", 8080}, {"10.0.0.2", 8080}};
  const auto plan = planOfChecks(service, routing::Endpoint{"10.0.0.2", 8080}, settings, 1);
  EXPECT_EQ(plan->endpoints, (routing::Endpoints{{"10.0.0.2", 9000}}));
  EXPECT_NE(plan->identity.text(), planOfChecks(service, service.endpoints->front(), settings, 1)->identity.text());
}

}  // namespace
}  // namespace sluice::control
