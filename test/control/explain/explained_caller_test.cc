// Tests how a caller in question is read, and what explanations say about it.
#include "proxy/control/explain/explained_caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/control/explain/explanation_output.h"
#include "proxy/routing/policy/client_authentication.h"
#include "proxy/routing/policy/client_validation.h"
#include "test/control/explain/egress_world.h"
#include "test/support/passwords.h"

namespace sluice::control {
namespace {

using base::Assurance;
using base::Caller;
using routing::EgressRuling;
using test::policyAllowing;
using test::policyOfGateway;
using test::World;
using test::worldWith;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// --- the question

TEST(CallerInQuestion, IsReadWithItsNamesAndItsAssurance) {
  const std::vector<std::pair<CallerInQuestion, Caller>> table{
      {{"demo/web", "", ""}, {"demo", "web", "", Assurance::kCertificate}},
      {{"demo/web.v2", "spiffe://a/b", "Token"}, {"demo", "web.v2", "spiffe://a/b", Assurance::kToken}},
      {{"", "ann", ""}, {"", "", "ann", Assurance::kCertificate}},
      {{"", "CN=a b,O=c", "Address"}, {"", "", "CN=a b,O=c", Assurance::kAddress}},
      {{"", "", "Certificate"}, {"", "", "", Assurance::kCertificate}},
      {{"", "", "None"}, {}},
  };
  for (const auto& [asked, expected] : table) {
    EXPECT_TRUE(asked.isTold());
    const auto caller = readCaller(asked);
    ASSERT_TRUE(caller.ok()) << caller.error().detail;
    ASSERT_TRUE(caller->has_value());
    EXPECT_EQ(**caller, expected);
  }
  EXPECT_FALSE(CallerInQuestion().isTold());
  EXPECT_FALSE(readCaller({})->has_value()) << "nobody has said who it is";
}

TEST(CallerInQuestion, IsRefusedWithAReason) {
  const auto refusalOf = [](const CallerInQuestion& asked) {
    const auto caller = readCaller(asked);
    return caller.ok() ? "" : caller.error().detail;
  };
  for (const char* account : {"web", "demo/", "/web", "demo/web/x", "Demo/web", "demo/We", "a.b/web"}) {
    EXPECT_EQ(refusalOf({account, "", ""}), "as: \"" + std::string(account) + "\" is not NAMESPACE/ACCOUNT");
  }
  EXPECT_THAT(refusalOf({"", "a\nb", ""}), HasSubstr("principal: it has control characters"));
  EXPECT_THAT(refusalOf({"demo/web", "", "certificate"}),
              HasSubstr("assurance: \"certificate\" is not None, Address, Token or Certificate"));
  for (const CallerInQuestion& named :
       {CallerInQuestion{"demo/web", "", "None"}, CallerInQuestion{"", "ann", "None"}}) {
    EXPECT_THAT(refusalOf(named), HasSubstr("assurance: a caller with None has no identity"));
  }
}

// --- the listener

/// Returns a listener that asks its clients for certificates.
routing::ServedListener listenerWith(bool required, bool insecureFallback, bool namesCallers) {
  routing::ClientValidation clients;
  clients.required = required;
  clients.insecureFallback = insecureFallback;
  clients.namesCallers = namesCallers;
  routing::ServedListener listener;
  listener.clients = std::make_shared<const routing::ClientValidation>(clients);
  return listener;
}

TEST(ExplainedCaller, IsOneOfAListenerThatIdentifiesCallers) {
  routing::ServedListener listener;
  EXPECT_FALSE(identifiesCallers(listener));
  listener.authentication = std::make_shared<const routing::ClientAuthentication>();
  EXPECT_TRUE(identifiesCallers(listener));
  EXPECT_FALSE(identifiesCallers(listenerWith(true, false, false))) << "its certificates name nobody";
  EXPECT_TRUE(identifiesCallers(listenerWith(true, false, true)));
}

TEST(ExplainedCaller, MayNeedACertificate) {
  EXPECT_EQ(clientCertificates(routing::ServedListener()), "");
  EXPECT_EQ(clientCertificates(listenerWith(true, false, false)), "required");
  EXPECT_EQ(clientCertificates(listenerWith(false, false, true)), "optional");
  EXPECT_EQ(clientCertificates(listenerWith(true, true, true)), "any");
  EXPECT_EQ(clientCertificates(listenerWith(false, true, true)), "any");
}

// --- explanations

constexpr char kOneAccount[] = "from: {serviceAccounts: [demo/web], assurance: Token}";

RequestInQuestion askingAs(const CallerInQuestion& caller) {
  RequestInQuestion question = test::asking("http://a.test/");
  question.caller = caller;
  return question;
}

const ExplainedRuling& enforcedOf(const Explanation& explanation) {
  return explanation.backends.at(0).egress.value().enforced;
}

/// Returns the configuration with this policy, whose listener identifies callers by their passwords.
World identifyingWorld(const std::string& policy) {
  const std::string users = "apiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {.htpasswd: '" +
                            std::string(sluice::test::kAnn) + "'}\n";
  return worldWith(
      {policy, users,
       policyOfGateway("users", "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}}")});
}

TEST(ExplainedCaller, DecidesByRulesForCallers) {
  const World world = identifyingWorld(policyAllowing("team", kOneAccount));
  const auto decision = [&](const CallerInQuestion& caller) {
    return enforcedOf(test::explained(world, askingAs(caller))).ruling;
  };
  EXPECT_EQ(decision({"demo/web", "", ""}), EgressRuling::kPassed);
  EXPECT_EQ(decision({"demo/web", "", "Token"}), EgressRuling::kPassed);
  EXPECT_EQ(decision({"demo/web", "", "Address"}), EgressRuling::kDenied);
  EXPECT_EQ(decision({"demo/job", "", ""}), EgressRuling::kDenied);
  EXPECT_EQ(decision({"", "ann", "Token"}), EgressRuling::kDenied);
  EXPECT_EQ(decision({"", "", "None"}), EgressRuling::kDenied);
  EXPECT_EQ(enforcedOf(test::explained(world, askingAs({"demo/web", "", ""}))).rule, "team");
}

TEST(ExplainedCaller, DecidesDenyRulesForCallersToo) {
  const World world = identifyingWorld(
      policyOfGateway("p", "default: Allow, rules: [{name: not, action: Deny, from: {namespaces: [demo]}}]"));
  const auto decision = [&](const CallerInQuestion& caller) {
    return enforcedOf(test::explained(world, askingAs(caller))).ruling;
  };
  EXPECT_EQ(decision({"demo/web", "", ""}), EgressRuling::kDenied);
  EXPECT_EQ(decision({"other/web", "", ""}), EgressRuling::kPassed);
  EXPECT_EQ(decision({"", "", "None"}), EgressRuling::kDenied) << "it may be one of the namespace";
  EXPECT_EQ(decision({"", "ann", "Token"}), EgressRuling::kDenied) << "likewise";
}

TEST(ExplainedCaller, IsNeededWhereRulesDependOnIt) {
  const World world = identifyingWorld(policyAllowing("team", kOneAccount));
  const Explanation got = test::explained(world, "http://a.test/");
  EXPECT_EQ(enforcedOf(got).ruling, EgressRuling::kUndecided);
  EXPECT_TRUE(enforcedOf(got).byCaller);
  EXPECT_FALSE(enforcedOf(got).byClient);
  const content::Output output = explanationOutput(got);
  EXPECT_THAT(output.text,
              HasSubstr("  egress    undecided by default/p: it depends on the caller (--as, --principal)\n"));
  EXPECT_THAT(content::outputJson(output.value), HasSubstr(R"("dependsOn":["caller"])"));
}

TEST(ExplainedCaller, MayDecideTogetherWithAddresses) {
  const auto textOf = [](const std::string& given) {
    const World world = identifyingWorld(policyAllowing("team", given));
    return explanationOutput(test::explained(world, "http://a.test/")).text;
  };
  EXPECT_THAT(textOf("from: {namespaces: [demo], cidrs: [10.0.0.0/8]}"),
              HasSubstr("it may depend on the caller (--as, --principal) and the client's address (--from)\n"));
  EXPECT_THAT(textOf("from: {namespaces: [demo]}, to: {cidrs: [1.2.0.0/16]}"),
              HasSubstr("it may depend on the caller (--as, --principal) and the address of the Backend\n"));
  EXPECT_THAT(
      textOf("from: {namespaces: [demo], cidrs: [10.0.0.0/8]}, to: {cidrs: [1.2.0.0/16]}"),
      HasSubstr("it may depend on the caller (--as, --principal), the client's address (--from) and the address "
                "of the Backend\n"));
}

TEST(ExplainedCaller, HasNoIdentityAtAListenerThatIdentifiesNone) {
  const World world = worldWith({policyAllowing("team", kOneAccount)});
  const Explanation untold = test::explained(world, "http://a.test/");
  EXPECT_EQ(enforcedOf(untold).ruling, EgressRuling::kDenied);
  EXPECT_THAT(untold.notes, Not(Contains(HasSubstr("identifies no caller"))));
  const Explanation told = test::explained(world, askingAs({"demo/web", "", ""}));
  EXPECT_EQ(enforcedOf(told).ruling, EgressRuling::kPassed) << "as it was asked";
  EXPECT_THAT(told.notes, Contains(HasSubstr("the listener identifies no caller")));
  EXPECT_THAT(
      test::explained(identifyingWorld(policyAllowing("team", kOneAccount)), askingAs({"demo/web", "", ""})).notes,
      Not(Contains(HasSubstr("identifies no caller"))));
}

TEST(ExplainedCaller, IsPrintedWithItsAssurance) {
  const World world = worldWith({});
  const auto outputFor = [&](const CallerInQuestion& caller) {
    return explanationOutput(test::explained(world, askingAs(caller)));
  };
  EXPECT_THAT(outputFor({"demo/web", "", ""}).text, HasSubstr("caller      as demo/web, assurance Certificate\n"));
  EXPECT_THAT(outputFor({"demo/web", "spiffe://a/b", "Token"}).text,
              HasSubstr("caller      as demo/web, principal spiffe://a/b, assurance Token\n"));
  EXPECT_THAT(outputFor({"", "ann", "Token"}).text, HasSubstr("caller      as principal ann, assurance Token\n"));
  EXPECT_THAT(outputFor({"", "", "Address"}).text, HasSubstr("caller      without a name, assurance Address\n"));
  EXPECT_THAT(outputFor({"", "", "None"}).text, HasSubstr("caller      without identity\n"));
  EXPECT_THAT(outputFor({}).text, Not(HasSubstr("caller")));
  EXPECT_THAT(content::outputJson(outputFor({"demo/web", "spiffe://a/b", "Token"}).value),
              HasSubstr(R"("caller":{"namespace":"demo","serviceAccount":"web","principal":"spiffe://a/b",)"
                        R"("assurance":"Token"})"));
  EXPECT_THAT(content::outputJson(outputFor({}).value), HasSubstr(R"("caller":null)"));
}

TEST(ExplainedCaller, IsRefusedWithTheQuestion) {
  const World world = worldWith({});
  EXPECT_THAT(test::refusedQuestion(world, askingAs({"web", "", ""})),
              HasSubstr("as: \"web\" is not NAMESPACE/ACCOUNT"));
  EXPECT_THAT(test::refusedQuestion(world, askingAs({"demo/web", "", "None"})), HasSubstr("assurance: "));
  EXPECT_THAT(test::refusedQuestion(world, askingAs({})), IsEmpty());
}

}  // namespace
}  // namespace sluice::control
