// Tests what policies say, and close, where clients come in ways that cannot see all of their rules.
#include "proxy/compile/policies/egress_visibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/gateways/verified_gateway.h"
#include "test/support/passwords.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::routeWithRules;
using test::World;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kBothListeners =
    "{name: web, protocol: HTTP, port: 80}, {name: proxy, protocol: sluice.dev/HTTPPROXY, port: 81}";
constexpr const char* kTunnelRules =
    "rules: [{name: tunnels, matches: [{method: CONNECT}], filters: [{type: RequestHeaderModifier, "
    "requestHeaderModifier: {remove: [a]}}]}, {name: rest}]";
constexpr const char* kSeesPosts = "[{name: names, to: {hostnames: [a.test]}}, {name: posts, http: {methods: [POST]}}]";

std::string seeing(const std::string& target, const std::string& rules = kSeesPosts) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: "
         "gateway.networking.k8s.io, " +
         target + "}], rules: " + rules + "}\n";
}

/// Returns a world with a policy for this target.
World visibleWorld(const std::string& target, const std::string& routeRules = kTunnelRules,
                   const std::string& rules = kSeesPosts) {
  const std::string gateway = gatewayWith(kBothListeners);
  const std::string route = routeWithRules(routeRules);
  const std::string policy = seeing(target, rules);
  return World({kClass, gateway, kBackend, route, policy});
}

struct Visibility {
  const char* target;
  const char* accepted;
  const char* partly;
};

TEST(EgressVisibility, DependsOnTheWaysToTheTarget) {
  for (const Visibility& each : {
           Visibility{"kind: Gateway, name: egress", "True/Accepted", "True/UnsupportedRule"},
           Visibility{"kind: Gateway, name: egress, sectionName: web", "True/Accepted", ""},
           Visibility{"kind: Gateway, name: egress, sectionName: proxy", "True/Accepted", "True/UnsupportedRule"},
           Visibility{"kind: HTTPRoute, name: route", "True/Accepted", "True/UnsupportedRule"},
           Visibility{"kind: HTTPRoute, name: route, sectionName: rest", "True/Accepted", ""},
           Visibility{"kind: HTTPRoute, name: route, sectionName: tunnels", "False/UnsupportedRule", ""},
       }) {
    const World world = visibleWorld(each.target);
    EXPECT_EQ(world.condition("EgressPolicy", "p", "Accepted"), each.accepted) << each.target;
    EXPECT_EQ(world.condition("EgressPolicy", "p", "PartiallyVisible"), each.partly) << each.target;
  }
}

TEST(EgressVisibility, NamesTheRuleAndTheWay) {
  EXPECT_THAT(visibleWorld("kind: Gateway, name: egress").message("EgressPolicy", "p", "PartiallyVisible"),
              AllOf(HasSubstr("spec.rules[1] (posts) is not visible to connect"), testing::Not(HasSubstr("rules[0]"))));
  EXPECT_THAT(
      visibleWorld("kind: HTTPRoute, name: route, sectionName: tunnels").message("EgressPolicy", "p", "Accepted"),
      HasSubstr("spec.rules[1].http: requests come there by connect alone"));
}

TEST(EgressVisibility, DoesNotMatterToRulesWithoutMethodsAndPaths) {
  const World world = visibleWorld("kind: HTTPRoute, name: route, sectionName: tunnels", kTunnelRules,
                                   "[{name: names, to: {ports: [443]}}]");
  EXPECT_EQ(world.condition("EgressPolicy", "p", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("EgressPolicy", "p", "PartiallyVisible"), "");
}

TEST(EgressVisibility, ClosesTunnelsThatAPolicyIsForWithoutSeeingThem) {
  const auto tunnelAt = [](const World& world) {
    test::RequestMaker request("CONNECT", "a.test", "");
    const routing::RouteMatch match = routing::routesOf(world.bind(81)->service).matchConnect(request.head());
    return match.rule->failure ? match.rule->failure->status : 200;
  };
  EXPECT_EQ(tunnelAt(visibleWorld("kind: HTTPRoute, name: route, sectionName: tunnels")), 500);
  EXPECT_EQ(tunnelAt(visibleWorld("kind: HTTPRoute, name: route, sectionName: rest")), 200);
  EXPECT_EQ(tunnelAt(visibleWorld("kind: HTTPRoute, name: route")), 200) << "one of its rules sees them";
}

constexpr const char* kByCallers =
    "[{name: names, to: {hostnames: [a.test]}}, {name: mine, from: {namespaces: [shop]}}, {name: no, action: Deny, "
    "from: "
    "{assurance: Token}}]";

TEST(EgressVisibility, TellsOfRulesByCallersWhomNobodyLearns) {
  for (const char* target : {"kind: Gateway, name: egress", "kind: Gateway, name: egress, sectionName: web",
                             "kind: HTTPRoute, name: route"}) {
    const World world = visibleWorld(target, kTunnelRules, kByCallers);
    EXPECT_EQ(world.condition("EgressPolicy", "p", "Accepted"), "True/Accepted") << target;
    EXPECT_THAT(world.message("EgressPolicy", "p", "Accepted"),
                AllOf(HasSubstr("spec.rules[1].from: no listener there learns who its callers are, so the rule allows "
                                "nothing"),
                      HasSubstr("spec.rules[2].from: no listener there learns who its callers are, so the rule denies "
                                "every caller"),
                      testing::Not(HasSubstr("rules[0]"))))
        << target;
  }
}

/// Returns a policy by callers for the Gateway, and how its clients are authenticated.
std::string authenticatingByCallers(const std::string& authentication) {
  return test::with(seeing("kind: Gateway, name: egress", kByCallers), "rules:", authentication + "rules:");
}

TEST(EgressVisibility, LearnsCallersByPasswordsAndCertificates) {
  const std::string users = test::secret("users", {{".htpasswd", sluice::test::kAnn}});
  const World byPassword({kClass, gatewayWith(kBothListeners), users,
                          authenticatingByCallers("clientAuthentication: {basic: {secretRef: {name: users}}}, ")});
  EXPECT_THAT(byPassword.message("EgressPolicy", "p", "Accepted"), testing::Not(HasSubstr("callers")));
  const std::string ofClass =
      test::with(kClass, "sluice.dev/egress-gateway",
                 "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: default, name: s}");
  const std::string gateway = test::verifyingGateway(
      "{default: {" + test::validationBy(test::authorityRef("ca")) + "}}", test::httpsListener("web", 443));
  const std::string policy = authenticatingByCallers("");
  for (const std::string settings : {"identity: {sources: [{type: ClientCertificate}]}", "workers: 1"}) {
    const World byCertificate({ofClass, test::configMap("s", "settings.yaml", settings), gateway, policy,
                               test::authoritiesNamed("ca"), test::keyPair("pair", test::server())});
    const bool told =
        byCertificate.message("EgressPolicy", "p", "Accepted").find("learns who its callers are") != std::string::npos;
    EXPECT_EQ(told, settings == "workers: 1") << byCertificate.message("EgressPolicy", "p", "Accepted");
  }
}

}  // namespace
}  // namespace sluice::compile
