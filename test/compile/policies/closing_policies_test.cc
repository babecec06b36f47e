// Tests that policies of unsupported kinds close all their targets and nothing else.
#include "proxy/compile/ground/closing_policies.h"

#include <gtest/gtest.h>

#include <string>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::routeWithRules;
using test::with;
using test::World;

constexpr const char* kRouteTarget = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: route";
constexpr const char* kGatewayTarget = "group: gateway.networking.k8s.io, kind: Gateway, name: egress";
constexpr const char* kBackendTarget = "group: gateway.networking.k8s.io, kind: Backend, name: origin";
constexpr const char* kMessage = "SecurityPolicy default/p: policies of this kind are not supported";

std::string policyWith(const std::string& spec, const std::string& metadata = "name: p") {
  return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {" + metadata + "}\nspec:\n  " +
         spec + "\n";
}
std::string policyFor(const std::string& target) { return policyWith("targetRefs: [{" + target + "}]"); }

/// A second route and a second Backend, which no policy targets.
const std::string& otherBackend() {
  static const std::string text = with(kBackend, "name: origin,", "name: other,");
  return text;
}
std::string ruleTo(const std::string& backend, const std::string& path, const std::string& more = {}) {
  return "{" + more + "matches: [{path: {value: " + path +
         "}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: " + backend + ", port: 8080}]}";
}

World worldWithPolicy(const std::string& policy, const std::string& route = std::string(kRoute),
                      const std::string& gateway = std::string(kGateway)) {
  return World({kClass, gateway, kBackend, otherBackend(), route, policy});
}

TEST(ClosingPolicies, CloseARoute) {
  const World world = worldWithPolicy(policyFor(kRouteTarget));
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "False/UnsupportedValue");
  EXPECT_EQ(world.message("HTTPRoute", "route", "Accepted"), std::string(kMessage) + "; its requests answer 500");
}

TEST(ClosingPolicies, CloseARuleByItsName) {
  const std::string rules = "rules: [" + ruleTo("origin", "/a", "name: a, ") + ", " + ruleTo("origin", "/b") + "]";
  const World world = worldWithPolicy(policyFor(std::string(kRouteTarget) + ", sectionName: a"), routeWithRules(rules));
  EXPECT_EQ(world.outcome("a.test", "/a"), "500");
  EXPECT_EQ(world.outcome("a.test", "/b"), "default/origin");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.message("HTTPRoute", "route", "PartiallyInvalid"),
            "Dropped Rule: " + std::string(kMessage) + "; the requests concerned answer 500");
}

TEST(ClosingPolicies, CloseARedirectToo) {
  const std::string rules = "rules: [{filters: [{type: RequestRedirect, requestRedirect: {hostname: b.test}}]}]";
  EXPECT_EQ(worldWithPolicy(policyFor(kRouteTarget), routeWithRules(rules)).outcome(), "500");
}

TEST(ClosingPolicies, CloseAGrpcRoute) {
  const std::string route = with(kRoute, "kind: HTTPRoute", "kind: GRPCRoute");
  const World world =
      worldWithPolicy(policyFor("group: gateway.networking.k8s.io, kind: GRPCRoute, name: route"), route);
  EXPECT_EQ(world.condition("GRPCRoute", "route", "Accepted"), "False/UnsupportedValue");
}

TEST(ClosingPolicies, CloseAllListenersOfAGateway) {
  const World world = worldWithPolicy(policyFor(kGatewayTarget));
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "egress", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "False/Invalid");
  EXPECT_EQ(world.condition("Gateway", "egress", "Degraded"), "True/UnsupportedValue");
  EXPECT_EQ(world.message("Gateway", "egress", "Degraded"), kMessage);
  EXPECT_EQ(world.listenerCondition("egress", "web", "Programmed"), "False/UnsupportedValue");
  EXPECT_EQ(world.listenerCondition("egress", "web", "Accepted"), "True/Accepted");
  ASSERT_NE(world.listenerStatus("egress", "web"), nullptr);
  EXPECT_EQ(world.listenerStatus("egress", "web")->attachedRoutes, 1);
}

TEST(ClosingPolicies, CloseOneListenerByItsName) {
  const World world =
      worldWithPolicy(policyFor(std::string(kGatewayTarget) + ", sectionName: b"), std::string(kRoute),
                      gatewayWith("{name: a, protocol: HTTP, port: 80}, {name: b, protocol: HTTP, port: 81}"));
  EXPECT_EQ(world.outcome("a.test", "/", 80), "default/origin");
  EXPECT_EQ(world.outcome("a.test", "/", 81), "500");
  EXPECT_EQ(world.condition("Gateway", "egress", "Programmed"), "True/Programmed");
  EXPECT_EQ(world.listenerCondition("egress", "a", "Programmed"), "True/Programmed");
}

TEST(ClosingPolicies, CloseTheShareOfABackend) {
  const std::string rules =
      "rules: [" + ruleTo("origin", "/a") + ", " + ruleTo("other", "/b") +
      ", {matches: [{path: {value: /c}}], backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: other, "
      "port: 8080, weight: 1}, {group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080, weight: "
      "1}]}]";
  const World world = worldWithPolicy(policyFor(kBackendTarget), routeWithRules(rules));
  EXPECT_EQ(world.outcome("a.test", "/a"), "500");
  EXPECT_EQ(world.outcome("a.test", "/b"), "default/other");
  const routing::Rule* both = world.rule(test::RequestMaker("GET", "a.test", "/c"));
  ASSERT_NE(both, nullptr);
  EXPECT_FALSE(both->backends.at(0).failure);
  EXPECT_TRUE(both->backends.at(1).failure);
  EXPECT_EQ(world.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/UnsupportedValue");
  EXPECT_EQ(world.condition("Backend", "origin", "Accepted"), "True/Accepted");
  EXPECT_EQ(world.condition("Backend", "origin", "Programmed"), "False/Invalid");
  EXPECT_EQ(world.message("Backend", "origin", "Degraded"), kMessage);
  EXPECT_EQ(world.condition("Backend", "other", "Programmed"), "True/Programmed");
}

TEST(ClosingPolicies, CloseAServiceOrOneOfItsPorts) {
  const std::string service =
      "apiVersion: v1\nkind: Service\nmetadata: {name: origin}\nspec: {ports: [{name: web, port: 80}, {name: admin, "
      "port: 81}]}\n";
  const std::string rules =
      "rules: [{matches: [{path: {value: /web}}], backendRefs: [{name: origin, port: 80}]}, {matches: [{path: {value: "
      "/admin}}], backendRefs: [{name: origin, port: 81}]}, " +
      ruleTo("origin", "/backend") + "]";
  const std::string route = routeWithRules(rules);
  const auto outcomes = [&](const std::string& section) {
    const std::string policy =
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: p}\nspec: "
        "{targetRefs: [{group: '', kind: Service, name: origin" +
        section + "}]}\n";
    const World world({kClass, kGateway, kBackend, service, route, policy});
    return world.outcome("a.test", "/web") + " " + world.outcome("a.test", "/admin") + " " +
           world.outcome("a.test", "/backend");
  };
  EXPECT_EQ(outcomes(""), "500 500 default/origin");
  EXPECT_EQ(outcomes(", sectionName: admin"), "default/origin 500 default/origin");
  EXPECT_EQ(outcomes(", sectionName: '81'"), "default/origin 500 default/origin");
  EXPECT_EQ(outcomes(", sectionName: other"), "default/origin default/origin default/origin");
}

TEST(ClosingPolicies, CloseWhatTheirSelectorsSelect) {
  const std::string policy = policyWith("targetSelectors: [{kind: HTTPRoute, matchLabels: {team: a}}]");
  const std::string labelled = with(kRoute, "name: route,", "name: route, labels: {team: a},");
  EXPECT_EQ(worldWithPolicy(policy, labelled).outcome(), "500");
  EXPECT_EQ(worldWithPolicy(policy).outcome(), "default/origin");
  EXPECT_EQ(worldWithPolicy(with(policy, "name: p", "name: p, namespace: theirs"), labelled).outcome(),
            "default/origin");
}

TEST(ClosingPolicies, CloseNothingElse) {
  for (const std::string target :
       {"group: gateway.networking.k8s.io, kind: HTTPRoute, name: other",
        "group: gateway.networking.k8s.io, kind: GRPCRoute, name: route",
        "group: gateway.networking.k8s.io, kind: TCPRoute, name: route", "group: '', kind: Service, name: origin",
        "group: sluice.dev, kind: Backend, name: origin",
        "group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: other"}) {
    EXPECT_EQ(worldWithPolicy(policyFor(target)).outcome(), "default/origin") << target;
  }
  const std::string theirs =
      policyWith("targetRefs: [{" + std::string(kRouteTarget) + "}]", "name: p, namespace: theirs");
  EXPECT_EQ(worldWithPolicy(theirs).outcome(), "default/origin");
}

TEST(ClosingPolicies, CloseTheirTargetsEvenIfTheirSchemaRefusesThem) {
  const std::string broken = with(policyFor(kRouteTarget), "name: p", "name: p, lables: {}");
  const World world = worldWithPolicy(broken);
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("SecurityPolicy", "p", "Accepted"), "False/Invalid");
}

TEST(ClosingPolicies, CloseWhatAnIllegibleTargetCouldMean) {
  const World world = worldWithPolicy(policyFor("group: gateway.networking.k8s.io, knd: HTTPRoute, name: route"));
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.condition("SecurityPolicy", "p", "Accepted"), "False/Invalid");
  EXPECT_NE(world.message("SecurityPolicy", "p", "Accepted").find("that it could target answer 500"),
            std::string::npos);
}

/// Returns the outcomes of requests to a Gateway, a route, a Backend and a Service, in this order. The
/// target of the policy has the name of one of them.
std::string outcomesWith(const std::string& policy) {
  constexpr const char* kNamedService =
      "apiVersion: v1\nkind: Service\nmetadata: {name: shop, labels: {of: shop}}\nspec: {ports: [{port: 80}]}\n";
  const std::string backend = with(kBackend, "name: origin,", "name: origin, labels: {of: origin},");
  const std::string rules = "rules: [" + ruleTo("origin", "/backend") + ", " + ruleTo("other", "/other") +
                            ", {matches: [{path: {value: /service}}], backendRefs: [{name: shop, port: 80}]}]";
  const World world({kClass, kGateway, backend, otherBackend(), kNamedService, routeWithRules(rules), policy}, nullptr,
                    processing::BuiltinTypes());
  return world.outcome("a.test", "/other") + " " + world.outcome("a.test", "/backend") + " " +
         world.outcome("a.test", "/service");
}

struct NamingPolicy {
  const char* apiVersion;
  const char* kind;
  const char* spec;
};
/// The list has a policy of each kind that might target an object of an unknown kind.
constexpr NamingPolicy kNamingPolicies[] = {
    {"gateway.networking.k8s.io/v1", "BackendTLSPolicy",
     "validation: {hostname: a.test, wellKnownCACertificates: System}"},
    {"sluice.dev/v1alpha1", "TrafficPolicy", "retry: {attempts: 1}"},
    {"gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "tcpKeepalive: {}"},
    {"gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy", "retryConstraint: {budget: {percent: 20}}"},
    {"gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy", "extProc: []"},
    {"gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "jwt: {}"},
    {"gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "tls: {clientValidation: {optional: false}}"},
    {"sluice.dev/v1alpha1", "PayloadProcessor", "processors: [{name: a, type: 'a.b/K:v1', failOpen: true}]"}};

std::string namingPolicy(const NamingPolicy& policy, const std::string& named,
                         const std::string& field = "targetRefs") {
  return std::string("apiVersion: ") + policy.apiVersion + "\nkind: " + policy.kind +
         "\nmetadata: {name: p}\nspec:\n  " + field + ": [{" + named + "}]\n  " + policy.spec + "\n";
}
bool hasSelectors(const NamingPolicy& policy) {
  return std::string(policy.apiVersion) == "gateway.envoyproxy.io/v1alpha1";
}

TEST(ClosingPolicies, CloseWhateverHasTheNameOfATargetOfAnUnknownKind) {
  for (const NamingPolicy& each : kNamingPolicies) {
    const auto outcomes = [&](const std::string& target) { return outcomesWith(namingPolicy(each, target)); };
    const std::string group = "group: gateway.networking.k8s.io, ";
    EXPECT_EQ(outcomes(group + "kind: HTTPRout, name: nothing"), "default/other default/origin default/shop")
        << each.kind;
    EXPECT_EQ(outcomes(group + "kind: HTTPRout, name: route"), "500 500 500") << each.kind;
    EXPECT_EQ(outcomes("group: gateway.networking.k8s.oi, kind: HTTPRoute, name: route"), "500 500 500") << each.kind;
    EXPECT_EQ(outcomes(group + "kind: gateway, name: egress"), "500 500 500") << each.kind;
    EXPECT_EQ(outcomes(group + "kind: Gatewy, name: egress, sectionName: web"), "500 500 500") << each.kind;
    EXPECT_EQ(outcomes(group + "kind: Backnd, name: origin"), "default/other 500 default/shop") << each.kind;
    EXPECT_EQ(outcomes("group: '', kind: Servce, name: shop"), "default/other default/origin 500") << each.kind;
    EXPECT_EQ(outcomes("group: apps, kind: Deployment, name: shop"), "default/other default/origin 500") << each.kind;
    EXPECT_EQ(outcomes(group + "kind: TLSRoute, name: route"), "default/other default/origin default/shop")
        << each.kind << ": that kind exists, and nothing of it is served";
  }
}

TEST(ClosingPolicies, SayThatTheKindOfTheirTargetIsUnknownAndWhichOneIsNear) {
  const std::string misspelt = "group: gateway.networking.k8s.io, kind: HTTPRout, name: route";
  for (const NamingPolicy& each : kNamingPolicies) {
    const World world = worldWithPolicy(namingPolicy(each, misspelt));
    EXPECT_EQ(world.condition(each.kind, "p", "Accepted").substr(0, 6), "False/") << each.kind;
    EXPECT_NE(world.message(each.kind, "p", "Accepted").find("did you mean HTTPRoute of gateway.networking.k8s.io?"),
              std::string::npos)
        << each.kind << ": " << world.message(each.kind, "p", "Accepted");
    EXPECT_NE(world.message("HTTPRoute", "route", "Accepted")
                  .find(std::string(each.kind) +
                        " default/p: the kind of a target with this name, or these labels, is not known"),
              std::string::npos)
        << each.kind << ": " << world.message("HTTPRoute", "route", "Accepted");
  }
}

TEST(ClosingPolicies, CloseWhateverHasTheLabelsOfASelectorOfAnUnknownKind) {
  const std::string labelled = with(kRoute, "name: route,", "name: route, labels: {team: a},");
  for (const NamingPolicy& each : kNamingPolicies) {
    if (!hasSelectors(each)) continue;
    const std::string policy = namingPolicy(each, "kind: HTTPRout, matchLabels: {team: a}", "targetSelectors");
    EXPECT_EQ(worldWithPolicy(policy, labelled).outcome(), "500") << each.kind;
    EXPECT_EQ(worldWithPolicy(policy).outcome(), "default/origin") << each.kind;
    EXPECT_EQ(worldWithPolicy(policy, labelled).condition(each.kind, "p", "Accepted"), "False/Invalid") << each.kind;
    EXPECT_NE(worldWithPolicy(policy).message(each.kind, "p", "Accepted").find("did you mean HTTPRoute"),
              std::string::npos)
        << each.kind;
  }
}

TEST(ClosingPolicies, CloseWhatTheirKindIsNotFor) {
  EXPECT_EQ(outcomesWith(namingPolicy(kNamingPolicies[4], "group: '', kind: Service, name: shop")),
            "default/other default/origin 500");
  EXPECT_EQ(outcomesWith(namingPolicy(kNamingPolicies[4], kBackendTarget)), "default/other 500 default/shop");
  EXPECT_EQ(outcomesWith(namingPolicy(kNamingPolicies[7], "group: '', kind: Service, name: shop")),
            "default/other default/origin 500");
}

TEST(ClosingPolicies, CloseWhatTheirKindIsNotForIfTheySelectItToo) {
  const auto outcomes = [](const std::string& selector) {
    return outcomesWith(namingPolicy(kNamingPolicies[4], selector, "targetSelectors"));
  };
  EXPECT_EQ(outcomes("group: '', kind: Service, matchLabels: {of: shop}"), "default/other default/origin 500");
  EXPECT_EQ(outcomes("group: '', kind: Service, matchLabels: {of: origin}"),
            "default/other default/origin default/shop");
  EXPECT_EQ(outcomes("kind: Backend, matchLabels: {of: origin}"), "default/other 500 default/shop");
  const World world({kClass, kGateway, with(kBackend, "name: origin,", "name: origin, labels: {of: origin},"), kRoute,
                     namingPolicy(kNamingPolicies[4], "kind: Backend, matchLabels: {of: origin}", "targetSelectors")},
                    nullptr, processing::BuiltinTypes());
  EXPECT_EQ(world.condition("EnvoyExtensionPolicy", "p", "Accepted"), "False/Invalid");
  EXPECT_EQ(world.message("Backend", "origin", "Degraded"),
            "EnvoyExtensionPolicy default/p: policies of this kind are supported for Gateways and routes only");
}

TEST(ClosingPolicies, CloseWhatAnIllegibleSelectorCouldMean) {
  for (const NamingPolicy& each : kNamingPolicies) {
    if (!hasSelectors(each)) continue;
    const auto outcomes = [&](const std::string& selector) {
      return outcomesWith(namingPolicy(each, selector, "targetSelectors"));
    };
    EXPECT_EQ(outcomes("knd: Service, matchLabels: {of: shop}"), "default/other default/origin 500") << each.kind;
    EXPECT_EQ(outcomes("knd: Service, matchLabels: {of: none}"), "default/other default/origin default/shop")
        << each.kind;
    EXPECT_EQ(outcomes("group: 1, kind: Service, matchLabels: {of: shop}"), "default/other default/origin 500")
        << each.kind;
    EXPECT_EQ(outcomes("group: '', kind: Service, matchLabel: {of: none}"), "default/other default/origin 500")
        << each.kind;
    EXPECT_EQ(outcomes("kind: HTTPRoute, matchExpressions: [{key: of, operatr: Exists}]"), "500 500 500") << each.kind;
  }
}

TEST(ClosingPolicies, SelectInTheirOwnNamespaceAlone) {
  const std::string labelled = with(kRoute, "name: route,", "name: route, labels: {team: a},");
  for (const char* selector : {"kind: HTTPRoute, matchLabels: {team: a}", "kind: HTTPRout, matchLabels: {team: a}",
                               "knd: HTTPRoute, matchLabels: {team: a}"}) {
    const std::string policy = namingPolicy(kNamingPolicies[5], selector, "targetSelectors");
    EXPECT_EQ(worldWithPolicy(policy, labelled).outcome(), "500") << selector;
    EXPECT_EQ(worldWithPolicy(with(policy, "name: p", "name: p, namespace: theirs"), labelled).outcome(),
              "default/origin")
        << selector;
  }
}

std::string clientTrafficPolicy(const std::string& fields, const std::string& target = kGatewayTarget) {
  return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: p}\nspec: "
         "{targetRefs: [{" +
         target + "}], " + fields + "}\n";
}

TEST(ClosingPolicies, CloseListenersThatServeOnlyClientsWithCertificates) {
  const World closed = worldWithPolicy(clientTrafficPolicy("tls: {clientValidation: {optional: false}}"));
  EXPECT_EQ(closed.outcome(), "500");
  EXPECT_EQ(closed.condition("ClientTrafficPolicy", "p", "Accepted"), "False/Invalid");
  EXPECT_EQ(closed.message("ClientTrafficPolicy", "p", "Accepted"),
            "spec.tls.clientValidation: verifies clients without caCertificateRefs, which is not supported: the "
            "targets of the "
            "policy answer 500");
  EXPECT_EQ(closed.listenerCondition("egress", "web", "Programmed"), "False/UnsupportedValue");
}

TEST(ClosingPolicies, CloseListenersThatRefuseClients) {
  for (const char* restricting :
       {"tls: {minVersion: '1.3'}", "tls: {clientValidaton: {}}", "tls: {ciphers: [A]}", "tls: 1",
        "connection: {connectionLimit: {value: 1}}", "tsl: {clientValidation: {}}",
        "clientIPDetection: {customHeader: {name: x, failClosed: true}}",
        "clientIPDetection: {customHeader: {name: x, failClose: true}}", "clientIpDetection: {}",
        "headers: {withUnderscoresAction: RejectRequest}", "headers: {withUnderscoresAction: DropHeader}",
        "headers: {xForwardedClientCert: {}}", "headers: {xForwardedClientCert: {mode: Sanitize}}",
        "headers: {earlyRequestHeaders: {remove: [x]}}", "path: {escapedSlashesAction: RejectRequest}",
        "path: {escapedSlashesAction: UnescapeAndRedirect}", "enableProxyProtocol: true", "proxyProtocol: {}",
        "proxyProtocol: {optional: false}"}) {
    EXPECT_EQ(worldWithPolicy(clientTrafficPolicy(restricting)).outcome(), "500") << restricting;
  }
}

TEST(ClosingPolicies, CloseNothingIfTheyRestrictNothing) {
  for (const char* harmless :
       {"tls: {minVersion: '1.2', maxVersion: '1.3', alpnProtocols: [h2], session: {}}", "tcpKeepalive: {probes: 3}",
        "timeout: {http: {idleTimeout: 1s}}", "clientIPDetection: {xForwardedFor: {numTrustedHops: 1}}",
        "clientIPDetection: {customHeader: {name: x, failClosed: false}}", "headers: {withUnderscoresAction: Allow}",
        "headers: {requestID: Preserve, lateResponseHeaders: {remove: [x]}, enableEnvoyHeaders: true}",
        "headers: {xForwardedClientCert: {mode: AlwaysForwardOnly}}",
        "path: {escapedSlashesAction: KeepUnchanged, disableMergeSlashes: true}",
        "connection: {bufferLimit: 32Ki, socketBufferLimit: 32Ki, maxAcceptPerSocketEvent: 1}",
        "enableProxyProtocol: false", "proxyProtocol: {optional: true}", "http1: {enableTrailers: true}, http2: {}",
        "http3: {}, grpc: {}", "healthCheck: {path: /h}, scheme: Preserve"}) {
    const World open = worldWithPolicy(clientTrafficPolicy(harmless));
    EXPECT_EQ(open.outcome(), "default/origin") << harmless;
    EXPECT_EQ(open.condition("ClientTrafficPolicy", "p", "Accepted"), "False/Invalid") << harmless;
    EXPECT_NE(open.message("ClientTrafficPolicy", "p", "Accepted").find("restricts no clients, and has no effect"),
              std::string::npos)
        << harmless;
  }
}

TEST(ClosingPolicies, CloseNothingIfTheyRestrictNothingWhateverTheyName) {
  const std::string labelled = with(kGateway, "name: egress,", "name: egress, labels: {team: a},");
  const std::string refs = "targetRefs: [{" + std::string(kGatewayTarget) + "}]";
  for (const char* named : {"targetRefs: [{group: gateway.networking.k8s.io, kind: Gatewy, name: egress}]",
                            "targetRefs: [{group: gateway.networking.k8s.io, knd: Gateway, name: egress}]",
                            "targetSelectors: [{kind: Gatewy, matchLabels: {team: a}}]",
                            "targetSelectors: [{knd: Gateway, matchLabels: {team: a}}]"}) {
    const World open =
        worldWithPolicy(with(clientTrafficPolicy("http3: {}"), refs, named), std::string(kRoute), labelled);
    EXPECT_EQ(open.outcome(), "default/origin") << named;
    EXPECT_EQ(open.message("ClientTrafficPolicy", "p", "Accepted").find("500"), std::string::npos)
        << named << ": " << open.message("ClientTrafficPolicy", "p", "Accepted");
    EXPECT_NE(open.message("ClientTrafficPolicy", "p", "Accepted").find("no requests are refused"), std::string::npos)
        << named << ": " << open.message("ClientTrafficPolicy", "p", "Accepted");
    const World closed = worldWithPolicy(with(clientTrafficPolicy("tls: {clientValidation: {}}"), refs, named),
                                         std::string(kRoute), labelled);
    EXPECT_EQ(closed.outcome(), "500") << named;
  }
}

TEST(ClosingPolicies, ServeTheTargetAgainWhenTheyAreGone) {
  const World closed = worldWithPolicy(policyFor(kBackendTarget));
  ASSERT_EQ(closed.outcome(), "500");
  const World after({kClass, kGateway, kBackend, otherBackend(), kRoute}, &closed);
  EXPECT_EQ(after.outcome(), "default/origin");
}

TEST(ClosingPolicies, AreNamedTogetherInAnyOrder) {
  const std::string second = with(policyFor(kRouteTarget), "name: p", "name: a");
  const World one({kClass, kGateway, kBackend, kRoute, policyFor(kRouteTarget), second});
  const World two({kClass, kGateway, kBackend, kRoute, second, policyFor(kRouteTarget)});
  EXPECT_EQ(one.message("HTTPRoute", "route", "Accepted"), two.message("HTTPRoute", "route", "Accepted"));
  EXPECT_EQ(one.message("HTTPRoute", "route", "Accepted"),
            "SecurityPolicy default/a, SecurityPolicy default/p: policies of these kinds are not supported; its "
            "requests answer 500");
}

}  // namespace
}  // namespace sluice::compile
