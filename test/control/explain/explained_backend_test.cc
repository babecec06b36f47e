// Tests the part of an explanation about the Backends of a rule: destination, TLS, addresses, filters and bounds.
#include "proxy/control/explain/explained_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/control/explain/explanation_output.h"
#include "test/control/explain/explain_world.h"

namespace sluice::control {
namespace {

using test::explained;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string rulesWithBackend(const std::string& more) {
  return test::routeWithRules(
      "rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080" + more +
      "}]}]");
}

TEST(ExplainedBackends, NameTheDestinationAndLeaveNamesUnresolved) {
  const World world({test::kClass, test::kGateway, test::kBackend, rulesWithBackend(", weight: 3")});
  Explanation got = explained(world, "http://a.test/");
  ASSERT_EQ(got.backends.size(), 1U);
  ExplainedBackend& backend = got.backends[0];
  EXPECT_EQ(backend.name, "default/origin");
  EXPECT_EQ(backend.weight, 3U);
  EXPECT_EQ(backend.hostname, "origin.test");
  EXPECT_EQ(backend.port, 8080);
  EXPECT_EQ(backend.protocol, "HTTP/1.1");
  EXPECT_FALSE(backend.tls);
  EXPECT_TRUE(backend.unresolved);
  EXPECT_THAT(backend.addresses, IsEmpty());

  addResolved(backend, net::Addresses{*net::Address::parse("127.0.0.1", 0), *net::Address::parse("1.2.3.4", 0)},
              world.snapshot().addressGuard);
  EXPECT_FALSE(backend.unresolved);
  ASSERT_EQ(backend.addresses.size(), 2U);
  EXPECT_EQ(backend.addresses[0].addressClass, "loopback");
  EXPECT_FALSE(backend.addresses[0].permitted);
  EXPECT_EQ(backend.addresses[1].port, 8080);
  EXPECT_TRUE(backend.addresses[1].permitted);
}

TEST(ExplainedBackends, SayThatABackendGetsNoVia) {
  EXPECT_TRUE(explained(World({test::kClass, test::kGateway, test::kBackend, rulesWithBackend("")}), "http://a.test/")
                  .backends.at(0)
                  .sendsVia);
  const World without({test::kClass, test::kGateway, test::kBackend, rulesWithBackend(""),
                       "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\n"
                       "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}], "
                       "via: 'Off'}\n"});
  EXPECT_FALSE(explained(without, "http://a.test/").backends.at(0).sendsVia);
}

TEST(ExplainedBackends, SayWhyANameHasNoAddress) {
  ExplainedBackend backend;
  backend.unresolved = true;
  addResolved(backend, base::Error::upstream(base::ErrorType::kDnsError, "no such name"), routing::AddressGuard());
  EXPECT_FALSE(backend.unresolved);
  EXPECT_EQ(backend.resolutionFailure, "no such name");
}

TEST(ExplainedBackends, JudgeLiteralAddresses) {
  const World world({test::kClass, test::kGateway,
                     "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: origin}\n"
                     "spec: {destination: {type: Ip, ip: {address: 169.254.169.254}, ports: [{number: 8080}]}}\n",
                     test::with(test::kRoute, "group: gateway.networking.k8s.io", "group: sluice.dev")});
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_EQ(got.backends.size(), 1U);
  EXPECT_FALSE(got.backends[0].unresolved);
  ASSERT_EQ(got.backends[0].addresses.size(), 1U);
  EXPECT_EQ(got.backends[0].addresses[0].ip, "169.254.169.254");
  EXPECT_EQ(got.backends[0].addresses[0].addressClass, "metadata");
  EXPECT_FALSE(got.backends[0].addresses[0].permitted);
}

TEST(ExplainedBackends, ShowTheEndpointsOfAService) {
  const World world({test::kClass, test::kGateway,
                     "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {ports: [{port: 80}]}\n",
                     "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
                     "metadata: {name: shop-1, labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\n"
                     "ports: [{port: 9000}]\nendpoints: [{addresses: [10.1.2.3], zone: a}]\n",
                     test::routeWithRules("rules: [{backendRefs: [{name: shop, port: 80}]}]")});
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_EQ(got.backends.size(), 1U);
  EXPECT_EQ(got.backends[0].hostname, "");
  ASSERT_EQ(got.backends[0].addresses.size(), 1U);
  EXPECT_EQ(got.backends[0].addresses[0].ip, "10.1.2.3");
  EXPECT_EQ(got.backends[0].addresses[0].port, 9000);
  EXPECT_EQ(got.backends[0].addresses[0].addressClass, "private");
  EXPECT_EQ(got.backends[0].addresses[0].zone, "a");
  EXPECT_TRUE(got.backends[0].addresses[0].permitted) << "it is in the cluster";
  const content::Output output = explanationOutput(got);
  EXPECT_THAT(output.text, HasSubstr("  address   10.1.2.3 port 9000, private, zone a, permitted\n"));
  EXPECT_THAT(content::outputJson(output.value), HasSubstr(R"("class":"private","zone":"a","permitted":true)"));
}

TEST(ExplainedBackends, SayHowTlsIsVerified) {
  const World world({test::kClass, test::kGateway,
                     test::with(test::kBackend, "port: 8080}}",
                                "port: 8080}}, tls: {mode: Terminate, sni: front.test, subjectAltNames: [back.test], "
                                "insecureSkipVerify: false}"),
                     test::kRoute});
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_EQ(got.backends.size(), 1U);
  ASSERT_TRUE(got.backends[0].tls);
  EXPECT_EQ(got.backends[0].tls->mode, "Terminate");
  EXPECT_EQ(got.backends[0].tls->serverName, "front.test");
  EXPECT_TRUE(got.backends[0].tls->verified);
  EXPECT_EQ(got.backends[0].protocol, "HTTP/2 or HTTP/1.1, by ALPN");
}

TEST(ExplainedBackends, ListFiltersInTheirOrder) {
  const std::string edit =
      "RequestHeaderModifier, requestHeaderModifier: {set: [{name: authorization, value: secret}]}";
  const std::string answer = "ResponseHeaderModifier, responseHeaderModifier: {add: [{name: x-b, value: '1'}]}";
  const World world(
      {test::kClass, test::kGateway, test::kBackend,
       test::routeWithRules(
           "rules: [{filters: [{type: " + answer + "}, {type: " + edit +
           "}, {type: URLRewrite, urlRewrite: {hostname: new.test}}, {type: RequestMirror, requestMirror: "
           "{percent: 5, backendRef: {group: gateway.networking.k8s.io, kind: Backend, name: origin, port: "
           "8080}}}, {type: CORS, cors: {allowOrigins: ['*']}}], backendRefs: [{group: "
           "gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080, filters: [{type: " +
           answer + "}, {type: " + edit + "}]}]}]")});
  const Explanation got = explained(world, "http://a.test/");
  ASSERT_EQ(got.backends.size(), 1U);
  const std::vector<ExplainedFilter>& filters = got.backends[0].filters;
  EXPECT_THAT(test::filterNames(filters),
              ElementsAre("RequestHeaderModifier of rule", "RequestMirror of rule", "URLRewrite of rule",
                          "RequestHeaderModifier of backendRef", "ResponseHeaderModifier of rule",
                          "ResponseHeaderModifier of backendRef", "CORS of rule"));
  EXPECT_EQ(filters[0].effect, "set authorization") << "no value";
  EXPECT_EQ(filters[1].effect, "to default/origin, 5 of 100 requests");
  EXPECT_EQ(filters[2].effect, "hostname new.test");
}

TEST(ExplainedBackends, HaveTimeoutsAndAttempts) {
  const World world({test::kClass, test::kGateway, test::kBackend,
                     test::with(rulesWithBackend(""), "rules: [{",
                                "rules: [{timeouts: {request: 10s, backendRequest: 2s}, retry: {codes: [503, 500], "
                                "attempts: 2, backoff: 100ms}, ")});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(got.timeouts.request, std::chrono::seconds(10));
  EXPECT_EQ(got.timeouts.backendRequest, std::chrono::seconds(2));
  EXPECT_EQ(got.timeouts.connect, std::chrono::seconds(5));
  EXPECT_EQ(got.retry.attempts, 3U);
  EXPECT_THAT(got.retry.codes, ElementsAre(500, 503));
  EXPECT_EQ(got.retry.backoff, std::chrono::milliseconds(100));
}

TEST(ExplainedBackends, HaveWhatAPolicySaysOfConnections) {
  const World world({test::kClass, test::kGateway, test::kBackend, rulesWithBackend(""),
                     "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: "
                     "[{group: gateway.networking.k8s.io, kind: Gateway, name: egress}], timeout: {tcp: "
                     "{connectTimeout: 2s}}, dns: {lookupFamily: IPv6}}\n"});
  const Explanation got = explained(world, "http://a.test/");
  EXPECT_EQ(got.timeouts.connect, std::chrono::seconds(2));
  EXPECT_EQ(got.backends.at(0).dns.family, base::LookupFamily::kIpv6);
}

}  // namespace
}  // namespace sluice::control
