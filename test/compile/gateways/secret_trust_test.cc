#include "proxy/compile/ground/secret_trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "test/compile/compile_world.h"
#include "test/compile/gateways/tenant_objects.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::fromGateways;
using test::fromRoutes;
using test::grantIn;
using test::inNamespace;
using test::with;
using test::World;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

/// Returns the Backend of the platform, which has a client certificate in its namespace.
std::string backendWithCertificate() {
  return inNamespace(
      "vault", with(test::kBackend, "spec: {", "spec: {tls: {mode: Mutual, clientCertificateRef: {name: cert}}, "));
}
std::string routeToVault() {
  return inNamespace("team", with(test::kRoute, "name: origin", "name: origin, namespace: vault"));
}

/// A tenant's Gateway and route in the namespace `team`, which may use the Backends of `vault`.
struct Tenant {
  explicit Tenant(std::vector<std::string> more = {}, const std::string& provisioning = {},
                  const std::string& controller = "sluice-system", const std::string& route = routeToVault(),
                  const std::string& backend = backendWithCertificate(),
                  const std::string& gateway = inNamespace("team", test::kGateway))
      : world(documents(std::move(more), provisioning, route, backend, gateway), nullptr, test::processorTypes()) {
    world.recompileWithController(controller);
  }
  std::vector<std::string_view> documents(std::vector<std::string> more, const std::string& provisioning,
                                          const std::string& route, const std::string& backend,
                                          const std::string& gateway) {
    texts = {
        with(test::kClass, "sluice.dev/egress-gateway",
             "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: default, name: s}"),
        test::configMap("s", "settings.yaml", "provisioning: {" + provisioning + "}"),
        gateway,
        backend,
        inNamespace("vault", test::keyPair("cert", test::server())),
        inNamespace("team", test::keyPair("own", test::server())),
        grantIn("vault", fromRoutes(), "{group: gateway.networking.k8s.io, kind: Backend}"),
        route};
    texts.insert(texts.end(), more.begin(), more.end());
    return {texts.begin(), texts.end()};
  }
  base::ObjectNames secrets(const std::string& nameSpace = "team", const std::string& name = "egress") const {
    const auto found = world.result().secrets.find({"Gateway", nameSpace, name});
    return found == world.result().secrets.end() ? base::ObjectNames() : found->second;
  }
  std::string resolved() const { return world.condition("HTTPRoute", "route", "ResolvedRefs"); }
  std::string message() const { return world.message("HTTPRoute", "route", "ResolvedRefs"); }

  std::vector<std::string> texts;
  World world;
};

TEST(SecretTrust, IsNotGivenByAGrantForTheRouteAlone) {
  const Tenant tenant;
  EXPECT_EQ(tenant.world.outcome(), "500");
  EXPECT_THAT(tenant.secrets(), IsEmpty());
  EXPECT_EQ(tenant.resolved(), "False/RefNotPermitted");
  EXPECT_THAT(tenant.message(), AllOf(HasSubstr("spec.rules[0]: backend vault/origin: "),
                                      HasSubstr("a ReferenceGrant in namespace vault"),
                                      HasSubstr("{group: gateway.networking.k8s.io, kind: Gateway, namespace: team}"),
                                      HasSubstr("kind: Secret")));
  EXPECT_THAT(tenant.message(), Not(HasSubstr("cert"))) << "the tenant learns no names of another namespace's Secrets";
}

TEST(SecretTrust, IsGivenByAGrantForTheGateway) {
  for (const char* to : {"{group: '', kind: Secret}", "{group: '', kind: Secret, name: cert}"}) {
    const Tenant tenant({grantIn("vault", fromGateways(), to)});
    EXPECT_EQ(tenant.world.outcome(), "vault/origin") << tenant.message();
    EXPECT_THAT(tenant.secrets(), ElementsAre(Pair("vault", "cert")));
    EXPECT_EQ(tenant.resolved(), "True/ResolvedRefs");
  }
  EXPECT_EQ(Tenant({grantIn("vault", fromGateways(), "{group: '', kind: Secret, name: other}")}).world.outcome(),
            "500");
  EXPECT_EQ(Tenant({grantIn("team", fromGateways(), "{group: '', kind: Secret}")}).world.outcome(), "500")
      << "a tenant cannot grant what is another one's";
}

TEST(SecretTrust, IsGivenToTheNamespacesThatTheSettingsName) {
  const Tenant trusted({}, "trustedNamespaces: [team]");
  EXPECT_EQ(trusted.world.outcome(), "vault/origin") << trusted.message();
  EXPECT_THAT(trusted.secrets(), ElementsAre(Pair("vault", "cert")));
  EXPECT_EQ(Tenant({}, "trustedNamespaces: [other]").world.outcome(), "500");
  EXPECT_EQ(Tenant({}, "trustedNamespaces: []", "team").world.outcome(), "500") << "not even to the controller's own";
  EXPECT_EQ(Tenant({}, "", "team").world.outcome(), "vault/origin") << "which is the default";
  EXPECT_EQ(Tenant({}, "", "").world.outcome(), "vault/origin") << "nobody keeps Pods";
}

TEST(SecretTrust, IsNotNeededForSecretsOfTheGatewaysNamespace) {
  const std::string own = inNamespace(
      "team", with(test::kBackend, "spec: {", "spec: {tls: {mode: Mutual, clientCertificateRef: {name: own}}, "));
  const Tenant tenant({own}, "", "sluice-system", inNamespace("team", test::kRoute));
  EXPECT_EQ(tenant.world.outcome(), "team/origin") << tenant.message();
  EXPECT_THAT(tenant.secrets(), ElementsAre(Pair("team", "own")));
}

TEST(SecretTrust, IsThatOfEachGateway) {
  const std::string platform = with(with(inNamespace("sluice-system", test::kGateway), "port: 80}",
                                         "port: 81, allowedRoutes: {namespaces: {from: All}}}"),
                                    "name: egress", "name: platform");
  const Tenant tenant({platform}, "", "sluice-system",
                      with(routeToVault(), "parentRefs: [{name: egress}]",
                           "parentRefs: [{name: egress}, {name: platform, namespace: sluice-system}]"));
  EXPECT_EQ(tenant.world.outcome(), "500");
  EXPECT_EQ(tenant.world.outcome("a.test", "/", 81), "vault/origin");
  EXPECT_THAT(tenant.secrets(), IsEmpty());
  EXPECT_THAT(tenant.secrets("sluice-system", "platform"), ElementsAre(Pair("vault", "cert")));
}

TEST(SecretTrust, IsKnownWithTheRoutesThatAGatewayAdmits) {
  const auto routesOf = [](const Tenant& tenant) {
    return tenant.world.result().routes.at({"Gateway", "team", "egress"});
  };
  const std::string foreign = with(with(inNamespace("other", test::kRoute), "parentRefs: [{name: egress}]",
                                        "parentRefs: [{name: egress, namespace: team}]"),
                                   "name: route", "name: foreign");
  const Tenant tenant({foreign});
  EXPECT_THAT(routesOf(tenant), ElementsAre(std::tuple("HTTPRoute", "team", "route")));
  EXPECT_THAT(Tenant({}, "", "").world.result().routes, IsEmpty()) << "nobody keeps Pods";
}

TEST(SecretTrust, IsThatOfAGatewayWhichItsSchemaRefusesToo) {
  const std::string grant = grantIn("vault", fromGateways(), "{group: '', kind: Secret}");
  const auto refused = [](const std::string& more) {
    return with(inNamespace("team", test::kGateway), "port: 80}", "port: 80, hostname: 1.2.3.4" + more + "}");
  };
  const auto found = [](const std::vector<std::string>& texts) {
    World world({texts.begin(), texts.end()}, nullptr, test::processorTypes());
    world.recompileWithController("sluice-system");
    return world.result().secrets.at({"Gateway", "team", "egress"});
  };
  std::vector<std::string> texts = {std::string(test::kClass),
                                    refused(""),
                                    backendWithCertificate(),
                                    inNamespace("vault", test::keyPair("cert", test::server())),
                                    grantIn("vault", fromRoutes(), "{group: gateway.networking.k8s.io, kind: Backend}"),
                                    grant,
                                    routeToVault()};
  EXPECT_THAT(found(texts), ElementsAre(Pair("vault", "cert"))) << "Pods serve on what it was before";
  std::erase(texts, grant);
  EXPECT_THAT(found(texts), IsEmpty()) << "but nothing that is not granted any more";
}

TEST(SecretTrust, IsNotLostToAnotherGatewayWithTheSamePort) {
  const std::string older = with(with(inNamespace("other", test::kGateway), "name: egress", "name: older"),
                                 "generation: 4", "generation: 4, creationTimestamp: '2020-01-01T00:00:00Z'");
  const Tenant tenant({older, grantIn("vault", fromGateways(), "{group: '', kind: Secret}")});
  EXPECT_THAT(tenant.secrets(), ElementsAre(Pair("vault", "cert"))) << "each has Pods of its own";
  EXPECT_EQ(tenant.world.listenerCondition("egress", "web", "Accepted"), "True/Accepted");
}

TEST(SecretTrust, IsNeededForASecretOfAThirdNamespaceOfWhichNothingIsTold) {
  const std::string toSecrets = grantIn("keys", "{group: gateway.networking.k8s.io, kind: Backend, namespace: vault}",
                                        "{group: '', kind: Secret}");
  const std::string backend = with(backendWithCertificate(), "clientCertificateRef: {name: cert}",
                                   "clientCertificateRef: {name: cert, namespace: keys}");
  const std::string cert = inNamespace("keys", test::keyPair("cert", test::server()));
  const Tenant closed({cert, toSecrets}, "", "sluice-system", routeToVault(), backend);
  EXPECT_EQ(closed.world.outcome(), "500");
  EXPECT_THAT(closed.secrets(), IsEmpty());
  EXPECT_THAT(closed.message(), AllOf(HasSubstr("a ReferenceGrant in the namespace of the Secret permits it"),
                                      Not(HasSubstr("keys")), Not(HasSubstr("cert"))));
  const Tenant granted({cert, toSecrets, grantIn("keys", fromGateways(), "{group: '', kind: Secret}")}, "",
                       "sluice-system", routeToVault(), backend);
  EXPECT_EQ(granted.world.outcome(), "vault/origin") << granted.message();
  EXPECT_THAT(granted.secrets(), ElementsAre(Pair("keys", "cert")));
}

TEST(SecretTrust, OfAnEgressGatewayTakesAGrantOfItsKind) {
  const std::string group = "ainetworking.prototype.x-k8s.io";
  const std::string egress =
      with(with(inNamespace("team", test::kGateway), "port: 80", "port: 81"),
           "gateway.networking.k8s.io/v1\nkind: Gateway", group + "/v0alpha0\nkind: EgressGateway");
  const std::string route =
      with(routeToVault(), "{name: egress}", "{group: " + group + ", kind: EgressGateway, name: egress}");
  const auto outcomeWith = [&](const std::string& from) {
    const Tenant tenant({egress, grantIn("vault", from, "{group: '', kind: Secret}")}, "", "sluice-system", route);
    return tenant.world.outcome("a.test", "/", 81) + " " + tenant.message();
  };
  EXPECT_THAT(outcomeWith(fromGateways()),
              AllOf(StartsWith("500 "), HasSubstr("{group: " + group + ", kind: EgressGateway, namespace: team}")));
  EXPECT_THAT(outcomeWith("{group: " + group + ", kind: EgressGateway, namespace: team}"), StartsWith("vault/origin "));
}

TEST(SecretTrust, IsThatOfEachBackendOfARule) {
  const std::string plain = inNamespace("team", with(test::kBackend, "name: origin", "name: plain"));
  const std::string route = inNamespace(
      "team",
      test::routeWithRules("rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, "
                           "namespace: vault, port: 8080, weight: 3}, {group: gateway.networking.k8s.io, kind: "
                           "Backend, name: plain, port: 8080, weight: 2}]}]"));
  const std::string failover =
      "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: team, name: t}\nspec: {targetRefs: "
      "[{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}], failover: {}}\n";
  const test::RequestMaker request("GET", "a.test", "/");
  const Tenant tenant({plain, failover}, "", "sluice-system", route);
  const routing::Rule* rule = tenant.world.rule(request);
  ASSERT_NE(rule, nullptr);
  EXPECT_TRUE(rule->backends.at(0).failure);
  EXPECT_EQ(rule->backends.at(0).backend, nullptr);
  EXPECT_FALSE(rule->backends.at(1).failure);
  ASSERT_TRUE(rule->failover);
  EXPECT_EQ(rule->failover->usualWeight, 0U) << "one of them is broken";
  const Tenant granted({plain, failover, grantIn("vault", fromGateways(), "{group: '', kind: Secret}")}, "",
                       "sluice-system", route);
  const routing::Rule* whole = granted.world.rule(request);
  ASSERT_NE(whole, nullptr);
  EXPECT_FALSE(whole->backends.at(0).failure);
  EXPECT_EQ(whole->failover->usualWeight, 5U);
}

TEST(SecretTrust, LeavesOutMirrors) {
  const std::string plain = inNamespace("team", with(test::kBackend, "name: origin", "name: plain"));
  const std::string route = inNamespace(
      "team", test::routeWithRules("rules: [{filters: [{type: RequestMirror, requestMirror: {backendRef: {group: "
                                   "gateway.networking.k8s.io, kind: Backend, name: origin, namespace: vault, port: "
                                   "8080}}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
                                   "plain, port: 8080}]}]"));
  const test::RequestMaker request("GET", "a.test", "/");
  const Tenant tenant({plain}, "", "sluice-system", route);
  EXPECT_EQ(tenant.world.outcome(), "team/plain");
  ASSERT_NE(tenant.world.rule(request), nullptr);
  EXPECT_TRUE(tenant.world.rule(request)->mirrors.empty());
  EXPECT_EQ(tenant.resolved(), "False/RefNotPermitted");
  const Tenant granted({plain, grantIn("vault", fromGateways(), "{group: '', kind: Secret}")}, "", "sluice-system",
                       route);
  EXPECT_EQ(granted.world.rule(request)->mirrors.size(), 1U);
}

/// Returns the use of a processor that reads a Secret of `vault`.
std::string readingUse(const std::string& more = {}) {
  return "{name: reader, type: 'gateway.networking.k8s.io/CredentialInjector:v1', phase: request-headers, config: "
         "{secret: token, namespace: vault, secretRef: {name: token, namespace: vault}}" +
         more + "}";
}
std::string tokens() { return inNamespace("vault", test::secret("token", {{"key", "value"}})); }
std::string plainBackend() {
  return inNamespace(
      "team", with(with(test::kBackend, "name: origin", "name: plain"), "spec: {", "spec: {tls: {mode: Terminate}, "));
}
std::string filteredRoute(const std::string& filter) {
  return inNamespace("team",
                     test::routeWithRules("rules: [{filters: [" + filter +
                                          "], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
                                          "plain, port: 8080}]}]"));
}
std::string from(const std::string& group, const std::string& kind) {
  return "{group: " + group + ", kind: " + kind + ", namespace: team}";
}

TEST(SecretTrust, HasProcessorsFailAsTheySay) {
  const std::string toRoutes = grantIn("vault", fromRoutes(), "{group: '', kind: Secret}");
  const auto outcomeOf = [&](const std::string& more, std::vector<std::string> grants) {
    grants.insert(grants.end(), {plainBackend(), tokens(), toRoutes});
    return Tenant(grants, "", "sluice-system",
                  filteredRoute("{type: PayloadProcessing, payloadProcessing: [" + readingUse(more) + "]}"));
  };
  const Tenant closed = outcomeOf("", {});
  EXPECT_EQ(closed.world.outcome(), "500");
  EXPECT_THAT(closed.world.message("HTTPRoute", "route", "sluice.dev/PartiallyInvalid") +
                  closed.world.message("HTTPRoute", "route", "PartiallyInvalid"),
              HasSubstr("processor reader: it uses a Secret of another namespace"));
  const Tenant open = outcomeOf(", failOpen: true", {});
  EXPECT_EQ(open.world.outcome(), "team/plain");
  const test::RequestMaker request("GET", "a.test", "/");
  EXPECT_EQ(test::stepNames(open.world.rule(request)->chain.get()), "");
  EXPECT_THAT(open.secrets(), IsEmpty());
  const Tenant granted = outcomeOf("", {grantIn("vault", fromGateways(), "{group: '', kind: Secret, name: token}")});
  EXPECT_EQ(granted.world.outcome(), "team/plain") << granted.message();
  EXPECT_EQ(test::stepNames(granted.world.rule(request)->chain.get()), "reader;");
  EXPECT_THAT(granted.secrets(), ElementsAre(Pair("vault", "token")));
}

TEST(SecretTrust, IsNeededForTheProcessorsOfTheGatewayToo) {
  const std::string processor =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: team, "
      "name: p}\nspec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: "
      "egress}, processors: [" +
      readingUse() + "]}\n";
  const std::string permit = grantIn("vault", from("sluice.dev", "PayloadProcessor"), "{group: '', kind: Secret}");
  const std::string route = with(filteredRoute(""), "rules:", "hostnames: [a.test]\n  rules:");
  const Tenant closed({plainBackend(), tokens(), processor, permit}, "", "sluice-system", route);
  const auto refuses = [](const World& world) {
    const auto match =
        routing::routesOf(world.bind(80)->service).match(test::RequestMaker("GET", "a.test", "/").head());
    return refusingStep(match.listener->chain.get()) != nullptr;
  };
  EXPECT_TRUE(refuses(closed.world));
  EXPECT_EQ(closed.world.outcome("unmatched.test"), "500");
  EXPECT_THAT(closed.world.message("Gateway", "egress", "sluice.dev/Degraded") +
                  closed.world.message("Gateway", "egress", "Degraded"),
              HasSubstr("processor reader: it uses a Secret of another namespace"));
  EXPECT_THAT(closed.secrets(), IsEmpty());
  const Tenant granted({plainBackend(), tokens(), processor, permit,
                        grantIn("vault", fromGateways(), "{group: '', kind: Secret, name: token}")},
                       "", "sluice-system", route);
  EXPECT_FALSE(refuses(granted.world));
  EXPECT_EQ(granted.world.outcome(), "team/plain") << granted.message();
  EXPECT_EQ(granted.world.outcome("unmatched.test"), "404");
  EXPECT_THAT(granted.secrets(), ElementsAre(Pair("vault", "token")));
}

// Elsewhere, a Backend is served without a step that fails open. But the step is not left out only for the Pods that
// may not read its Secret.
TEST(SecretTrust, IsNeededForExtensionsOfABackendThatFailOpenToo) {
  const std::string extension =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: vault, name: p}\nspec: "
      "{targetRef: "
      "{group: gateway.networking.k8s.io, kind: Backend, name: origin}, processors: [{name: a, type: "
      "'gateway.networking.k8s.io/CredentialInjector:v1', phase: request-headers, failOpen: true, config: {secret: "
      "token, secretRef: {name: "
      "token}}}]}\n";
  const std::string backend = inNamespace("vault", with(test::kBackend, "spec: {", "spec: {tls: {mode: Terminate}, "));
  const Tenant closed({extension, tokens()}, "", "sluice-system", routeToVault(), backend);
  EXPECT_EQ(closed.world.outcome(), "500");
  EXPECT_EQ(closed.resolved(), "False/RefNotPermitted");
  EXPECT_THAT(closed.secrets(), IsEmpty());
  const Tenant granted({extension, tokens(), grantIn("vault", fromGateways(), "{group: '', kind: Secret}")}, "",
                       "sluice-system", routeToVault(), backend);
  EXPECT_EQ(granted.world.outcome(), "vault/origin") << granted.message();
  EXPECT_THAT(granted.secrets(), ElementsAre(Pair("vault", "token")));
}

TEST(SecretTrust, IsAskedForWhatTheChainsOfAdmittedRoutesUseAndForNothingElse) {
  const std::string pipeline =
      "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: team, name: p}\nspec: "
      "{processors: [{name: a, type: 'gateway.networking.k8s.io/CredentialInjector:v1', phase: request-headers, "
      "config: "
      "{secret: mine, secretRef: "
      "{name: mine}}}]}\n";
  const std::string mine = inNamespace("team", test::secret("mine", {{"key", "value"}}));
  const std::string unused =
      inNamespace("team", with(with(test::kBackend, "name: origin", "name: unused"), "spec: {",
                               "spec: {tls: {mode: Mutual, clientCertificateRef: {name: own}}, "));
  const std::string named = filteredRoute(
      "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: p}}");
  EXPECT_THAT(Tenant({plainBackend(), pipeline, mine, unused}, "", "sluice-system", filteredRoute("")).secrets(),
              IsEmpty());
  EXPECT_THAT(Tenant({plainBackend(), pipeline, mine, unused}, "", "sluice-system", named).secrets(),
              ElementsAre(Pair("team", "mine")));
  const std::string foreign =
      with(named, "parentRefs: [{name: egress}]", "parentRefs: [{name: egress, sectionName: x}]");
  EXPECT_THAT(Tenant({plainBackend(), pipeline, mine, unused}, "", "sluice-system", foreign).secrets(), IsEmpty())
      << "the Gateway has not admitted the route";
}

TEST(SecretTrust, IsOfNoConcernToPortsThatNoRouteUses) {
  const std::string twoPorts = inNamespace(
      "vault", with(test::kBackend, "fqdn: {hostname: Origin.Test, port: 8080}",
                    "fqdn: {hostname: Origin.Test}, ports: [{number: 8080, tls: {mode: Mutual, clientCertificateRef: "
                    "{name: cert}}}, {number: 8081, tls: {mode: Mutual, clientCertificateRef: {name: other}}}]"));
  const std::string other = inNamespace("vault", test::keyPair("other", test::server()));
  const auto secretsWith = [&](std::vector<std::string> documents, const std::string& route = routeToVault()) {
    documents.push_back(twoPorts);
    return Tenant(documents, "trustedNamespaces: [team]", "sluice-system", route, "").secrets();
  };
  EXPECT_THAT(secretsWith({other}), ElementsAre(Pair("vault", "cert")));
  EXPECT_THAT(secretsWith({}), ElementsAre(Pair("vault", "cert"))) << "nor if the other one does not exist";
  EXPECT_THAT(secretsWith({}, with(routeToVault(), "port: 8080", "port: 8081")), ElementsAre(Pair("vault", "other")))
      << "it may come";
}

TEST(SecretTrust, IsOfNoConcernToRoutesThatTheirSchemaRefuses) {
  const std::string broken = with(routeToVault(), "rules: [{", "rules: [{surprise: 1, ");
  EXPECT_THAT(Tenant({}, "trustedNamespaces: [team]", "sluice-system", broken).secrets(), IsEmpty());
}

TEST(SecretTrust, SaysOnceThatAProcessorIsLeftOut) {
  const std::string listeners =
      with(inNamespace("team", test::kGateway), "listeners: [", "listeners: [{name: more, protocol: HTTP, port: 81}, ");
  const Tenant tenant(
      {plainBackend(), tokens(), grantIn("vault", fromRoutes(), "{group: '', kind: Secret}")}, "", "sluice-system",
      filteredRoute("{type: PayloadProcessing, payloadProcessing: [" + readingUse(", failOpen: true") + "]}"),
      backendWithCertificate(), listeners);
  const std::string said = tenant.world.message("HTTPRoute", "route", "Accepted");
  const std::size_t first = said.find("it fails open and is left out");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("it fails open and is left out", first + 1), std::string::npos) << said;
}

TEST(SecretTrust, IsKeptForASecretThatDoesNotExistYet) {
  const std::string own = inNamespace(
      "team", with(test::kBackend, "spec: {", "spec: {tls: {mode: Mutual, clientCertificateRef: {name: coming}}, "));
  const Tenant tenant({own}, "", "sluice-system", inNamespace("team", test::kRoute));
  EXPECT_EQ(tenant.world.outcome(), "500");
  EXPECT_THAT(tenant.secrets(), ElementsAre(Pair("team", "coming"))) << "or the Pods could not see it come";
}

}  // namespace
}  // namespace sluice::compile
