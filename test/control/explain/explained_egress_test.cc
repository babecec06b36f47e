// Tests what an explanation says about the EgressPolicies that cover a rule.
#include "proxy/control/explain/explained_egress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/content/json.h"
#include "proxy/control/explain/explained_backend.h"
#include "proxy/control/explain/explanation_output.h"
#include "test/control/explain/egress_world.h"
#include "test/support/passwords.h"

namespace sluice::control {
namespace {

using routing::EgressRuling;
using test::asking;
using test::explained;
using test::policyAllowing;
using test::policyOfGateway;
using test::policyOfRoute;
using test::World;
using test::worldOf;
using test::worldWith;
using testing::HasSubstr;
using testing::Not;

constexpr char kNothing[] = "rules: []";
constexpr char kEverything[] = "default: Allow";
constexpr char kOneNetwork[] = "to: {cidrs: [1.2.0.0/16]}";
constexpr char kOneTeam[] = "from: {cidrs: [10.1.0.0/16]}";

RequestInQuestion askingFrom(const std::string& client, const std::string& url = "http://a.test/") {
  RequestInQuestion question = asking(url);
  question.clientAddress = client;
  return question;
}

/// Returns "allowed default/p rule".
std::string decisionOf(const ExplainedRuling& ruling) {
  const std::string name = ruling.ruling == EgressRuling::kPassed   ? "allowed "
                           : ruling.ruling == EgressRuling::kDenied ? "denied "
                                                                    : "undecided ";
  return name + ruling.policy + (ruling.rule.empty() ? "" : " ") + ruling.rule;
}
std::string decisionOf(const Explanation& explanation, std::size_t backend = 0) {
  return decisionOf(explanation.backends.at(backend).egress.value().enforced);
}

TEST(ExplainedEgress, NamesThePolicyThatAuthenticatesClients) {
  const std::string users = "apiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {.htpasswd: '" +
                            std::string(sluice::test::kAnn) + "'}\n";
  const std::string asks = "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}";
  const auto textOf = [&](const std::string& policy) {
    const content::Output output = explanationOutput(explained(worldWith({policy, users}), asking("http://a.test/")));
    return output.text + content::outputJson(output.value);
  };
  const std::string text = textOf(policyOfGateway("p", asks + "}"));
  EXPECT_THAT(text, HasSubstr("must prove who it is by a name and a password, by EgressPolicy default/p\n"));
  EXPECT_THAT(text, HasSubstr("\"authentication\":\"default/p\""));
  EXPECT_THAT(textOf(policyOfGateway("p", asks + ", required: false}")), HasSubstr("may prove who it is"));
  EXPECT_THAT(textOf(policyOfGateway("p", kEverything)), Not(HasSubstr("authentication")));
}

TEST(ExplainedEgress, IsAbsentWithoutPolicies) {
  const World world = worldWith({});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_FALSE(got.backends.at(0).egress);
  EXPECT_THAT(explanationOutput(got).text, Not(HasSubstr("egress  ")));
}

TEST(ExplainedEgress, NamesThePolicyAndTheRuleThatAllow) {
  const World world = worldWith({policyOfGateway(
      "p", "rules: [{name: other, to: {hostnames: [x.test]}}, {name: origin, to: {hostnames: ['*.test']}}]")});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(decisionOf(got), "allowed default/p origin");
  EXPECT_FALSE(got.backends[0].answer);
  EXPECT_THAT(explanationOutput(got).text, HasSubstr("  egress    allowed by default/p, rule origin\n"));
}

TEST(ExplainedEgress, AnswersADenied) {
  const World world = worldWith({policyAllowing("other", "to: {hostnames: [x.test]}")});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(decisionOf(got), "denied default/p default");
  ASSERT_TRUE(got.backends[0].answer);
  EXPECT_EQ(got.backends[0].answer->status, 403);
  EXPECT_EQ(got.backends[0].answer->code, "http_request_denied");
  EXPECT_EQ(got.backends[0].answer->reason, "an egress policy denies this destination");
}

TEST(ExplainedEgress, JoinsThePoliciesOfTheListenerAndOfTheRoute) {
  const std::string ofGateway = policyOfGateway("gateway", kEverything);
  EXPECT_EQ(decisionOf(explained(worldWith({ofGateway}), "http://a.test/")), "allowed default/gateway default");
  EXPECT_EQ(decisionOf(explained(worldWith({ofGateway, policyOfRoute("route", kNothing)}), "http://a.test/")),
            "denied default/route default");
}

TEST(ExplainedEgress, DependsOnTheClientUntilThatIsGiven) {
  const World world = worldWith({policyAllowing("team", kOneTeam)});
  const Explanation unknown = explained(world, "http://a.test/");
  EXPECT_EQ(decisionOf(unknown), "undecided default/p");
  EXPECT_TRUE(unknown.backends[0].egress->enforced.byClient);
  EXPECT_FALSE(unknown.backends[0].egress->enforced.byAddress);
  EXPECT_FALSE(unknown.backends[0].answer);
  EXPECT_THAT(explanationOutput(unknown).text,
              HasSubstr("  egress    undecided by default/p: it depends on the client's address (--from)\n"));
  EXPECT_EQ(decisionOf(explained(world, askingFrom("10.1.2.3"))), "allowed default/p team");
  EXPECT_EQ(decisionOf(explained(world, askingFrom("10.2.2.3"))), "denied default/p default");
}

TEST(ExplainedEgress, DependsOnAddressesUntilTheseAreResolved) {
  const World world = worldWith({policyAllowing("region", kOneNetwork)});
  Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(decisionOf(got), "undecided default/p");
  EXPECT_TRUE(got.backends[0].egress->enforced.byAddress);
  const Explanation asked = got;
  addResolved(got.backends[0], net::Addresses{*net::Address::parse("9.9.9.9", 0), *net::Address::parse("1.2.3.4", 0)},
              world.snapshot().addressGuard);
  settleEgress(got);
  EXPECT_EQ(decisionOf(got), "allowed default/p region") << "one that may be dialled is enough";
  EXPECT_FALSE(got.backends[0].answer);
  EXPECT_THAT(explanationOutput(got).text,
              HasSubstr("  address   9.9.9.9 port 8080, public, permitted, denied by default/p, rule default\n"
                        "  address   1.2.3.4 port 8080, public, permitted\n"));
  got = asked;
  addResolved(got.backends[0], net::Addresses{*net::Address::parse("9.9.9.9", 0)}, world.snapshot().addressGuard);
  settleEgress(got);
  EXPECT_EQ(decisionOf(got), "denied default/p default");
  ASSERT_TRUE(got.backends[0].answer);
  EXPECT_EQ(got.backends[0].answer->status, 403);
}

TEST(ExplainedEgress, JudgesLiteralAddressesAndEndpointsAtOnce) {
  const std::string route = test::routeWithRules("rules: [{backendRefs: [{name: shop, port: 80}]}]");
  const World world =
      worldOf({test::kClass, test::kGateway,
               "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {ports: [{port: 80}]}\n",
               "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
               "metadata: {name: shop-1, labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\n"
               "ports: [{port: 9000}]\nendpoints: [{addresses: [10.1.2.3]}, {addresses: [10.1.2.4]}]\n",
               route},
              {policyAllowing("one", "to: {cidrs: [10.1.2.4/32]}")});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(decisionOf(got), "allowed default/p one");
  ASSERT_EQ(got.backends[0].addresses.size(), 2U);
  EXPECT_EQ(decisionOf(got.backends[0].addresses[0].egress.value().enforced), "denied default/p default");
  EXPECT_EQ(decisionOf(got.backends[0].addresses[1].egress.value().enforced), "allowed default/p one");
}

TEST(ExplainedEgress, DependsOnTheClientWhereOnlyTheAddressIsKnown) {
  const std::string route = test::with(test::kRoute, "group: gateway.networking.k8s.io", "group: sluice.dev");
  const World world = worldOf({test::kClass, test::kGateway,
                               "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: origin}\n"
                               "spec: {destination: {type: Ip, ip: {address: 1.2.3.4}, ports: [{number: 8080}]}}\n",
                               route},
                              {policyAllowing("both", "from: {cidrs: [10.1.0.0/16]}, to: {cidrs: [1.2.3.0/24]}")});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(decisionOf(got), "undecided default/p");
  EXPECT_TRUE(got.backends[0].egress->enforced.byClient);
  EXPECT_FALSE(got.backends[0].egress->enforced.byAddress);
  EXPECT_EQ(decisionOf(explained(world, askingFrom("10.1.0.1"))), "allowed default/p both");
}

TEST(ExplainedEgress, JudgesTheRequestAsItComesAndAsItLeaves) {
  const std::string route = test::routeWithRules(
      "rules: [{matches: [{path: {value: /a}}], filters: [{type: URLRewrite, "
      "urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /b}}}], "
      "backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
      "origin, port: 8080}]}]");
  const World world =
      worldOf({test::kClass, test::kGateway, test::kBackend, route},
              {policyOfGateway(
                  "p", "default: Allow, rules: [{name: deny, action: Deny, http: {paths: [{value: /b/secret}]}}]")});
  EXPECT_EQ(decisionOf(explained(world, "http://a.test/a/secret?x=1")), "denied default/p deny") << "as it leaves";
  EXPECT_EQ(decisionOf(explained(world, "http://a.test/a/open")), "allowed default/p default");
}

TEST(ExplainedEgress, SaysWhatAuditedPoliciesWouldDeny) {
  const World world =
      worldWith({policyOfGateway("audit", "mode: Audit"), policyOfGateway("fine", "mode: Audit, default: Allow"),
                 policyOfGateway("later", "mode: Audit, rules: [{name: region, to: {cidrs: [1.2.0.0/16]}}]")});
  Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(decisionOf(got), "allowed ") << "none is enforced";
  EXPECT_FALSE(got.backends[0].answer);
  const std::string text = explanationOutput(got).text;
  EXPECT_THAT(text, HasSubstr("  egress    allowed: no policy is enforced\n"
                              "  audited   default/audit, rule default, would deny it\n"
                              "  audited   default/later might deny it: it depends on its address\n"));
  addResolved(got.backends[0], net::Addresses{*net::Address::parse("9.9.9.9", 0)}, world.snapshot().addressGuard);
  settleEgress(got);
  EXPECT_THAT(explanationOutput(got).text, HasSubstr("  address   9.9.9.9 port 8080, public, permitted\n"
                                                     "  audited   default/later, rule default, would deny it\n"));
}

/// A rule that fails over from one Backend to another.
class ExplainedEgressOfFailover : public testing::Test {
 protected:
  static std::string backend(const std::string& name, bool isFallback) {
    return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {name: " + name +
           "}\nspec: {fallback: " + (isFallback ? "true" : "false") + ", endpoints: [{fqdn: {hostname: " + name +
           ".test, port: 80}}]}\n";
  }
  const std::string first_ = backend("first", false);
  const std::string second_ = backend("second", true);
  const std::string route_ = test::routeWithRules(
      "rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: first}, "
      "{group: gateway.envoyproxy.io, kind: Backend, name: second}]}]");

  World worldWithPolicy(const std::string& spec) const {
    return worldOf({test::kClass, test::kGateway, first_, second_, route_}, {policyOfRoute("p", spec)});
  }
};

TEST_F(ExplainedEgressOfFailover, PassesADeniedBackendOver) {
  const World world = worldWithPolicy("rules: [{name: second, to: {hostnames: [second.test]}}]");
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_EQ(got.backends.size(), 2U);
  ASSERT_TRUE(got.backends[0].priority) << "the rule fails over";
  EXPECT_TRUE(got.backends[0].egress->passedOver);
  EXPECT_FALSE(got.backends[0].answer);
  EXPECT_FALSE(got.backends[1].egress->passedOver);
  EXPECT_THAT(explanationOutput(got).text, HasSubstr("denied by default/p, rule default; it is passed over"));
}

TEST_F(ExplainedEgressOfFailover, AnswersIfNoneIsLeft) {
  const World world = worldWithPolicy(kNothing);
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_EQ(got.backends.size(), 2U);
  for (const ExplainedBackend& each : got.backends) {
    EXPECT_FALSE(each.egress->passedOver);
    ASSERT_TRUE(each.answer);
    EXPECT_EQ(each.answer->status, 403);
  }
}

TEST(ExplainedEgress, IsAValueForPrograms) {
  const World world = worldWith({policyAllowing("team", kOneTeam), policyOfGateway("q", "mode: Audit")});
  const std::string text = content::outputJson(explanationOutput(explained(world, "http://a.test/")).value);
  ASSERT_TRUE(content::parseJson(text).ok());
  EXPECT_THAT(text, HasSubstr(R"("egress":{"decision":"undecided","policy":"default/p","rule":"",)"
                              R"("dependsOn":["clientAddress"],"passedOver":false,"audited":[{"decision":"denied",)"
                              R"("policy":"default/q","rule":"default","dependsOn":[]}]})"));
}

}  // namespace
}  // namespace sluice::control
