// Tests how an EgressPolicy judges by callers: each action with each list and each kind of caller.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/routing/policy/egress/egress_dial.h"
#include "proxy/routing/policy/egress/egress_judge.h"

namespace sluice::routing {
namespace {

using base::Assurance;
using base::Caller;
using base::EgressCallers;
using base::EgressRule;
using CallerList = std::vector<std::string>;
using enum EgressRuling;

/// A policy with one rule for these callers, which alone decides.
base::EgressTerms termsFor(EgressCallers callers, bool allows) {
  return {false, !allows, {{.name = "rule", .allows = allows, .callers = std::move(callers)}}};
}

EgressRuling rulingFor(const EgressCallers& callers, bool allows, const EgressFacts& facts) {
  const auto policy = EgressJudge::compile("team/policy", termsFor(callers, allows));
  EXPECT_TRUE(policy.ok());
  return (*policy)->judge(facts).ruling;
}

EgressFacts factsOfCaller(const Caller* caller, EgressWay way = EgressWay::kReverse) {
  EgressFacts facts;
  facts.way = way;
  facts.caller = caller;
  facts.name = "a.test";
  facts.port = 443;
  return facts;
}

struct CallerKind {
  std::string_view name;
  std::optional<Caller> caller;
};

const std::vector<CallerKind>& callerKinds() {
  static const std::vector<CallerKind> kinds{
      {"nobody", std::nullopt},
      {"names without a proof", Caller{"a", "web", "ann", Assurance::kNone}},
      {"the one", Caller{"a", "web", "ann", Assurance::kToken}},
      {"another one", Caller{"b", "job", "ben", Assurance::kCertificate}},
      {"a user", Caller{"", "", "ann", Assurance::kToken}},
      {"another user", Caller{"", "", "ben", Assurance::kToken}},
      {"a Pod", Caller{"a", "", "a/pod", Assurance::kAddress}},
      {"a proof without names", Caller{"", "", "", Assurance::kCertificate}},
  };
  return kinds;
}

/// Callers of a rule, and whether an Allow and a Deny rule with them match each kind of caller ('x': matches).
struct CallerRow {
  std::string_view name;
  EgressCallers callers;
  std::string_view allowed;
  std::string_view denied;
};

TEST(EgressCallers, DecideByEachActionListAndKindOfCaller) {
  const EgressCallers namespaces{.namespaces = CallerList{"a", "c"}};
  const EgressCallers accounts{.serviceAccounts = CallerList{"a/web", "c/web"}};
  const EgressCallers principals{.principals = CallerList{"ann", "cid"}};
  const EgressCallers token{.assurance = Assurance::kToken};
  const EgressCallers certificate{.assurance = Assurance::kCertificate};
  const EgressCallers two{.namespaces = CallerList{"a"}, .principals = CallerList{"ann"}};
  const EgressCallers proven{.namespaces = CallerList{"b"}, .assurance = Assurance::kCertificate};
  // In the order of callerKinds().
  const CallerRow rows[] = {
      {"none", {}, "xxxxxxxx", "xxxxxxxx"},
      {"namespaces", namespaces, "--x---x-", "xxx-xxxx"},
      {"serviceAccounts", accounts, "--x-----", "xxx-xxxx"},
      {"principals", principals, "--x-x---", "xxx-x--x"},
      {"assurance Token", token, "--xxxx-x", "xxxxxx-x"},
      {"assurance Certificate", certificate, "---x---x", "xx-x---x"},
      {"namespaces and principals", two, "--x-----", "xxx-x--x"},
      {"namespaces and assurance", proven, "---x----", "xx-x---x"},
  };
  for (const CallerRow& row : rows) {
    for (std::size_t i = 0; i < callerKinds().size(); ++i) {
      const CallerKind& kind = callerKinds()[i];
      const EgressFacts facts = factsOfCaller(kind.caller ? &*kind.caller : nullptr);
      EXPECT_EQ(rulingFor(row.callers, true, facts), row.allowed[i] == 'x' ? kPassed : kDenied)
          << "Allow by " << row.name << " for " << kind.name;
      EXPECT_EQ(rulingFor(row.callers, false, facts), row.denied[i] == 'x' ? kDenied : kPassed)
          << "Deny by " << row.name << " for " << kind.name;
    }
  }
}

TEST(EgressCallers, DecideFromTheStartOnEachWayThatHasAClient) {
  const EgressCallers team{.namespaces = CallerList{"a"}};
  const Caller ours{"a", "web", "", Assurance::kAddress};
  const Caller other{"b", "web", "", Assurance::kAddress};
  for (std::size_t i = 0; i < kEgressWays.size(); ++i) {
    const auto way = static_cast<EgressWay>(i);
    if (way == EgressWay::kHealthCheck) continue;
    EXPECT_EQ(rulingFor(team, true, factsOfCaller(&ours, way)), kPassed) << kEgressWays[i].name;
    EXPECT_EQ(rulingFor(team, true, factsOfCaller(&other, way)), kDenied) << kEgressWays[i].name;
    EXPECT_EQ(rulingFor(team, true, factsOfCaller(nullptr, way)), kDenied) << kEgressWays[i].name;
    EXPECT_EQ(rulingFor(team, false, factsOfCaller(&other, way)), kPassed) << kEgressWays[i].name;
    EXPECT_EQ(rulingFor(team, false, factsOfCaller(nullptr, way)), kDenied) << kEgressWays[i].name;
  }
}

TEST(EgressCallers, DoNotHoldHealthChecksWhichNobodyAsksFor) {
  const EgressFacts facts = factsOfCaller(nullptr, EgressWay::kHealthCheck);
  for (const EgressCallers& callers :
       {EgressCallers{.namespaces = CallerList{"a"}}, EgressCallers{.assurance = Assurance::kCertificate}}) {
    EXPECT_EQ(rulingFor(callers, true, facts), kPassed);
    EXPECT_EQ(rulingFor(callers, false, facts), kPassed);
  }
}

TEST(EgressCallers, AreUndecidedAsLongAsNobodyIsTold) {
  EgressFacts facts = factsOfCaller(nullptr);
  facts.callerUnknown = true;
  const EgressCallers team{.namespaces = CallerList{"a"}};
  EXPECT_EQ(rulingFor(team, true, facts), kUndecided);
  EXPECT_EQ(rulingFor(team, false, facts), kUndecided);
  EXPECT_EQ(rulingFor({}, true, facts), kPassed) << "no rule gives callers";
  facts.way = EgressWay::kHealthCheck;
  EXPECT_EQ(rulingFor(team, true, facts), kPassed);
  EXPECT_EQ(rulingFor(team, false, facts), kPassed);
}

TEST(EgressCallers, HoldBesidesWhatElseARuleGives) {
  EgressRule rule{
      .name = "rule", .callers = EgressCallers{.namespaces = CallerList{"a"}}, .hostnames = CallerList{"b.test"}};
  const Caller ours{"a", "web", "", Assurance::kToken};
  EgressFacts facts = factsOfCaller(&ours);
  const auto policy = *EgressJudge::compile("team/policy", {false, false, {rule}});
  EXPECT_EQ(policy->judge(facts).ruling, kDenied);
  facts.name = "b.test";
  EXPECT_EQ(policy->judge(facts).ruling, kPassed);
  facts.caller = nullptr;
  EXPECT_EQ(policy->judge(facts).ruling, kDenied);
}

TEST(EgressCallers, TellWhetherARuleGivesThem) {
  const auto looks = [](const EgressCallers& callers) {
    return (*EgressJudge::compile("team/policy", termsFor(callers, true)))->looksAtCallers();
  };
  EXPECT_FALSE(looks({}));
  EXPECT_TRUE(looks({.namespaces = CallerList{"a"}}));
  EXPECT_TRUE(looks({.serviceAccounts = CallerList{"a/web"}}));
  EXPECT_TRUE(looks({.principals = CallerList{"ann"}}));
  EXPECT_TRUE(looks({.assurance = Assurance::kToken}));
}

TEST(EgressCallers, CountForEachAddressThatIsDialled) {
  base::EgressTerms terms = termsFor({.namespaces = CallerList{"a"}}, true);
  terms.rules.front().addresses = {*base::IpNetwork::parse("192.0.2.0/24")};
  EgressPolicies policies;
  policies.add(*EgressJudge::compile("team/policy", terms));
  const std::vector<std::uint8_t> address{192, 0, 2, 1};
  const Caller ours{"a", "web", "", Assurance::kToken};
  const Caller other{"b", "web", "", Assurance::kToken};
  EgressDial dial(&policies, nullptr, factsOfCaller(&ours));
  EXPECT_EQ(dial.judge(), kUndecided);
  EXPECT_TRUE(dial.permits(address));
  EXPECT_EQ(dial.verdict().ruleName(), "rule");
  EXPECT_EQ(EgressDial(&policies, nullptr, factsOfCaller(&other)).judge(), kDenied) << "before any look-up";
}

}  // namespace
}  // namespace sluice::routing
