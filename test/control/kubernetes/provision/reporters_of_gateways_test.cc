#include "proxy/control/kubernetes/provision/reporters_of_gateways.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "test/control/kubernetes/provision/gateway_fixture.h"

namespace sluice::control {
namespace {

Reporters reportersOfOne(bool keepsPods, const std::string& ourClass = "sluice") {
  RunGateway run(kListenersOfTwoPorts);
  run.configuration.model.gatewayClassName = ourClass;
  return reportersOf(run.configuration.model, "sluice-system", keepsPods);
}

TEST(ReportersOfGateways, ArePodsOfTheDeploymentsThatTheControllerKeeps) {
  const Reporters reporters = reportersOfOne(/*keepsPods=*/true);
  EXPECT_EQ(reporters.home, "sluice-system");
  EXPECT_EQ(reporters.gateways.at("demo/egress"), std::set<std::string>{"egress-sluice"});
}

TEST(ReportersOfGateways, AreAnyBesideTheGatewayWherePeopleKeepThePods) {
  EXPECT_TRUE(reportersOfOne(/*keepsPods=*/false).gateways.at("demo/egress").empty());
  EXPECT_TRUE(reportersOfOne(/*keepsPods=*/true, "other").gateways.at("demo/egress").empty());
}

TEST(ReportersOfGateways, KnowAGatewayThatCannotBeRead) {
  config::Model model;
  config::Rejected rejected;
  rejected.group = config::kGatewayGroup;
  rejected.kind = "Gateway";
  rejected.nameSpace = "demo";
  rejected.name = "broken";
  model.rejected.push_back(rejected);
  EXPECT_TRUE(reportersOf(model, "sluice-system", true).hears("demo"));
}

}  // namespace
}  // namespace sluice::control
