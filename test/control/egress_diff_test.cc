#include "proxy/control/report/egress_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/control/explain/egress_world.h"

namespace sluice::control {
namespace {

using test::policyAllowing;
using test::policyOfGateway;
using test::policyOfRoute;
using test::World;
using test::worldOf;
using test::worldWith;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> linesOf(const std::vector<ConfigurationChange>& changes) {
  std::vector<std::string> lines;
  for (const ConfigurationChange& each : changes) {
    const char* sign = each.kind == ConfigurationChange::Kind::kAdded     ? "+ "
                       : each.kind == ConfigurationChange::Kind::kRemoved ? "- "
                                                                          : "~ ";
    lines.push_back(sign + each.what + " " + each.name + (each.detail.empty() ? "" : ": " + each.detail));
  }
  return lines;
}

// --- policies

constexpr char kTwoRules[] = "rules: [{name: a, to: {hostnames: [a.test]}}, {name: b, to: {hostnames: [b.test]}}]";

/// Returns the changes from one list of policies to another.
std::vector<std::string> policyChanges(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::vector<ConfigurationChange> changes;
  addPolicyChanges(worldWith(before).model(), worldWith(after).model(), changes);
  return linesOf(changes);
}

TEST(EgressDiff, ShowsTheRulesOfPoliciesThatComeAndGo) {
  const std::vector<std::string> policy = {policyOfGateway("p", kTwoRules)};
  EXPECT_THAT(policyChanges({}, policy),
              ElementsAre("+ policy EgressPolicy default/p", "+ rule EgressPolicy default/p, rule a",
                          "+ rule EgressPolicy default/p, rule b"));
  EXPECT_THAT(policyChanges(policy, {}),
              ElementsAre("- policy EgressPolicy default/p", "- rule EgressPolicy default/p, rule a",
                          "- rule EgressPolicy default/p, rule b"));
  EXPECT_THAT(policyChanges(policy, policy), IsEmpty());
}

TEST(EgressDiff, NamesTheFieldsThatChange) {
  const std::string changed = policyOfRoute("p",
                                            "mode: Audit, default: Allow, rules: [{name: b, action: Deny, to: "
                                            "{hostnames: [c.test], ports: [443]}}, {name: c}]");
  EXPECT_THAT(policyChanges({policyOfGateway("p", kTwoRules)}, {changed}),
              ElementsAre("~ policy EgressPolicy default/p: mode Enforce -> Audit, default Deny -> Allow, targetRefs",
                          "- rule EgressPolicy default/p, rule a",
                          "~ rule EgressPolicy default/p, rule b: action, to.hostnames, to.ports",
                          "+ rule EgressPolicy default/p, rule c"));
}

TEST(EgressDiff, SeesEachFieldOfARule) {
  const std::pair<const char*, const char*> fields[] = {
      {"from: {cidrs: [10.0.0.0/8]}", "from.cidrs"},
      {"from: {namespaces: [demo]}", "from.namespaces"},
      {"from: {serviceAccounts: [demo/web]}", "from.serviceAccounts"},
      {"from: {principals: [ann]}", "from.principals"},
      {"from: {assurance: Token}", "from.assurance"},
      {"to: {cidrs: [10.0.0.0/8]}", "to.cidrs"},
      {"to: {hostnames: [a.test]}", "to.hostnames"},
      {"to: {ports: [443]}", "to.ports"},
      {"http: {methods: [GET]}", "http.methods"},
      {"http: {paths: [{value: /v1}]}", "http.paths"},
      {"tls: {mode: Required}", "tls.mode"},
      {"tls: {sni: Any}", "tls.sni"},
      {"action: Deny", "action"},
  };
  for (const auto& [given, field] : fields) {
    EXPECT_THAT(policyChanges({policyOfGateway("p", "rules: [{name: r}]")}, {policyAllowing("r", given)}),
                ElementsAre("~ rule EgressPolicy default/p, rule r: " + std::string(field)));
  }
}

// --- verdicts

std::vector<std::string> verdictChanges(const World& before, const World& after) {
  std::vector<ConfigurationChange> changes;
  addVerdictChanges(before.snapshot(), after.snapshot(), changes);
  return linesOf(changes);
}

/// Returns the verdict changes of the usual configuration, if it gets this policy.
std::vector<std::string> withPolicy(const std::string& policy) {
  return verdictChanges(worldWith({}), worldWith({policy}));
}

constexpr char kUsualPlace[] =
    "~ verdict HTTPRoute default/route, rule 0, at default/egress web, to default/origin:8080: ";

TEST(EgressDiff, ShowsTheBackendsWithAnotherVerdict) {
  EXPECT_THAT(withPolicy(policyAllowing("other", "to: {hostnames: [x.test]}")),
              ElementsAre(std::string(kUsualPlace) + "allowed -> denied by default/p, rule default"));
  EXPECT_THAT(withPolicy(policyAllowing("it", "to: {hostnames: [origin.test]}")), IsEmpty()) << "allowed as before";
}

TEST(EgressDiff, LeavesUndecidedWhatNoObjectTells) {
  for (const char* given : {"from: {cidrs: [10.0.0.0/8]}", "from: {namespaces: [demo]}", "to: {cidrs: [1.2.0.0/16]}",
                            "http: {methods: [GET]}", "http: {paths: [{value: /v1}]}"}) {
    EXPECT_THAT(withPolicy(policyAllowing("r", given)), ElementsAre(std::string(kUsualPlace) + "allowed -> undecided"))
        << given;
  }
  EXPECT_THAT(withPolicy(policyOfGateway(
                  "p", "default: Allow, rules: [{name: r, action: Deny, http: {paths: [{value: /v1}]}}]")),
              ElementsAre(std::string(kUsualPlace) + "allowed -> undecided"));
}

TEST(EgressDiff, SeesTheEndOfAPolicyAndNoAudit) {
  EXPECT_THAT(
      verdictChanges(worldWith({policyOfRoute("p", "rules: []")}), worldWith({policyOfRoute("p", "mode: Audit")})),
      ElementsAre(std::string(kUsualPlace) + "denied by default/p, rule default -> allowed"));
}

TEST(EgressDiff, JudgesALiteralAddress) {
  const std::string route = test::with(test::kRoute, "group: gateway.networking.k8s.io", "group: sluice.dev");
  const std::vector<std::string_view> documents = {
      test::kClass, test::kGateway,
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: origin}\n"
      "spec: {destination: {type: Ip, ip: {address: 1.2.3.4}, ports: [{number: 8080}]}}\n",
      route};
  EXPECT_THAT(verdictChanges(worldOf(documents, {}),
                             worldOf(documents, {policyAllowing("region", "to: {cidrs: [9.9.0.0/16]}")})),
              ElementsAre(std::string(kUsualPlace) + "allowed -> denied by default/p, rule default"));
}

TEST(EgressDiff, BoundsTheNumberOfVerdicts) {
  constexpr std::size_t kRoutes = 4;
  constexpr std::size_t kRules = 14;
  std::string rules = "rules:\n";
  for (std::size_t i = 0; i < kRules; ++i) {
    rules += "  - matches: [{path: {value: /" + std::to_string(i) +
             "}}]\n    backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]\n";
  }
  std::vector<std::string> routes;
  for (std::size_t i = 0; i < kRoutes; ++i) {
    routes.push_back(test::with(test::routeWithRules(rules), "name: route,", "name: route-" + std::to_string(i) + ","));
  }
  std::vector<std::string_view> documents{test::kClass, test::kGateway, test::kBackend};
  documents.insert(documents.end(), routes.begin(), routes.end());
  const std::vector<std::string> lines =
      verdictChanges(worldOf(documents, {}), worldOf(documents, {policyOfGateway("p", "rules: []")}));
  ASSERT_EQ(lines.size(), kMostVerdictChanges + 1);
  EXPECT_EQ(lines.back(), "~ verdict and 6 more");
}

}  // namespace
}  // namespace sluice::control
