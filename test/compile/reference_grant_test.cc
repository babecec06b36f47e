#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

std::string in(std::string_view nameSpace, std::string_view document) {
  const std::size_t name = document.find("metadata: {name: ");
  EXPECT_NE(name, std::string_view::npos);
  return std::string(document).insert(name + 11, "namespace: " + std::string(nameSpace) + ", ");
}

/// Returns a grant in the namespace `team` with these `from` and `to`.
std::string grant(const std::string& from, const std::string& to, std::string_view nameSpace = "team") {
  return in(nameSpace,
            "\napiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: grant}\nspec: {from: "
            "[{" +
                from + "}], to: [{" + to + "}]}\n");
}

constexpr const char* kFromRoutes = "group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: default";
constexpr const char* kToBackends = "group: gateway.networking.k8s.io, kind: Backend";

World routed(const std::vector<std::string>& grants) {
  const std::string backend = in("team", kBackend);
  const std::string route = with(kRoute, "name: origin", "name: origin, namespace: team");
  std::vector<std::string_view> documents = {kClass, kGateway, backend, route};
  documents.insert(documents.end(), grants.begin(), grants.end());
  return World(documents);
}

TEST(ReferenceGrant, LetsARouteUseABackendOfAnotherNamespace) {
  const World refused = routed({});
  EXPECT_EQ(refused.condition("HTTPRoute", "route", "ResolvedRefs"), "False/RefNotPermitted");
  EXPECT_EQ(refused.condition("HTTPRoute", "route", "Accepted"), "True/Accepted");
  EXPECT_EQ(refused.outcome(), "500");
  for (const std::string& given :
       {grant(kFromRoutes, kToBackends), grant(kFromRoutes, std::string(kToBackends) + ", name: origin")}) {
    const World permitted = routed({given});
    EXPECT_EQ(permitted.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
    EXPECT_EQ(permitted.outcome(), "team/origin");
  }
}

TEST(ReferenceGrant, PermitsOnlyTheReferencesThatItNames) {
  const std::string routes = kFromRoutes;
  const std::string backends = kToBackends;
  for (const std::string& given : {grant(with(routes, "namespace: default", "namespace: other"), backends),
                                   grant(with(routes, "HTTPRoute", "Gateway"), backends),
                                   grant(with(routes, "gateway.networking.k8s.io", "''"), backends),
                                   grant(routes, with(backends, "Backend", "XBackend")),
                                   grant(routes, with(backends, "gateway.networking.k8s.io", "sluice.dev")),
                                   grant(routes, backends + ", name: another"),
                                   grant(routes, "group: '', kind: Secret"), grant(routes, backends, "default"),
                                   grant(routes, backends, "other"), grant(routes, backends + ", surprise: 1")}) {
    const World world = routed({given});
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/RefNotPermitted") << given;
    EXPECT_EQ(world.outcome(), "500") << given;
  }
}

TEST(ReferenceGrant, DisclosesNothingAboutARefusedTarget) {
  const std::string route = with(kRoute, "name: origin", "name: origin, namespace: team");
  const World absent({kClass, kGateway, route});
  EXPECT_EQ(absent.message("HTTPRoute", "route", "ResolvedRefs"),
            routed({}).message("HTTPRoute", "route", "ResolvedRefs"));
}

TEST(ReferenceGrant, IsCombinedWithOthers) {
  EXPECT_EQ(routed({grant(kFromRoutes, "group: '', kind: Secret"),
                    with(grant(kFromRoutes, kToBackends), "name: grant", "name: second")})
                .outcome(),
            "team/origin");
}

TEST(ReferenceGrant, NeverLetsAnXBackendLeaveItsNamespace) {
  const std::string backend = in("team", R"(
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XBackend
metadata: {name: origin}
spec: {type: ExternalHostname, externalHostname: {hostname: origin.test}, port: {port: 443}}
)");
  const std::string route = with(kRoute, "group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080",
                                 "group: gateway.networking.x-k8s.io, kind: XBackend, name: origin, namespace: team");
  const std::string given = grant(kFromRoutes, "group: gateway.networking.x-k8s.io, kind: XBackend");
  const World world({kClass, kGateway, backend, route, given});
  EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/RefNotPermitted");
  EXPECT_EQ(world.outcome(), "500");
  EXPECT_EQ(world.status("XBackend", "origin")->parents.front().parentRef.object.kind, "GatewayClass")
      << "no Gateway uses it";
}

World listening(const std::string& given) {
  const std::string gateway =
      with(kGateway, "{name: web, protocol: HTTP, port: 80}",
           "{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: site, namespace: team}]}}");
  const std::string secret = in("team", test::keyPair("site", test::server()));
  return World({kClass, gateway, kBackend, kRoute, secret, given});
}

TEST(ReferenceGrant, LetsAListenerUseACertificateOfAnotherNamespace) {
  const std::string gateways = "group: gateway.networking.k8s.io, kind: Gateway, namespace: default";
  const World refused = listening(grant(kFromRoutes, "group: '', kind: Secret"));
  EXPECT_EQ(refused.listenerCondition("egress", "web", "ResolvedRefs"), "False/RefNotPermitted");
  EXPECT_EQ(refused.outcome(), "refused");
  const World permitted = listening(grant(gateways, "group: '', kind: Secret, name: site"));
  EXPECT_EQ(permitted.listenerCondition("egress", "web", "ResolvedRefs"), "True/ResolvedRefs");
  EXPECT_EQ(permitted.outcome(), "default/origin");
}

World mutual(const std::vector<std::string>& grants) {
  static const sluice::test::CertifiedKey client = sluice::test::issueClient(test::authority(), "me");
  const std::string backend =
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: origin}\nspec:\n  destination:\n    type: "
      "Fqdn\n"
      "    fqdn: {hostname: origin.test}\n    ports:\n      - number: 8080\n        protocol: HTTP\n        tls:\n"
      "          mode: Mutual\n          caBundleRef: [{kind: ConfigMap, name: ca, namespace: pki}, {kind: Secret, "
      "name: "
      "ca, namespace: pki}]\n          clientCertificateRef: {name: me, namespace: keys}\n";
  const std::string route = with(kRoute, "group: gateway.networking.k8s.io", "group: sluice.dev");
  const std::string authorities = in("pki", test::configMap("ca", "ca.crt", test::authority().certificate));
  const std::string more = in("pki", test::secret("ca", {{"ca.crt", test::authority().certificate}}));
  const std::string pair = in("keys", test::keyPair("me", client));
  std::vector<std::string_view> documents = {kClass, kGateway, backend, route, authorities, more, pair};
  documents.insert(documents.end(), grants.begin(), grants.end());
  return World(documents);
}

TEST(ReferenceGrant, LetsABackendUseBundlesAndCertificatesOfOtherNamespaces) {
  const std::string backends = "group: sluice.dev, kind: Backend, namespace: default";
  const std::string bundles = grant(backends, "group: '', kind: ConfigMap, name: ca", "pki");
  const std::string secrets = with(grant(backends, "group: '', kind: Secret", "pki"), "name: grant", "name: second");
  const std::string keys = grant(backends, "group: '', kind: Secret, name: me", "keys");
  EXPECT_EQ(mutual({bundles, secrets, keys}).outcome(), "default/origin");
  for (const auto& some : std::vector<std::vector<std::string>>{
           {},
           {bundles, secrets},
           {bundles, keys},
           {secrets, keys},
           {bundles, secrets, with(keys, "kind: Backend, namespace: default", "kind: Backend, namespace: keys")}}) {
    const World world = mutual(some);
    EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "False/RefNotPermitted");
    EXPECT_EQ(world.condition("Backend", "origin", "Available"), "False/Invalid");
    EXPECT_EQ(world.condition("HTTPRoute", "route", "ResolvedRefs"), "False/RefNotPermitted");
    EXPECT_EQ(world.outcome(), "500");
  }
}

}  // namespace
}  // namespace sluice::compile
