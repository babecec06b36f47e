// Tests that all references of an object are found, because the API server is asked only for objects that are referred
// to.
#include "proxy/kubernetes/objects/named_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load/load.h"
#include "config/load/object_set.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

NamedObjects namesIn(const std::string& yaml) {
  config::TextCache cache;
  return namedObjects(config::readTexts({config::SourceText{"a.yaml", yaml}}, {}, base::Secret("key"), cache));
}

std::string routeWith(const std::string& rule, const std::string& kind = "HTTPRoute") {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: " + kind +
         "\nmetadata: {namespace: demo, name: r}\nspec: {parentRefs: [{name: egress}], rules: [" + rule + "]}\n";
}

std::string settingsWith(const std::string& settings) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: ours}\nspec: {controllerName: "
         "sluice.dev/egress-gateway, parametersRef: {group: \"\", kind: ConfigMap, namespace: sys, name: settings}}\n"
         "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: sys, name: settings}\ndata: {settings.yaml: \"" +
         settings + "\"}\n";
}

TEST(ObjectNames, AreNoneInNothing) { EXPECT_EQ(namesIn("---\n"), NamedObjects()); }

TEST(ObjectNames, AreThoseOfServicesAndNotOfBackends) {
  const NamedObjects names = namesIn(routeWith(
      "{backendRefs: [{name: shop, port: 80}, {name: far, namespace: other, port: 80}, {kind: Service, name: kind, "
      "port: 80}, {group: gateway.networking.k8s.io, kind: Backend, name: none}]}"));
  EXPECT_THAT(names.services, ElementsAre(Pair("demo", "kind"), Pair("demo", "shop"), Pair("other", "far")));
  EXPECT_THAT(names.secrets, IsEmpty());
  EXPECT_THAT(names.configMaps, IsEmpty());
  EXPECT_THAT(namesIn(routeWith("{backendRefs: [{name: calls, port: 80}]}", "GRPCRoute")).services,
              ElementsAre(Pair("demo", "calls")));
}

TEST(ObjectNames, AreNamesThatAnObjectMayHave) {
  const auto secretsWith = [](const std::string& secretRef) {
    return namesIn(
               "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: demo, name: "
               "p}\nspec: {processors: [{name: a, type: 'gateway.networking.k8s.io/CredentialInjector:v1', phase: "
               "request-headers, "
               "config: {secretRef: {" +
               secretRef + "}}}]}\n")
        .secrets;
  };
  EXPECT_THAT(secretsWith("name: good"), ElementsAre(Pair("demo", "good")));
  EXPECT_THAT(secretsWith("name: '" + std::string(254, 'a') + "'"), IsEmpty());
  EXPECT_THAT(secretsWith("name: 'a/../b'"), IsEmpty());
  EXPECT_THAT(secretsWith("name: good, namespace: 'x/y'"), IsEmpty());
}

TEST(ObjectNames, AreThoseOfMirrorsOfARuleAndOfABackendRef) {
  const std::string mirror = "{type: RequestMirror, requestMirror: {backendRef: {name: NAME, port: 80}}}";
  const auto named = [&](const std::string& name) {
    std::string text = mirror;
    return text.replace(text.find("NAME"), 4, name);
  };
  EXPECT_THAT(namesIn(routeWith("{filters: [" + named("copy") + "]}")).services, ElementsAre(Pair("demo", "copy")));
  EXPECT_THAT(namesIn(routeWith("{backendRefs: [{name: shop, port: 80, filters: [" + named("inner") + "]}]}")).services,
              testing::Contains(Pair("demo", "inner")));
}

TEST(ObjectNames, AreThoseOfListenersCertificates) {
  const NamedObjects names = namesIn(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: g}\nspec:\n"
      "  gatewayClassName: ours\n  listeners:\n"
      "  - {name: a, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: one}, {name: two, namespace: "
      "other}]}}\n"
      "  - {name: b, protocol: HTTPS, port: 444, tls: {certificateRefs: [{kind: Secret, name: three}]}}\n");
  EXPECT_THAT(names.secrets, ElementsAre(Pair("demo", "one"), Pair("demo", "three"), Pair("other", "two")));
}

/// Returns a Gateway in `demo` that verifies clients by these references, and those of one port by others.
std::string gatewayVerifyingBy(const std::string& refs, const std::string& ofPort) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
         "  gatewayClassName: ours\n  tls: {frontend: {default: {validation: {caCertificateRefs: [" +
         refs + "]}}, perPort: [{port: 8443, tls: {validation: {caCertificateRefs: [" + ofPort +
         "]}}}, {port: 9443, tls: {}}]}}\n"
         "  listeners: [{name: a, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: one}]}}]\n";
}

TEST(ObjectNames, AreThoseOfTheAuthoritiesOfAListenersClients) {
  const NamedObjects names = namesIn(gatewayVerifyingBy(
      "{group: '', kind: ConfigMap, name: ca}, {group: '', kind: Secret, name: more, namespace: other}",
      "{group: '', kind: ConfigMap, name: port, namespace: other}, {group: a.test, kind: ConfigMap, name: none}"));
  EXPECT_THAT(names.configMaps, ElementsAre(Pair("demo", "ca"), Pair("other", "port")));
  EXPECT_THAT(names.secrets, ElementsAre(Pair("demo", "one"), Pair("other", "more")));
}

TEST(ObjectNames, AreThoseOfAClientTrafficPolicysAuthoritiesAndLists) {
  const NamedObjects names = namesIn(
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {namespace: demo, name: p}\n"
      "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], tls: {clientValidation: "
      "{caCertificateRefs: [{kind: ConfigMap, name: ca}, {name: more, namespace: other}], crl: {refs: [{name: "
      "lists}]}}}}\n");
  EXPECT_THAT(names.configMaps, ElementsAre(Pair("demo", "ca")));
  EXPECT_THAT(names.secrets, ElementsAre(Pair("demo", "lists"), Pair("other", "more")));
}

TEST(ObjectNames, AreThoseOfABackendsAuthoritiesCertificateAndProcessors) {
  const NamedObjects names = namesIn(
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: b}\nspec:\n"
      "  destination: {type: FQDN, fqdn: {hostname: api.example.com, port: 443}}\n"
      "  tls: {mode: Mutual, caBundleRef: {name: ca}, clientCertificateRef: {name: client}}\n"
      "  extensions:\n  - {name: key, type: 'gateway.networking.k8s.io/CredentialInjector:v1', config: {secretRef: "
      "{name: token}}}\n");
  EXPECT_THAT(names.configMaps, ElementsAre(Pair("demo", "ca")));
  EXPECT_THAT(names.secrets, ElementsAre(Pair("demo", "client"), Pair("demo", "token")));
}

TEST(ObjectNames, AreThoseOfATlsPolicysAuthoritiesEvenIfItIsRefused) {
  for (const std::string more : {"", ", surprise: 1"}) {
    const NamedObjects names = namesIn(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {namespace: demo, name: p}\n"
        "spec: {targetRefs: [{group: '', kind: Service, name: s}], validation: {hostname: a.test, caCertificateRefs: "
        "[{group: '', kind: ConfigMap, name: ca}, {group: '', kind: Secret, name: more}]" +
        more + "}}\n");
    EXPECT_THAT(names.configMaps, ElementsAre(Pair("demo", "ca")));
    EXPECT_THAT(names.secrets, ElementsAre(Pair("demo", "more")));
    EXPECT_TRUE(names.services.empty()) << "only routes lead to Services";
  }
}

TEST(ObjectNames, AreThoseOfAnEgressPolicysPasswordsEvenIfItIsRefused) {
  const auto secretsOf = [](const std::string& ref, const std::string& more) {
    return namesIn(
               "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {namespace: demo, name: p}\nspec: "
               "{targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], clientAuthentication: "
               "{basic: "
               "{secretRef: {" +
               ref + "}}}" + more + "}\n")
        .secrets;
  };
  for (const std::string more : {"", ", surprise: 1"}) {
    EXPECT_THAT(secretsOf("name: users", more), ElementsAre(Pair("demo", "users")));
    EXPECT_THAT(secretsOf("name: users, namespace: keys", more), ElementsAre(Pair("keys", "users")));
  }
}

TEST(ObjectNames, AreThoseInTheConfigOfProcessorsWhereverTheyAreAttached) {
  const std::string uses =
      "[{name: key, type: 'gateway.networking.k8s.io/CredentialInjector:v1', phase: request-headers, config: "
      "{secretRef: {name: "
      "token, "
      "namespace: vault}}}, {name: ask, type: 'sluice.dev/ExtProc:v1', phase: request-headers, config: {backendRefs: "
      "[{name: judge, port: 80}]}}]";
  for (const std::string& object :
       {"apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: demo, name: p}\nspec: "
        "{processors: " +
            uses + "}\n",
        "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: demo, name: p}\nspec: "
        "{targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, processors: " +
            uses + "}\n"}) {
    const NamedObjects names = namesIn(object);
    EXPECT_THAT(names.secrets, ElementsAre(Pair("vault", "token"))) << object;
    EXPECT_THAT(names.services, ElementsAre(Pair("demo", "judge"))) << object;
  }
}

/// Returns a pipeline whose only use has this type and config.
std::string useWith(const std::string& type, const std::string& config) {
  return "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessingPipeline\nmetadata: {namespace: demo, name: "
         "p}\nspec: "
         "{processors: [{name: a, type: '" +
         type + "', phase: request-headers, config: " + config + "}]}\n";
}

/// Returns this number of items, which begin with `item` and a number.
std::string repeated(const std::string& item, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + item + std::to_string(i) + "}";
  return list;
}

TEST(ObjectNames, AreOnlyThoseInFieldsThatTheTypeOfAUseDeclares) {
  const std::string injector = "gateway.networking.k8s.io/CredentialInjector:v1";
  const std::string many = "{list: [" + repeated("{secretRef: {name: a}, number: ", 2000) + "]}";
  for (const std::string& text :
       {useWith(injector, many), useWith(injector, "{inner: {secretRef: {name: a}}, backendRefs: [{name: b}]}"),
        useWith("acme.test/Any:v1", "{secretRef: {name: a}, configMapRef: {name: c}, backendRefs: [{name: b}]}"),
        useWith("sluice.dev/ExtProc:v1", "{secretRef: {name: a}, context: {backendRefs: [{name: b}]}}"),
        useWith("sluice.dev/ExtProc:v1", "{backendRefs: [{group: '', kind: Secret, name: a}]}")}) {
    EXPECT_EQ(namesIn(text), NamedObjects()) << text.substr(0, 300);
  }
}

TEST(ObjectNames, AreNoneOfAUseThatHasTooMany) {
  const auto servers = [](int count) {
    return useWith("sluice.dev/ExtProc:v1", "{backendRefs: [" + repeated("{name: s", count) + "]}");
  };
  EXPECT_EQ(namesIn(servers(64)).services.size(), 64U);
  EXPECT_THAT(namesIn(servers(65)).services, IsEmpty());
  const std::string settings = settingsWith("{limits: {references: 65}}") + "---\n";
  EXPECT_EQ(namesIn(settings + servers(65)).services.size(), 65U);
  EXPECT_EQ(namesIn(servers(65) + "---\n" + settings).services.size(), 65U);
  const std::string padded = "{backendRefs: [{name: s}], context: {a: " + std::string(300000, 'x') + "}}";
  EXPECT_THAT(namesIn(useWith("sluice.dev/ExtProc:v1", padded)).services, IsEmpty()) << "limits.configBytes";
}

TEST(ObjectNames, AreThoseOfTheServersOfExternalAuthorization) {
  EXPECT_THAT(namesIn(routeWith("{filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, backendRef: {name: "
                                "judge, port: 80}}}]}"))
                  .services,
              ElementsAre(Pair("demo", "judge")));
}

TEST(ObjectNames, AreThoseOfTheClassesParametersAndWhatTheseName) {
  const NamedObjects names = namesIn(
      settingsWith("{processorCatalogs: [{namespace: cat, name: types}], sessionPersistence: {secretRef: "
                   "{namespace: sys, name: cookie}}, revisions: {keyRef: {namespace: sys, name: digest}}}") +
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: cat, name: types}\ndata:\n"
      "  a.yaml: \"{type: 'acme.test/Pii:v2', engine: lua, phases: [request-body], schemaRef: {name: near}, lua: "
      "{scriptRef: {name: script}}}\"\n"
      "  b.yaml: \"{type: 'acme.test/Pii:v3', engine: lua, phases: [request-body], schemaRef: {name: far, "
      "namespace: other}, lua: {scriptRef: {name: script, namespace: other}}}\"\n");
  EXPECT_THAT(names.configMaps, ElementsAre(Pair("cat", "near"), Pair("cat", "script"), Pair("cat", "types"),
                                            Pair("other", "far"), Pair("other", "script"), Pair("sys", "settings")));
  EXPECT_THAT(names.secrets, ElementsAre(Pair("sys", "cookie"), Pair("sys", "digest")));
}

TEST(ObjectNames, AreThoseOfTheClassEvenIfItsParametersAreMissingOrBroken) {
  const std::string text = settingsWith("{workers: [}");
  EXPECT_THAT(namesIn(text).configMaps, ElementsAre(Pair("sys", "settings")));
  EXPECT_THAT(namesIn(text.substr(0, text.find("---"))).configMaps, ElementsAre(Pair("sys", "settings")));
}

TEST(ObjectNames, AreNotThoseOfAnotherControllersClass) {
  EXPECT_THAT(namesIn("apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: "
                      "theirs}\nspec: {controllerName: acme.test/other, parametersRef: {group: \"\", kind: ConfigMap, "
                      "namespace: sys, name: settings}}\n")
                  .configMaps,
              IsEmpty());
}

TEST(ObjectNames, AreStillFoundInARouteThatItsSchemaRefuses) {
  EXPECT_THAT(
      namesIn(routeWith("{matches: [{path: {type: Nonsense}}], backendRefs: [{name: shop, port: 80}]}")).services,
      ElementsAre(Pair("demo", "shop")));
}

TEST(ObjectNames, AreTheSameWhicheverTextComesFirst) {
  const std::string settings = settingsWith("{processorCatalogs: [{namespace: cat, name: types}]}");
  const std::string catalog =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: cat, name: types}\ndata:\n"
      "  a.yaml: \"{type: 'acme.test/Pii:v2', engine: lua, phases: [request-body], schemaRef: {name: near}, "
      "lua: {scriptRef: {name: script}}}\"\n";
  EXPECT_EQ(namesIn(settings + "---\n" + catalog), namesIn(catalog + "---\n" + settings));
}

const NamedGateway kGatewayOfRoutes{"Gateway", "demo", "egress"};

/// Returns the references of the Gateway demo/egress, of its route demo/r and of the further objects, if that route is
/// admitted.
NamesOfGateways namesWith(const std::string& more,
                          const compile::RoutesOfGateways::mapped_type& admitted = {{"HTTPRoute", "demo", "r"}}) {
  const auto backend = [](const std::string& nameSpace, const std::string& name) {
    return "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: " + nameSpace +
           ", name: " + name +
           "}\nspec: {destination: {type: FQDN, fqdn: {hostname: a.test, port: 443}}, tls: {caBundleRef: {name: ca-" +
           name + "}}}\n";
  };
  const std::string yaml =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec: "
      "{gatewayClassName: ours, listeners: [{name: a, port: 80, protocol: HTTP}]}\n---\n" +
      routeWith(
          "{backendRefs: [{group: sluice.dev, kind: Backend, name: near}, {group: sluice.dev, kind: Backend, "
          "name: not-granted, namespace: other}]}") +
      backend("demo", "near") + backend("demo", "unused") + backend("other", "not-granted") + backend("tenant", "own") +
      more;
  config::TextCache cache;
  const config::ObjectSet set = config::readTexts({config::SourceText{"a.yaml", yaml}}, {}, base::Secret("key"), cache);
  return namesOfGateways(set, config::load(set, nullptr).model, {}, {{kGatewayOfRoutes, admitted}});
}

/// A route of another namespace with these parents and this reference.
std::string routeOfTenant(const std::string& parents, const std::string& ref) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: tenant, name: "
         "t}\nspec: {" +
         parents + "rules: [{backendRefs: [" + ref + "]}]}\n";
}

TEST(NamesOfGatewaysOnly, AreThoseThatTheirRoutesReach) {
  const NamesOfGateways names = namesWith("");
  EXPECT_THAT(names.common.configMaps, IsEmpty());
  EXPECT_THAT(names.own.at(kGatewayOfRoutes).configMaps, ElementsAre(Pair("demo", "ca-near")));
  EXPECT_THAT(names.reached.at(kGatewayOfRoutes), ElementsAre("demo"));
}

TEST(NamesOfGatewaysOnly, AreThoseOfRoutesThatTheyHaveAdmitted) {
  const std::string parent = "parentRefs: [{name: egress, namespace: demo}], ";
  const std::string own = "{group: sluice.dev, kind: Backend, name: own}";
  const NamesOfGateways refused = namesWith(routeOfTenant(parent, own));
  EXPECT_THAT(refused.own.at(kGatewayOfRoutes).configMaps, ElementsAre(Pair("demo", "ca-near")));
  EXPECT_THAT(refused.reached.at(kGatewayOfRoutes), ElementsAre("demo"));
  EXPECT_THAT(namesWith("", {}).own.at(kGatewayOfRoutes).configMaps, IsEmpty());
  const NamesOfGateways admitted =
      namesWith(routeOfTenant(parent, own), {{"HTTPRoute", "demo", "r"}, {"HTTPRoute", "tenant", "t"}});
  EXPECT_THAT(admitted.own.at(kGatewayOfRoutes).configMaps,
              ElementsAre(Pair("demo", "ca-near"), Pair("tenant", "ca-own")));
  EXPECT_THAT(admitted.reached.at(kGatewayOfRoutes), ElementsAre("demo", "tenant"));
}

TEST(NamesOfGatewaysOnly, AreNotThoseOfRoutesWithoutParents) {
  const std::string mirror =
      "{name: s, port: 80, filters: [{type: RequestMirror, requestMirror: {backendRef: {group: '', kind: ConfigMap, "
      "name: mirrored}}}]}";
  for (const std::string& ref : {std::string("{group: '', kind: ConfigMap, name: map}"), mirror}) {
    const NamesOfGateways names = namesWith(routeOfTenant("", ref));
    EXPECT_EQ(names.common, NamedObjects()) << ref;
    EXPECT_THAT(names.own.at(kGatewayOfRoutes).configMaps, ElementsAre(Pair("demo", "ca-near"))) << ref;
  }
}

TEST(ObjectNames, AreNoSecretsAndConfigMapsWhereRequestsAreSent) {
  for (const char* kind : {"ConfigMap", "Secret"}) {
    const std::string ref = "{group: '', kind: " + std::string(kind) + ", name: a, port: 80}";
    const std::string mirror = "{type: RequestMirror, requestMirror: {backendRef: " + ref + "}}";
    EXPECT_EQ(namesIn(routeWith("{filters: [" + mirror + "], backendRefs: [" + ref + "]}")), NamedObjects()) << kind;
  }
}

TEST(NamesOfGatewaysOnly, AreThoseOfTheAuthoritiesOfTheirClientsThatAreGranted) {
  const std::string yaml = gatewayVerifyingBy("{group: '', kind: ConfigMap, name: ca}",
                                              "{group: '', kind: ConfigMap, name: port, namespace: other}");
  const std::string grant =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: other, name: "
      "g}\nspec: "
      "{from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: demo}], to: [{group: '', kind: "
      "ConfigMap}]}\n";
  const auto configMapsWith = [&](const std::string& more) {
    config::TextCache cache;
    const config::ObjectSet set =
        config::readTexts({config::SourceText{"a.yaml", yaml + more}}, {}, base::Secret("key"), cache);
    const NamesOfGateways names = namesOfGateways(set, config::load(set, nullptr).model, {}, {});
    return names.own.at(kGatewayOfRoutes).configMaps;
  };
  EXPECT_THAT(configMapsWith(""), ElementsAre(Pair("demo", "ca")));
  EXPECT_THAT(configMapsWith(grant), ElementsAre(Pair("demo", "ca"), Pair("other", "port")));
}

/// Returns the Secrets that a Gateway in `demo` may read, if its class has this trust and settings that name a key, and
/// the compilation has found demo/in-use for it.
NamedObjects::Names secretsOfTheGatewayWith(const std::string& provisioning) {
  const std::string yaml =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec: "
      "{gatewayClassName: ours, listeners: [{name: a, port: 80, protocol: HTTP}]}\n---\n" +
      settingsWith("{sessionPersistence: {secretRef: {namespace: keys, name: of-class}}, provisioning: {" +
                   provisioning + "}}");
  config::TextCache cache;
  config::ObjectSet set = config::readTexts({config::SourceText{"a.yaml", yaml}}, {}, base::Secret("key"), cache);
  set.keeping.controllerNamespace = "sluice-system";
  const NamesOfGateways names = namesOfGateways(set, config::load(set, nullptr).model,
                                                {{{"Gateway", "demo", "egress"}, {{"demo", "in-use"}}}}, {});
  EXPECT_THAT(names.common.secrets, IsEmpty());
  return names.own.at({"Gateway", "demo", "egress"}).secrets;
}

TEST(NamesOfGatewaysOnly, HaveTheKeysOfTheClassIfTheyAreTrusted) {
  EXPECT_THAT(secretsOfTheGatewayWith(""), ElementsAre(Pair("demo", "in-use")));
  EXPECT_THAT(secretsOfTheGatewayWith("trustedNamespaces: [demo]"),
              ElementsAre(Pair("demo", "in-use"), Pair("keys", "of-class")));
}

TEST(ObjectNames, AreThoseOfDerivedKeysInPlaceOfTheClasses) {
  config::TextCache cache;
  config::ObjectSet set = config::readTexts(
      {config::SourceText{"a.yaml", settingsWith("{sessionPersistence: {secretRef: {namespace: keys, name: a}}, "
                                                 "revisions: {keyRef: {namespace: keys, name: b}}}")}},
      {}, base::Secret("key"), cache);
  EXPECT_THAT(namedObjects(set).secrets, ElementsAre(Pair("keys", "a"), Pair("keys", "b")));
  set.keeping.classKeys = {"demo", "egress-ours-keys"};
  EXPECT_THAT(namedObjects(set).secrets, ElementsAre(Pair("demo", "egress-ours-keys")));
}

}  // namespace
}  // namespace sluice::kubernetes
