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
  const auto plan = planOfChecks(securePlan(), std::nullopt, {});
  EXPECT_NE(plan->identity.text(), securePlan().identity.text());
  EXPECT_NE(planApart(*plan, 1)->identity.text(), planApart(*plan, 2)->identity.text());
  EXPECT_EQ(plan->countedAs().text(), plan->identity.text());
  EXPECT_EQ(plan->authority, "backend.test");
  EXPECT_EQ(plan->tls->serverName, "backend.test");
  EXPECT_EQ(plan->reach, nullptr) << "requests alone say whether the Backend takes connections";
}

TEST(CheckPlan, IsTheSameForAllObjectsThatLeadToADestination) {
  const auto identity = [](const routing::BackendPlan& plan, const routing::HealthCheckSettings& settings) {
    return planOfChecks(plan, std::nullopt, settings)->identity.text();
  };
  const routing::HealthCheckSettings usual;
  const std::string same = identity(securePlan(), usual);
  routing::BackendPlan other = securePlan();
  other.name = "other/backend";
  other.object = "Backend.sluice.dev/other/backend";
  routing::HealthCheckSettings patient;
  patient.interval = std::chrono::hours(1);
  patient.unhealthyThreshold = 9;
  EXPECT_EQ(identity(other, patient), same);
  for (auto* const change : {+[](routing::BackendPlan& plan) { plan.port = 444; },
                             +[](routing::BackendPlan& plan) { plan.hostname = "elsewhere.test"; },
                             +[](routing::BackendPlan& plan) { plan.tls.reset(); },
                             +[](routing::BackendPlan& plan) { plan.tls->serverName = "other.test"; },
                             +[](routing::BackendPlan& plan) { plan.tls->spkiPins = {"pin"}; }}) {
    routing::BackendPlan differing = securePlan();
    change(differing);
    EXPECT_NE(identity(differing, usual), same);
  }
  for (auto* const change : {+[](routing::HealthCheckSettings& check) { check.timeout *= 2; },
                             +[](routing::HealthCheckSettings& check) { check.send = "a"; },
                             +[](routing::HealthCheckSettings& check) { check.expected = "a"; },
                             +[](routing::HealthCheckSettings& check) { check.path = "/a"; },
                             +[](routing::HealthCheckSettings& check) { check.expectedStatuses = {200}; },
                             +[](routing::HealthCheckSettings& check) {
                               check.headers = {{"a", "b"}};
                             }}) {
    routing::HealthCheckSettings differing;
    change(differing);
    EXPECT_NE(identity(securePlan(), differing), same);
  }
}

TEST(CheckPlan, HasThePortAndTheTlsOfTheCheck) {
  routing::HealthCheckSettings settings;
  settings.port = 9000;
  settings.serverName = "health.test";
  settings.insecureSkipVerify = true;
  const auto secure = planOfChecks(securePlan(), std::nullopt, settings);
  EXPECT_EQ(secure->port, 9000);
  EXPECT_EQ(secure->authority, "backend.test:9000");
  EXPECT_EQ(secure->tls->serverName, "health.test");
  EXPECT_TRUE(secure->tls->insecureSkipVerify);
  settings.plain = true;
  EXPECT_FALSE(planOfChecks(securePlan(), std::nullopt, settings)->tls);
  routing::BackendPlan without = securePlan();
  without.tls.reset();
  settings.plain = false;
  EXPECT_FALSE(planOfChecks(without, std::nullopt, settings)->tls) << "a Backend without TLS is asked without";
}

TEST(CheckPlan, LeadsToOneEndpointOfAService) {
  routing::HealthCheckSettings settings;
  settings.port = 9000;
  routing::BackendPlan service = securePlan();
  service.endpoints = routing::Endpoints{{"10.0.0.1", 8080}, {"10.0.0.2", 8080}};
  const auto plan = planOfChecks(service, routing::Endpoint{"10.0.0.2", 8080}, settings);
  EXPECT_EQ(plan->endpoints, (routing::Endpoints{{"10.0.0.2", 9000}}));
  EXPECT_NE(plan->identity.text(), planOfChecks(service, service.endpoints->front(), settings)->identity.text());
}

}  // namespace
}  // namespace sluice::control
