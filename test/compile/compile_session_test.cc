// Tests sessionPersistence of rules, and the Secret with its key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::RequestMaker;
using test::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kUnclosedRef = "{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080";

std::string routeWithSessionRules(const std::string& rules, const std::string& kind = "HTTPRoute",
                                  const std::string& name = "route") {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name +
         "}\nspec: {parentRefs: [{name: egress}], rules: [" + rules + "]}\n";
}
std::string ruleWithSession(const std::string& session, const std::string& more = {}) {
  return "{sessionPersistence: " + session + ", backendRefs: [" + std::string(kUnclosedRef) + "}]" + more + "}";
}
std::shared_ptr<const routing::SessionPolicy> policy(const std::string& rules, const std::string& path = "/") {
  const World world({kClass, kGateway, kBackend, routeWithSessionRules(rules)});
  const routing::Rule* found = world.rule(RequestMaker("GET", "a.test", path));
  return found == nullptr ? nullptr : found->session;
}
std::vector<std::string> pathsOf(const std::string& matches, const std::string& session = "{}") {
  const auto compiled =
      policy(ruleWithSession(session, ", matches: [" + matches + ", {path: {type: Exact, value: /q;}}]"), "/q;");
  return compiled == nullptr ? std::vector<std::string>{"no such rule"} : compiled->paths;
}

TEST(CompileSession, ReturnsNullForRulesWithoutIt) {
  EXPECT_EQ(policy("{backendRefs: [" + std::string(kUnclosedRef) + "}]}"), nullptr);
}

TEST(CompileSession, KeepsTheRulesSettings) {
  const auto cookie =
      policy(ruleWithSession("{sessionName: Cart, absoluteTimeout: 1h, cookieConfig: {lifetimeType: Permanent}}"));
  ASSERT_NE(cookie, nullptr);
  EXPECT_FALSE(cookie->byHeader);
  EXPECT_EQ(cookie->name, "Cart");
  EXPECT_EQ(cookie->absoluteTimeout, std::chrono::hours(1));
  EXPECT_TRUE(cookie->permanent);
  const auto header = policy(ruleWithSession("{sessionName: X-Cart, type: Header}"));
  ASSERT_NE(header, nullptr);
  EXPECT_TRUE(header->byHeader);
  EXPECT_EQ(header->name, "x-cart") << "as field names are compared";
}

TEST(CompileSession, NamesUnnamedSessionsByTheirRule) {
  const auto name = [](const std::string& rules, const std::string& path = "/") { return policy(rules, path)->name; };
  const std::string other = ", matches: [{path: {value: /other}}]";
  const std::string first = name(ruleWithSession("{}"));
  EXPECT_THAT(first, ::testing::MatchesRegex("sluice-session-[0-9a-f]+"));
  EXPECT_EQ(first.size(), 31U);
  EXPECT_EQ(name(ruleWithSession("{absoluteTimeout: 1s}")), first) << "what else it says does not matter";
  EXPECT_NE(name(ruleWithSession("{}") + ", " + ruleWithSession("{}", other), "/other"), first);
  const std::string named = name(ruleWithSession("{}", ", name: shop"));
  EXPECT_NE(named, first);
  EXPECT_EQ(name(ruleWithSession("{}", other) + ", " + ruleWithSession("{}", ", name: shop")), named)
      << "wherever it stands";
}

TEST(CompileSession, IsBoundToItsRuleAndName) {
  std::set<std::string> scopes;
  const std::vector<std::string> all = {
      ruleWithSession("{}"), ruleWithSession("{}", ", name: a"), ruleWithSession("{sessionName: s}"),
      ruleWithSession("{sessionName: s, type: Header}"), ruleWithSession("{sessionName: t}")};
  for (const std::string& each : all) scopes.insert(policy(each)->scope);
  const World other({kClass, kGateway, kBackend, routeWithSessionRules(ruleWithSession("{}"), "HTTPRoute", "other")});
  scopes.insert(other.rule(RequestMaker("GET", "a.test", "/"))->session->scope);
  const World grpc({kClass, kGateway, kBackend, routeWithSessionRules(ruleWithSession("{}"), "GRPCRoute")});
  scopes.insert(grpc.rule(RequestMaker("POST", "a.test", "/a.B/C"))->session->scope);
  EXPECT_EQ(scopes.size(), all.size() + 2);
}

TEST(CompileSession, FindsItsBackendsInAnyOrder) {
  const auto refs = [](const std::string& list) {
    return policy("{sessionPersistence: {sessionName: s}, backendRefs: [" + list + "]}")->shares;
  };
  const std::string a = "{name: a, port: 80}";
  const std::string b = "{name: b, port: 80}";
  const auto ab = refs(a + ", " + b);
  ASSERT_EQ(ab.size(), 2U);
  EXPECT_THAT(refs(b + ", " + a), ElementsAre(ab[1], ab[0]));
  EXPECT_THAT(refs("{name: a, port: 80, weight: 0}"), ElementsAre(ab[0]));
  EXPECT_THAT(refs("{name: a, port: 80, namespace: default}"), ElementsAre(ab[0]));
  EXPECT_THAT(refs("{name: a, port: 81}"), Not(ElementsAre(ab[0])));
  const auto twice = refs(a + ", " + a);
  EXPECT_EQ(twice[0], ab[0]);
  EXPECT_NE(twice[1], twice[0]);
}

TEST(CompileSession, HasThePathsOfItsMatches) {
  EXPECT_THAT(pathsOf("{path: {value: /}}"), IsEmpty());
  EXPECT_THAT(pathsOf("{path: {value: /a}}, {path: {type: Exact, value: /b/c}}"), ElementsAre("/a", "/b/c"));
  EXPECT_THAT(pathsOf("{path: {value: /a/}}"), ElementsAre("/a"));
  EXPECT_THAT(pathsOf("{path: {value: /a/b;c/d}}"), ElementsAre("/a")) << "it would end the attribute";
  EXPECT_THAT(pathsOf("{path: {value: /a}}", "{sessionName: __Host-s}"), IsEmpty());
  const auto expression = [](const std::string& value) {
    return pathsOf("{path: {type: RegularExpression, value: \"" + value + "\"}}");
  };
  EXPECT_THAT(expression("/p1/p2/[^/]+/p3"), ElementsAre("/p1/p2"));
  EXPECT_THAT(expression("/p1/p2?"), ElementsAre("/p1"));
  EXPECT_THAT(expression("/p.*"), IsEmpty());
  EXPECT_THAT(expression("/p1/?"), ElementsAre("/p1"));
  EXPECT_THAT(expression("/p1/p2"), ElementsAre("/p1/p2"));
}

TEST(CompileSession, RefusesFieldsThatClientsCannotSend) {
  for (const std::string name :
       {"Connection", "content-length", "Host", "Proxy-Authorization", "te", "Cookie", "set-cookie", "Via"}) {
    const World world({kClass, kGateway, kBackend,
                       routeWithSessionRules(ruleWithSession("{type: Header, sessionName: " + name + "}"))});
    EXPECT_EQ(world.outcome(), "500") << name;
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue");
    EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"),
                HasSubstr("spec.rules[0].sessionPersistence.sessionName: "));
  }
  EXPECT_NE(policy(ruleWithSession("{type: Cookie, sessionName: host}")), nullptr) << "cookies may have any name";
}

TEST(CompileSession, ServesExistingSessionsOfBackendsWithWeightZero) {
  const World world({kClass, kGateway, kBackend,
                     routeWithSessionRules("{sessionPersistence: {}, backendRefs: [" + std::string(kUnclosedRef) +
                                           ", weight: 0}]}")});
  const routing::Rule* found = world.rule(RequestMaker("GET", "a.test", "/"));
  ASSERT_NE(found, nullptr);
  EXPECT_FALSE(found->failure) << "sessions that there are go on";
  EXPECT_EQ(found->choose(0), nullptr);
  EXPECT_THAT(world.message("HTTPRoute", "route", "Accepted"), HasSubstr("but for the sessions that there are"));
}

// Tests of the key.

constexpr std::string_view kClassWithSettings = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: sluice}
spec:
  controllerName: sluice.dev/egress-gateway
  parametersRef: {group: "", kind: ConfigMap, namespace: default, name: settings}
)";
const std::string kKey(32, 'k');

std::string sessionSettings(const std::string& ref) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n  settings.yaml: |\n"
         "    sessionPersistence: {secretRef: {" +
         ref + "}}\n";
}
std::string keysSecret(const std::string& entries) {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {" + entries + "}\n";
}
World keyed(const std::string& ref, const std::string& documents, const std::string& rules = ruleWithSession("{}")) {
  return World({kClassWithSettings, sessionSettings(ref), documents, kGateway, kBackend, routeWithSessionRules(rules)});
}

TEST(SessionKey, ComesFromTheSecretThatTheSettingsName) {
  const World world = keyed("namespace: default, name: keys", keysSecret("key: " + kKey));
  EXPECT_EQ(world.outcome(), "default/origin");
  const auto& sealer = world.snapshot().sessionSealer;
  ASSERT_NE(sealer, nullptr);
  EXPECT_TRUE(sealer->open(*pki::ValueSealer(base::Secret(kKey)).seal("v", "s"), "s"));
  const World other = keyed("namespace: default, name: keys, key: b, previousKey: a",
                            keysSecret("a: " + kKey + ", b: " + std::string(32, 'b')));
  ASSERT_NE(other.snapshot().sessionSealer, nullptr);
  const auto opened = other.snapshot().sessionSealer->open(*sealer->seal("v", "s"), "s");
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->byPrevious);
}

TEST(SessionKey, IsMadeByTheProcessWithoutSettings) {
  const World world({kClass, kGateway, kBackend, routeWithSessionRules(ruleWithSession("{}"))});
  EXPECT_EQ(world.snapshot().sessionSealer, nullptr);
  EXPECT_EQ(world.outcome(), "default/origin");
}

TEST(SessionKey, FailsOnlyTheRulesThatNeedItIfItIsMissing) {
  const std::string rules = ruleWithSession("{}", ", matches: [{path: {value: /shop}}]") + ", {backendRefs: [" +
                            std::string(kUnclosedRef) + "}]}";
  const auto told = [&](const std::string& ref, const std::string& documents) {
    const World world = keyed(ref, documents, rules);
    EXPECT_EQ(world.outcome("a.test", "/shop"), "500");
    EXPECT_EQ(world.outcome("a.test", "/"), "default/origin");
    EXPECT_EQ(world.snapshot().sessionSealer, nullptr);
    EXPECT_TRUE(world.result().usable);
    EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
    EXPECT_EQ(world.condition("HTTPRoute", "route", "PartiallyInvalid"), "True/UnsupportedValue");
    return world.message("HTTPRoute", "route", "PartiallyInvalid");
  };
  const std::string ref = "namespace: default, name: keys";
  const std::string what = "settings.yaml: sessionPersistence.secretRef: Secret default/keys: ";
  EXPECT_THAT(told(ref, std::string(kBackend)), HasSubstr(what + "it does not exist"));
  EXPECT_THAT(told(ref, keysSecret("other: " + kKey)), HasSubstr(what + "it has no key"));
  EXPECT_THAT(told(ref + ", previousKey: old", keysSecret("key: " + kKey)), HasSubstr(what + "it has no old"));
  const std::string shortKey(31, 'q');
  for (const std::string& message :
       {told(ref, keysSecret("key: " + shortKey)),
        told(ref + ", previousKey: old", keysSecret("key: " + kKey + ", old: " + shortKey))}) {
    EXPECT_THAT(message, HasSubstr(" has fewer than 32 bytes"));
    EXPECT_THAT(message, Not(HasSubstr("qqq"))) << "it is a secret";
  }
}

TEST(SessionKey, RefusesARouteWithoutOtherRulesIfItIsMissing) {
  const World world = keyed("namespace: default, name: keys", std::string(kBackend));
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue");
  const World grpc({kClassWithSettings, sessionSettings("namespace: default, name: keys"), kGateway, kBackend,
                    routeWithSessionRules(ruleWithSession("{}"), "GRPCRoute")});
  const routing::Rule* found = grpc.rule(RequestMaker("POST", "a.test", "/a.B/C"));
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->failure);
  EXPECT_EQ(found->failure->status, 503) << "UNAVAILABLE in gRPC's terms";
}

}  // namespace
}  // namespace sluice::compile
