#include "proxy/kubernetes/provision/reporters_of_gateways.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "test/kubernetes/provision/gateway_fixture.h"

namespace sluice::kubernetes {
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
}

TEST(ReportersOfGateways, AreNoneOfGatewaysOfOtherClasses) {
  for (const bool keepsPods : {false, true}) EXPECT_FALSE(reportersOfOne(keepsPods, "other").mayTrust("demo"));
}

TEST(ReportersOfGateways, KnowAGatewayThatCannotBeRead) {
  config::Model model;
  config::Rejected rejected;
  rejected.group = config::kGatewayGroup;
  rejected.kind = "Gateway";
  rejected.nameSpace = "demo";
  rejected.name = "broken";
  model.rejected.push_back(rejected);
  EXPECT_TRUE(reportersOf(model, "sluice-system", true).mayTrust("demo"));
}

TEST(ReportersOfGateways, AreThePodsOfAGatewayWhichItsSchemaRefuses) {
  config::Model model =
      config::loadText(
          "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: "
          "egress}\nspec: {gatewayClassName: sluice, listeners: [{name: a, port: 80, protocol: HTTP, "
          "hostname: 1.2.3.4}]}\n")
          .model;
  ASSERT_EQ(model.rejected.size(), 1U);
  model.gatewayClassName = "sluice";
  EXPECT_EQ(reportersOf(model, "sluice-system", true).gateways.at("demo/egress"),
            std::set<std::string>{"egress-sluice"});
  model.gatewayClassName = "other";
  EXPECT_FALSE(reportersOf(model, "sluice-system", true).mayTrust("demo"));
}

}  // namespace
}  // namespace sluice::kubernetes
