// The routes that are for the host of a request and that their Gateway has refused.
#include "proxy/control/explain/refused_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/control/explain/explanation_output.h"
#include "test/control/explain/explain_world.h"

namespace sluice::control {
namespace {

using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string callRoute(const std::string& hostnames) {
  return test::with(
      test::with(test::with(test::kRoute, "kind: HTTPRoute", "kind: GRPCRoute"), "{name: route,", "{name: rpc,"),
      "spec:", "spec:\n  hostnames: " + hostnames);
}

Explanation withRefused(const World& world, const std::string& url) {
  Explanation explanation = test::explained(world, url);
  addRefusedRoutes(world.model(), world.result().statuses, explanation);
  return explanation;
}

std::vector<std::string> refusedIn(const Explanation& explanation) {
  std::vector<std::string> texts;
  for (const RefusedRoute& each : explanation.refused)
    texts.push_back(each.kind + " " + each.route + " by " + each.parent + ": " + each.reason);
  return texts;
}

TEST(RefusedRoutes, AreThoseForTheHost) {
  const World world({test::kClass, test::kGateway, test::kBackend, test::kRoute, callRoute("[a.test]")});
  const Explanation explanation = withRefused(world, "http://a.test/");
  EXPECT_THAT(refusedIn(explanation), ElementsAre("GRPCRoute default/rpc by default/egress: HostnameConflict"));
  EXPECT_EQ(explanation.rule->route, "default/route");
  EXPECT_THAT(explanationOutput(explanation).text,
              HasSubstr("refused     GRPCRoute default/rpc by Gateway default/egress: HostnameConflict: "));
  EXPECT_THAT(refusedIn(withRefused(world, "http://b.test/")), IsEmpty());
  const World wild({test::kClass, test::kGateway, test::kBackend, test::kRoute, callRoute("['*.test']")});
  EXPECT_THAT(refusedIn(withRefused(wild, "http://b.test/")), testing::SizeIs(1));
}

TEST(RefusedRoutes, AreThoseOfTheListenersGateway) {
  const std::string elsewhere = test::with(callRoute("[a.test]"), "[{name: egress}]", "[{name: absent}]");
  const World world({test::kClass, test::kGateway, test::kBackend, test::kRoute, elsewhere});
  EXPECT_THAT(refusedIn(withRefused(world, "http://a.test/")), IsEmpty());
  const std::string other =
      test::with(callRoute("[a.test]"), "[{name: egress}]", "[{name: egress, sectionName: absent}]");
  const World section({test::kClass, test::kGateway, test::kBackend, test::kRoute, other});
  EXPECT_THAT(refusedIn(withRefused(section, "http://a.test/")), IsEmpty());
}

TEST(RefusedRoutes, AreBounded) {
  std::vector<std::string> routes;
  for (int i = 0; i < 8; ++i)
    routes.push_back(test::with(callRoute("[a.test]"), "name: rpc", "name: rpc" + std::to_string(i)));
  std::vector<std::string_view> documents{test::kClass, test::kGateway, test::kBackend, test::kRoute};
  documents.insert(documents.end(), routes.begin(), routes.end());
  EXPECT_EQ(withRefused(World(documents), "http://a.test/").refused.size(), kMostRefused);
}

}  // namespace
}  // namespace sluice::control
