// Tests by which EgressPolicy the clients of a listener are authenticated, and what one closes that cannot be served.
#include "proxy/compile/policies/client_authentications.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/support/passwords.h"

namespace sluice::compile {
namespace {

using sluice::test::kAnn;
using sluice::test::kBob;
using test::kBackend;
using test::kClass;
using test::kRoute;
using test::World;
using testing::HasSubstr;
using testing::Not;

const std::string kWebAndOther =
    test::gatewayWith("{name: web, protocol: HTTP, port: 80}, {name: other, protocol: HTTP, port: 81}");
constexpr const char* kOfAll = "name: egress";
constexpr const char* kOfWeb = "name: egress, sectionName: web";

std::string passwordSecret(const std::string& name, const std::string& text, const std::string& key = ".htpasswd") {
  return test::secret(name, {{key, text}});
}
std::string annsSecret() { return passwordSecret("users", kAnn); }

/// Returns a policy for a Gateway, or a listener of it, that authenticates clients.
std::string authenticating(const std::string& name, const std::string& target, const std::string& more = "",
                           const std::string& ref = "name: users", const std::string& meta = "") {
  return "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: " + name + meta +
         "}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, " + target +
         "}], default: Allow, clientAuthentication: {basic: {secretRef: {" + ref + "}}" + more + "}}\n";
}

World authenticatedWorld(std::vector<std::string> documents, const std::string& gateway = kWebAndOther) {
  std::vector<std::string_view> all = {kClass, gateway, kBackend, kRoute};
  all.insert(all.end(), documents.begin(), documents.end());
  return World(all);
}

routing::RouteMatch matchOfPort(const World& world, std::uint16_t port) {
  const test::RequestMaker request("GET", "b.test", "/");
  return routing::routesOf(world.bind(port)->service).match(request.head());
}

/// Returns the policy and the realm by which clients of the port are authenticated; "500" if it is closed.
std::string authenticationAt(const World& world, std::uint16_t port) {
  const routing::RouteMatch match = matchOfPort(world, port);
  if (match.rule->failure) return "500";
  const auto& found = match.listener->authentication;
  if (found == nullptr) return "none";
  return found->policy + " " + found->realm + (found->required ? "" : " optional");
}

std::string acceptedMessage(const World& world, const std::string& policy) {
  for (const config::ObjectStatus& status : world.result().statuses) {
    if (status.kind != "EgressPolicy" || status.name != policy) continue;
    for (const config::ParentStatus& parent : status.parents) return parent.conditions.front().message;
  }
  return "no status";
}

TEST(ClientAuthentications, AreOfTheListenersThatAPolicyTargets) {
  const World all = authenticatedWorld({annsSecret(), authenticating("a", kOfAll)});
  EXPECT_EQ(authenticationAt(all, 80), "default/a sluice");
  EXPECT_EQ(authenticationAt(all, 81), "default/a sluice");
  EXPECT_EQ(all.condition("EgressPolicy", "a", "Accepted"), "True/Accepted");
  const World web =
      authenticatedWorld({annsSecret(), authenticating("a", kOfWeb, ", realm: our proxy, required: false")});
  EXPECT_EQ(authenticationAt(web, 80), "default/a our proxy optional");
  EXPECT_EQ(authenticationAt(web, 81), "none");
}

TEST(ClientAuthentications, AreOfTheMostSpecificPolicy) {
  const World world = authenticatedWorld({annsSecret(), authenticating("a", kOfAll), authenticating("b", kOfWeb)});
  EXPECT_EQ(authenticationAt(world, 80), "default/b sluice");
  EXPECT_EQ(authenticationAt(world, 81), "default/a sluice");
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(world.condition("EgressPolicy", name, "Accepted"), "True/Accepted") << name;
  }
}

TEST(ClientAuthentications, AreOfTheOldestAmongEquals) {
  const auto of = [](const char* name, const char* created) {
    return authenticating(name, kOfAll, "", "name: users", ", creationTimestamp: '" + std::string(created) + "'");
  };
  const World world =
      authenticatedWorld({annsSecret(), of("a", "2026-02-02T00:00:00Z"), of("b", "2026-01-01T00:00:00Z")});
  EXPECT_EQ(authenticationAt(world, 80), "default/b sluice");
  EXPECT_EQ(world.condition("EgressPolicy", "b", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("EgressPolicy", "a", "Accepted"), "False/Conflicted");
  EXPECT_THAT(acceptedMessage(world, "a"), HasSubstr("EgressPolicy default/b authenticates clients of the same"));
}

TEST(ClientAuthentications, ThatLoseLeaveTheirRulesInEffect) {
  const std::string denying =
      "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: b}\nspec: {targetRefs: [{group: "
      "gateway.networking.k8s.io, kind: Gateway, name: egress}], rules: [], clientAuthentication: {basic: {secretRef: "
      "{name: users}}}}\n";
  const World world = authenticatedWorld({annsSecret(), authenticating("a", kOfAll), denying});
  EXPECT_EQ(world.condition("EgressPolicy", "b", "Accepted"), "False/Conflicted");
  const auto& policies = matchOfPort(world, 80).listener->egress->enforced;
  ASSERT_EQ(policies.size(), 2U);
  EXPECT_EQ(policies[1]->name(), "default/b");
}

TEST(ClientAuthentications, OfAnAuditedPolicyCount) {
  const std::string audited =
      "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: a}\nspec: {targetRefs: [{group: "
      "gateway.networking.k8s.io, kind: Gateway, name: egress}], mode: Audit, clientAuthentication: {basic: "
      "{secretRef: "
      "{name: users}}}}\n";
  EXPECT_EQ(authenticationAt(authenticatedWorld({annsSecret(), audited}), 80), "default/a sluice");
}

TEST(ClientAuthentications, OfTheSettingsComeLast) {
  const std::string settings =
      test::configMap("settings", "settings.yaml", "egressPolicies: [{namespace: default, name: c}]");
  const std::string ofClass = test::with(kClass, "spec: {",
                                         "spec: {parametersRef: {group: '', kind: ConfigMap, namespace: default, name: "
                                         "settings}, ");
  const std::string other = authenticating("c", "name: another");
  const auto world = [&](std::vector<std::string> more) {
    std::vector<std::string_view> all = {ofClass, settings, kWebAndOther, kBackend, kRoute, other};
    all.insert(all.end(), more.begin(), more.end());
    return World(all);
  };
  EXPECT_EQ(authenticationAt(world({annsSecret()}), 80), "default/c sluice");
  const World mixed = world({annsSecret(), authenticating("a", kOfWeb)});
  EXPECT_EQ(authenticationAt(mixed, 80), "default/a sluice");
  EXPECT_EQ(authenticationAt(mixed, 81), "default/c sluice");
  EXPECT_EQ(authenticationAt(world({}), 80), "500") << "its Secret is missing";
}

TEST(ClientAuthentications, CloseWhatTheyCoverWithoutTheirSecret) {
  const World missing = authenticatedWorld({authenticating("a", kOfWeb)});
  EXPECT_EQ(authenticationAt(missing, 80), "500");
  EXPECT_EQ(authenticationAt(missing, 81), "none");
  EXPECT_EQ(missing.condition("EgressPolicy", "a", "Accepted"), "False/Invalid");
  EXPECT_THAT(acceptedMessage(missing, "a"),
              HasSubstr("spec.clientAuthentication.basic.secretRef: Secret default/users: it does "
                        "not exist"));
  const World other = authenticatedWorld({passwordSecret("users", kAnn, "htpasswd"), authenticating("a", kOfAll)});
  EXPECT_EQ(authenticationAt(other, 80), "500");
  EXPECT_THAT(acceptedMessage(other, "a"), HasSubstr("Secret default/users: it has no .htpasswd"));
  const World named = authenticatedWorld(
      {passwordSecret("users", kAnn, "htpasswd"), authenticating("a", kOfAll, "", "name: users, key: htpasswd")});
  EXPECT_EQ(authenticationAt(named, 80), "default/a sluice");
}

TEST(ClientAuthentications, CloseWhatTheyCoverIfOneLineIsNotBcrypt) {
  const std::string line = kAnn;
  const World world =
      authenticatedWorld({passwordSecret("users", line + "\neve:$apr1$salt$c0ffee"), authenticating("a", kOfAll)});
  EXPECT_EQ(authenticationAt(world, 80), "500");
  EXPECT_EQ(world.condition("EgressPolicy", "a", "Accepted"), "False/Invalid");
  EXPECT_THAT(acceptedMessage(world, "a"), HasSubstr(".htpasswd: line 2: its hash is none of bcrypt"));
  EXPECT_THAT(acceptedMessage(world, "a"), Not(HasSubstr("c0ffee")));
  const World dear =
      authenticatedWorld({passwordSecret("users", "ann:$2y$13" + line.substr(10)), authenticating("a", kOfAll)});
  EXPECT_EQ(authenticationAt(dear, 80), "500");
  EXPECT_THAT(acceptedMessage(dear, "a"), HasSubstr("line 1: the cost of its bcrypt hash is higher than 12"));
}

TEST(ClientAuthentications, NeedAGrantForASecretOfAnotherNamespace) {
  const std::string far =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: far}\nstringData: {.htpasswd: '" +
      std::string(kAnn) + "'}\n";
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: far}\nspec: "
      "{from: [{group: sluice.dev, kind: EgressPolicy, namespace: default}], to: [{group: '', kind: Secret}]}\n";
  const std::string policy = authenticating("a", kOfAll, "", "name: users, namespace: far");
  const World without = authenticatedWorld({far, policy});
  EXPECT_EQ(authenticationAt(without, 80), "500");
  EXPECT_THAT(acceptedMessage(without, "a"), HasSubstr("no ReferenceGrant in namespace far"));
  EXPECT_EQ(authenticationAt(authenticatedWorld({far, grant, policy}), 80), "default/a sluice");
}

TEST(ClientAuthentications, NeedAListenerThatSpeaksHttp) {
  const World world = authenticatedWorld({annsSecret(), authenticating("a", kOfAll)},
                                         test::gatewayWith("{name: web, protocol: TCP, port: 80}"));
  EXPECT_EQ(world.condition("EgressPolicy", "a", "Accepted"), "False/UnsupportedRule");
  const World mixed = authenticatedWorld(
      {annsSecret(), authenticating("a", kOfAll), authenticating("b", "name: egress, sectionName: raw")},
      test::gatewayWith("{name: web, protocol: HTTP, port: 80}, {name: raw, protocol: TCP, port: 81}"));
  EXPECT_EQ(mixed.condition("EgressPolicy", "a", "Accepted"), "True/Accepted");
  EXPECT_EQ(mixed.condition("EgressPolicy", "b", "Accepted"), "False/UnsupportedRule");
}

// Else every reload would have all passwords checked again.
TEST(ClientAuthentications, KeepWhatIsKnownOfRightPasswordsAsLongAsTheSecretIsTheSame) {
  World world = authenticatedWorld({annsSecret(), authenticating("a", kOfAll)});
  const auto before = matchOfPort(world, 80).listener->authentication;
  EXPECT_TRUE(pki::PasswordClaim(before->users, "ann", "secret").check());
  world.recompile();
  const auto same = matchOfPort(world, 80).listener->authentication;
  EXPECT_TRUE(pki::PasswordClaim(same->users, "ann", "secret").isProven());
  const World other = authenticatedWorld({passwordSecret("users", kBob), authenticating("a", kOfAll)});
  const auto ofBob = matchOfPort(other, 80).listener->authentication;
  EXPECT_FALSE(pki::PasswordClaim(ofBob->users, "ann", "secret").check());
}

TEST(ClientAuthentications, NameTheirSecretForThePodsOfTheGateway) {
  const World world = authenticatedWorld({annsSecret(), authenticating("a", kOfAll)});
  const config::EgressPolicy& policy = world.model().all<config::EgressPolicy>().front();
  EXPECT_EQ(passwordsOf(policy, world.model()), (std::pair<std::string, std::string>("default", "users")));
  const World foreign = authenticatedWorld({authenticating("a", kOfAll, "", "name: users, namespace: far")});
  EXPECT_EQ(passwordsOf(foreign.model().all<config::EgressPolicy>().front(), foreign.model()), std::nullopt);
}

}  // namespace
}  // namespace sluice::compile
