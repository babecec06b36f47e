#include "proxy/routing/policy/egress/egress_judge.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "test/routing/policy/egress/address_bytes.h"

namespace sluice::routing {
namespace {

using Hostnames = std::vector<std::string>;
using base::EgressPath;
using base::EgressRule;
using base::EgressTerms;
using base::IpNetwork;
using enum EgressRuling;

constexpr std::uint16_t kPort = 443;

EgressRuling rulingOf(const EgressTerms& terms, const EgressFacts& facts) {
  const auto policy = EgressJudge::compile("team/policy", terms);
  EXPECT_TRUE(policy.ok());
  return (*policy)->judge(facts).ruling;
}

EgressTerms allowing(EgressRule rule) { return {false, false, {std::move(rule)}}; }
/// A policy with one Deny rule that denies nothing else.
EgressTerms denying(EgressRule rule) {
  rule.allows = false;
  return {false, true, {std::move(rule)}};
}

EgressFacts factsOf(std::string_view name, EgressWay way = EgressWay::kReverse) {
  EgressFacts facts;
  facts.way = way;
  facts.name = name;
  facts.port = kPort;
  return facts;
}

std::vector<IpNetwork> networks(std::string_view text) { return {*IpNetwork::parse(text)}; }

TEST(EgressJudge, WithoutRulesIsItsDefault) {
  EXPECT_EQ(rulingOf({}, factsOf("a.test")), kDenied);
  EXPECT_EQ(rulingOf({false, true, {}}, factsOf("a.test")), kPassed);
}

TEST(EgressJudge, DeniesByADenyRuleWhateverElseAllows) {
  const EgressTerms terms{
      false, false, {{.name = "all"}, {.name = "not", .allows = false, .hostnames = Hostnames{"a.test"}}}};
  const auto policy = *EgressJudge::compile("team/policy", terms);
  EXPECT_EQ(policy->judge(factsOf("b.test")).rule, 0U);
  const auto denied = policy->judge(factsOf("a.test"));
  EXPECT_EQ(denied.ruling, kDenied);
  EXPECT_EQ(policy->ruleName(denied.rule), "not");
  EXPECT_EQ(policy->name(), "team/policy");
}

TEST(EgressJudge, MatchesNoHostnameByAnIpLiteral) {
  EXPECT_EQ(rulingOf(allowing({.name = "rule", .hostnames = Hostnames{"*.test"}}), factsOf("")), kDenied);
  EXPECT_EQ(rulingOf(denying({.name = "rule", .hostnames = Hostnames{"*.test"}}), factsOf("")), kPassed);
}

TEST(EgressJudge, WithoutPortsAllowsTheUsualOnesOfWhatClientsName) {
  const std::vector<std::tuple<std::uint16_t, bool, bool, EgressRuling>> table{
      {443, false, false, kPassed}, {443, false, true, kPassed}, {80, false, false, kDenied},
      {80, false, true, kPassed},   {444, false, true, kDenied}, {8080, true, false, kPassed},
      {0, true, false, kPassed},
  };
  for (const auto& [port, isStatic, isPlainTarget, expected] : table) {
    EgressFacts facts = factsOf("a.test", EgressWay::kAbsolute);
    facts.port = port;
    facts.isStatic = isStatic;
    facts.isPlainTarget = isPlainTarget;
    EXPECT_EQ(rulingOf(allowing({}), facts), expected) << port;
    EXPECT_EQ(rulingOf(denying({}), facts), kDenied) << port;
  }
}

TEST(EgressJudge, MatchesPortsWithBothEndsOfARange) {
  const std::vector<std::pair<std::uint16_t, EgressRuling>> table{{7999, kDenied}, {8000, kPassed},  {8099, kPassed},
                                                                  {8100, kDenied}, {65534, kDenied}, {65535, kPassed},
                                                                  {0, kDenied}};
  for (const auto& [port, expected] : table) {
    EgressFacts facts = factsOf("a.test");
    facts.port = port;
    EXPECT_EQ(
        rulingOf(allowing({.name = "rule", .ports = std::vector<base::EgressPorts>{{8000, 8099}, {65535, 65535}}}),
                 facts),
        expected)
        << port;
  }
}

TEST(EgressJudge, MatchesPrefixesByElementsOfThePath) {
  using Type = EgressPath::Type;
  const std::vector<std::tuple<EgressPath, std::string_view, bool>> table{
      {{Type::kPathPrefix, "/a"}, "/a", true},
      {{Type::kPathPrefix, "/a"}, "/a/", true},
      {{Type::kPathPrefix, "/a"}, "/a/b", true},
      {{Type::kPathPrefix, "/a"}, "/ab", false},
      {{Type::kPathPrefix, "/a/"}, "/a", true},
      {{Type::kPathPrefix, "/a/"}, "/ab", false},
      {{Type::kPathPrefix, "/"}, "/anything", true},
      {{Type::kPathPrefix, "/a/b"}, "/a", false},
      {{Type::kExact, "/a"}, "/a", true},
      {{Type::kExact, "/a"}, "/a/", false},
      {{Type::kRegularExpression, "/a."}, "/ab", true},
      {{Type::kRegularExpression, "/a."}, "/abc", false},
  };
  for (const auto& [path, asked, matches] : table) {
    EgressFacts facts = factsOf("a.test");
    facts.sent = facts.leaving = {"GET", asked};
    EXPECT_EQ(rulingOf(allowing({.name = "rule", .paths = std::vector{path}}), facts), matches ? kPassed : kDenied)
        << path.value << asked;
    EXPECT_EQ(rulingOf(denying({.name = "rule", .paths = std::vector{path}}), facts), matches ? kDenied : kPassed)
        << path.value << asked;
  }
}

TEST(EgressJudge, LooksAtTheRequestAsItCameAndAsItLeaves) {
  const EgressRule rule{.name = "rule", .methods = Hostnames{"GET"}};
  for (const bool rewritten : {false, true}) {
    EgressFacts facts = factsOf("a.test");
    facts.sent = {rewritten ? "GET" : "POST", "/"};
    facts.leaving = {rewritten ? "POST" : "GET", "/"};
    EXPECT_EQ(rulingOf(allowing(rule), facts), kDenied);
    EXPECT_EQ(rulingOf(denying(rule), facts), kDenied);
    facts.sent = facts.leaving;
    EXPECT_EQ(rulingOf(allowing(rule), facts), rewritten ? kDenied : kPassed);
  }
}

TEST(EgressJudge, LooksAtPathsWithAndWithoutParametersThatAreIgnored) {
  using Type = EgressPath::Type;
  const EgressRule plain{.name = "rule", .paths = std::vector<EgressPath>{{Type::kPathPrefix, "/admin"}}};
  const EgressRule lenient{.name = "rule",
                           .paths = std::vector<EgressPath>{{Type::kRegularExpression, "/admin(;[^/]*)?"}}};
  EgressFacts facts = factsOf("a.test");
  for (const bool isRewritten : {false, true}) {
    facts.sent = {"GET", isRewritten ? "/admin" : "/admin;v=1"};
    facts.leaving = {"GET", "/admin;v=1"};
    facts.ignoresPathParameters = false;
    EXPECT_EQ(rulingOf(denying(plain), facts), isRewritten ? kDenied : kPassed);
    facts.ignoresPathParameters = true;
    EXPECT_EQ(rulingOf(denying(plain), facts), kDenied);
    EXPECT_EQ(rulingOf(allowing(plain), facts), kDenied);
    EXPECT_EQ(rulingOf(allowing(lenient), facts), kPassed);
  }
  facts.sent = facts.leaving = {"GET", "/admin/users;v=1"};
  EXPECT_EQ(rulingOf(allowing(plain), facts), kPassed) << "they are below the prefix";
  EXPECT_EQ(rulingOf(denying(plain), facts), kDenied);
  facts.sent = facts.leaving = {"GET", "/;v=1/admin"};
  EXPECT_EQ(rulingOf(denying(plain), facts), kDenied);
}

TEST(EgressJudge, DeniesTheIpv4AddressThatAFormOfIpv6Carries) {
  const EgressRule rule{.name = "rule", .addresses = networks("10.0.0.0/8")};
  for (const char* text : {"10.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::"}) {
    const auto address = test::addressBytes(text);
    EgressFacts facts = factsOf("a.test");
    EXPECT_EQ(rulingOf(denying(rule), facts), kUndecided);
    facts.address = address;
    EXPECT_EQ(rulingOf(denying(rule), facts), kDenied) << text;
    EXPECT_EQ(rulingOf(allowing(rule), facts), address.size() == 4 ? kPassed : kDenied) << text;
  }
  const auto other = test::addressBytes("64:ff9b::11.0.0.1");
  EgressFacts facts = factsOf("a.test");
  facts.address = other;
  EXPECT_EQ(rulingOf(denying(rule), facts), kPassed);
}

TEST(EgressJudge, DeniesTheUnspecifiedAddressWithTheLoopbackThatItReaches) {
  for (const auto& [network, text, isDenied, isAllowed] :
       std::vector<std::tuple<const char*, const char*, bool, bool>>{{"127.0.0.0/8", "0.0.0.0", true, false},
                                                                     {"127.0.0.0/8", "::ffff:0.0.0.0", true, false},
                                                                     {"127.0.0.0/8", "::", false, false},
                                                                     {"127.0.0.0/8", "0.0.0.1", false, false},
                                                                     {"::1/128", "::", true, false},
                                                                     {"::1/128", "0.0.0.0", false, false},
                                                                     {"0.0.0.0/8", "0.0.0.0", true, true},
                                                                     {"0.0.0.0/8", "127.0.0.1", false, false},
                                                                     {"10.0.0.0/8", "0.0.0.0", false, false}}) {
    const EgressRule rule{.name = "rule", .addresses = networks(network)};
    const auto address = test::addressBytes(text);
    EgressFacts facts = factsOf("a.test");
    facts.address = address;
    EXPECT_EQ(rulingOf(denying(rule), facts), isDenied ? kDenied : kPassed) << network << " " << text;
    EXPECT_EQ(rulingOf(allowing(rule), facts), isAllowed ? kPassed : kDenied) << network << " " << text;
  }
}

TEST(EgressJudge, SeesAMappedClientAsItsIpv4Address) {
  for (const auto& [text, isIn] : std::vector<std::pair<const char*, bool>>{
           {"10.0.0.1", true}, {"::ffff:10.0.0.1", true}, {"::ffff:11.0.0.1", false}, {"64:ff9b::10.0.0.1", false}}) {
    const auto client = test::addressBytes(text);
    EgressFacts facts = factsOf("a.test");
    facts.client = client;
    EXPECT_EQ(rulingOf(allowing({.name = "rule", .clients = networks("10.0.0.0/8")}), facts), isIn ? kPassed : kDenied)
        << text;
    EXPECT_EQ(rulingOf(denying({.name = "rule", .clients = networks("10.0.0.0/8")}), facts), isIn ? kDenied : kPassed)
        << text;
  }
}

TEST(EgressJudge, JudgesHealthChecksByNameAddressAndPort) {
  const EgressFacts facts = factsOf("a.test", EgressWay::kHealthCheck);
  const EgressRule asked{.name = "rule",
                         .clients = networks("10.0.0.0/8"),
                         .hostnames = Hostnames{"a.test"},
                         .methods = Hostnames{"GET"},
                         .paths = std::vector<EgressPath>{{EgressPath::Type::kExact, "/a"}}};
  EXPECT_EQ(rulingOf(allowing(asked), facts), kPassed);
  EXPECT_EQ(rulingOf(allowing(asked), factsOf("b.test", EgressWay::kHealthCheck)), kDenied);
  EXPECT_EQ(rulingOf(denying(asked), facts), kPassed);
  EXPECT_EQ(rulingOf(denying({.name = "rule", .hostnames = Hostnames{"a.test"}}), facts), kDenied);
}

TEST(EgressJudge, HoldsTunnelsToTheNameOfTls) {
  struct Row {
    std::string_view serverName;
    bool tls;
    EgressRuling matched;  // by an Allow rule with sni Match
    EgressRuling any;      // by an Allow rule with sni Any
    EgressRuling fronted;  // by a Deny rule with the name of TLS
  };
  for (const Row& row : {Row{"a.test", true, kPassed, kPassed, kPassed}, Row{"b.test", true, kDenied, kPassed, kDenied},
                         Row{"", true, kDenied, kPassed, kPassed}, Row{"", false, kPassed, kPassed, kPassed}}) {
    EgressFacts facts = factsOf("a.test", EgressWay::kConnect);
    facts.tls = std::nullopt;
    EXPECT_EQ(rulingOf(allowing({.name = "rule", .hostnames = Hostnames{"a.test"}}), facts), kUndecided);
    EXPECT_EQ(rulingOf(allowing({.name = "rule", .hostnames = Hostnames{"b.test"}}), facts), kDenied);
    facts.tls = row.tls;
    facts.serverName = row.serverName;
    EXPECT_EQ(rulingOf(allowing({.name = "rule", .hostnames = Hostnames{"a.test"}}), facts), row.matched)
        << row.serverName << row.tls;
    EXPECT_EQ(rulingOf(allowing({.name = "rule", .hostnames = Hostnames{"a.test"}, .matchesServerName = false}), facts),
              row.any);
    EXPECT_EQ(rulingOf(denying({.name = "rule", .hostnames = Hostnames{"b.test"}}), facts), row.fronted)
        << row.serverName << row.tls;
    EXPECT_EQ(rulingOf(denying({.name = "rule", .hostnames = Hostnames{"a.test"}}), facts), kDenied);
  }
}

TEST(EgressJudge, NeverDecidesByTheRequestsInATunnel) {
  EgressFacts facts = factsOf("a.test", EgressWay::kConnect);
  facts.sent = facts.leaving = {"GET", "/"};
  const EgressRule rule{.name = "rule", .methods = Hostnames{"GET"}};
  EXPECT_EQ(rulingOf(allowing(rule), facts), kUndecided);
  EXPECT_EQ(rulingOf(denying(rule), facts), kUndecided);
}

TEST(EgressJudge, ComparesPathsInTheNormalFormOfRequests) {
  EgressFacts facts = factsOf("a.test");
  facts.sent = facts.leaving = {"GET", "/admin/x"};
  for (const char* spelling : {"/admin", "/%61dmin/", "/admi%6E"}) {
    const EgressRule rule{.name = "rule", .paths = std::vector<EgressPath>{{EgressPath::Type::kPathPrefix, spelling}}};
    EXPECT_EQ(rulingOf(denying(rule), facts), kDenied) << spelling;
  }
}

TEST(EgressJudge, NamesTheRuleWhoseExpressionIsRefused) {
  const EgressRule rule{.name = "broken",
                        .paths = std::vector<EgressPath>{{EgressPath::Type::kRegularExpression, "("}}};
  const auto refused = EgressJudge::compile("team/policy", {false, false, {{.name = "sound"}, rule}});
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.error().detail.starts_with("rule broken: ")) << refused.error().detail;
}

TEST(EgressJudge, HasAsManyRulesAsItsTermsMay) {
  EgressTerms terms;
  for (std::size_t i = 0; i < base::kMostEgressRules; ++i) {
    const std::string name = "h" + std::to_string(i);
    terms.rules.push_back({.name = name, .hostnames = Hostnames{name + ".test"}});
  }
  const auto policy = *EgressJudge::compile("team/policy", terms);
  for (std::size_t i = 0; i < base::kMostEgressRules; ++i) {
    const auto judged = policy->judge(factsOf(terms.rules[i].hostnames->front()));
    EXPECT_EQ(judged.ruling, kPassed);
    EXPECT_EQ(judged.rule, i);
  }
  const auto denied = policy->judge(factsOf("h256.test"));
  EXPECT_EQ(denied.ruling, kDenied);
  EXPECT_EQ(policy->ruleName(denied.rule), "default");
}

}  // namespace
}  // namespace sluice::routing
