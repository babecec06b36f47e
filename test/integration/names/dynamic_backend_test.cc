// Tests Backends whose destinations are named by requests, through the binary: which names and ports they have, TLS for
// the name, policies, the address guard, and bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

std::string getAt(const std::string& host) { return "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"; }

/// A rule whose Backend is "any".
std::string routeToAny(const std::string& group = "sluice.dev") {
  return routeOfRules("    - backendRefs: [{group: " + group + ", kind: Backend, name: any}]\n");
}

std::string dynamicBackend(const std::string& hostnames, const std::string& ports) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: any}\n"
         "spec: {destination: {type: Dynamic, dynamic: {hostnames: [" +
         hostnames + "], ports: [" + ports + "]}}}\n";
}

std::string resolvingBackend() {
  return "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: any}\n"
         "spec: {type: DynamicResolver}\n";
}

/// A gateway with the Backend "any". The names a.test, b.sub.test and c.test have the address of the origin,
/// inner.test has a private one, and nothing listens at that of dead.test.
class DynamicBackend : public testing::Test {
 protected:
  void start(const std::string& documents, const std::string& group = "sluice.dev") {
    for (const char* name : {"a.test", "b.sub.test", "c.test"}) addName(name, "127.0.0.1");
    addName("inner.test", "10.0.0.1");
    addName("dead.test", "127.0.0.9");
    spec_.routes = routeToAny(group) + documents;
    gateway_ = std::make_unique<GatewayProcess>(spec_);
  }
  void startAt(const std::string& hostnames) { start(dynamicBackend(hostnames, "{number: " + port_ + "}")); }
  ReceivedResponse get(const std::string& host) const { return askRaw(gateway_->port(), getAt(host)); }
  int status(const std::string& host) const { return get(host).status; }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  const std::string port_ = std::to_string(origin_.port());
  GatewaySpec spec_;
  std::unique_ptr<GatewayProcess> gateway_;

 private:
  void addName(const std::string& name, const std::string& address) {
    spec_.backends.push_back({.name = "of-" + name, .hostname = name, .port = 9, .addresses = address});
  }
};

TEST_F(DynamicBackend, SendsRequestsWhereTheySay) {
  startAt("a.test, '*.sub.test'");
  EXPECT_EQ(get("a.test").body, "served");
  EXPECT_EQ(get("A.Test.:" + port_).body, "served");
  EXPECT_EQ(get("b.sub.test").body, "served");
  for (const std::string& head : origin_.heads()) EXPECT_THAT(head, HasSubstr(":" + port_ + "\r\n")) << "Host";
  EXPECT_THAT(origin_.heads().back(), HasSubstr("host: b.sub.test:" + port_ + "\r\n"));
  for (const std::string host : {"c.test", "sub.test", "a.test:1", "127.0.0.1", "localhost"}) {
    const ReceivedResponse refused = get(host);
    EXPECT_EQ(refused.status, 403) << host;
    EXPECT_THAT(refused.body, HasSubstr("\"code\":\"http_request_denied\"")) << host;
  }
  EXPECT_EQ(origin_.heads().size(), 3U);
  EXPECT_THAT(gateway_->accessLog(1).front(), HasSubstr("\"backend\":\"test/any\""));
}

TEST_F(DynamicBackend, MayBeAWildcardInPlaceOfAHostname) {
  start(
      "---\napiVersion: gateway.networking.k8s.io/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: any}\n"
      "spec: {destination: {type: FQDN, fqdn: {hostname: '*.sub.test', port: " +
          port_ + "}}}\n",
      "gateway.networking.k8s.io");
  EXPECT_EQ(get("b.sub.test").body, "served");
  EXPECT_EQ(status("sub.test"), 403);
  EXPECT_EQ(status("a.test"), 403);
}

TEST_F(DynamicBackend, IsStillGuarded) {
  startAt("'*.test'");
  const ReceivedResponse refused = get("inner.test");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("\"code\":\"destination_ip_prohibited\""));
  EXPECT_EQ(get("a.test").body, "served");
}

TEST_F(DynamicBackend, IsNotAtRestBecauseOfOneName) {
  startAt("'*.test'");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status("dead.test"), 503);
    EXPECT_EQ(get("a.test").body, "served");
  }
}

TEST_F(DynamicBackend, AsksAndVerifiesTheServerByTheNameOfTheRequest) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin secure(issueServer(root, "a.test"));
  spec_.backends.push_back({.name = "trust", .hostname = "trust.test", .port = 9, .ca = root.certificate});
  start(dynamicBackend("'*.test'",
                       "{number: " + std::to_string(secure.port()) + ", tls: {caBundleRef: [{name: trust-ca}]}}"));
  EXPECT_EQ(echoed(get("a.test").body, "sni"), "a.test");
  const ReceivedResponse refused = get("c.test");
  EXPECT_EQ(refused.status, 502);
  EXPECT_THAT(refused.body, HasSubstr("\"code\":\"tls_certificate_error\""));
}

TEST_F(DynamicBackend, IsJudgedByPoliciesWithTheNameThatIsDialled) {
  startAt("'*.test'");
  EXPECT_EQ(status("c.test"), 200);
  spec_.routes += egressPolicy("p", kGatewayTarget,
                               "rules: [" + allowing("a", "to: {hostnames: [a.test], ports: [" + port_ + "]}") + ", " +
                                   allowing("any-port", "to: {hostnames: [c.test]}") + "]");
  gateway_->reload(spec_);
  EXPECT_EQ(status("a.test"), 200);
  EXPECT_EQ(status("b.sub.test"), 403);
  EXPECT_EQ(status("c.test"), 403) << "of a destination that requests name, a rule without ports matches 443 alone";
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "a", "allowed"), 1));
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "default", "denied"), 2));
}

TEST_F(DynamicBackend, OfEnvoyGatewayGoesOnlyWherePoliciesSay) {
  start(resolvingBackend(), "gateway.envoyproxy.io");
  EXPECT_THAT(get("a.test:" + port_).body, HasSubstr("no egress policy covers the destination"));
  const std::string documents = spec_.routes;
  spec_.routes = documents + egressPolicy("open", kGatewayTarget, "default: Allow");
  gateway_->reload(spec_);
  EXPECT_EQ(status("a.test:" + port_), 403) << "it denies nothing by default";
  spec_.routes =
      documents + egressPolicy("p", kGatewayTarget,
                               "rules: [" + allowing("name", "to: {hostnames: [a.test], ports: [" + port_ + "]}") +
                                   ", " + allowing("net", "to: {cidrs: [127.0.0.1/32], ports: [" + port_ + "]}") + "]");
  gateway_->reload(spec_);
  EXPECT_EQ(status("a.test:" + port_), 200);
  EXPECT_EQ(status("127.0.0.1:" + port_), 200);
  EXPECT_EQ(status("127.0.0.2:" + port_), 403);
  EXPECT_EQ(status("[::1]:" + port_), 403);
  EXPECT_EQ(status("127.1:" + port_), 403);
  EXPECT_EQ(status("dead.test:" + port_), 403);
  EXPECT_EQ(status("a.test"), 403) << "port 80, which no rule gives";
}

TEST_F(DynamicBackend, IsExplained) {
  startAt("a.test, '*.sub.test'");
  const auto explained = [&](const std::string& host) {
    return gateway_->adminGet("/explain?output=text&header=Host:%20" + host + "&url=http://" + host + ":" +
                              std::to_string(gateway_->port()) + "/");
  };
  EXPECT_THAT(explained("a.test"), HasSubstr("goes to   a.test, port " + port_));
  EXPECT_THAT(explained("c.test"), HasSubstr("the backend sends no requests to this host"));
}

TEST(DynamicBackendBounds, MakeAFewDestinationsServeManyNames) {
  constexpr int kNames = 300;
  NameServer::Records records;
  for (int i = 0; i < kNames; ++i) records["n" + std::to_string(i) + ".many.test"] = {"127.0.0.1"};
  const NameServer names(records);
  const RawOrigin origin(RawOrigin::answering(saying("served")));
  GatewaySpec spec;
  spec.settings = limits("dynamicClusters: 16");
  spec.dns = "servers: [\"" + names.address() + "\"]";
  spec.routes = routeToAny() + dynamicBackend("'*.many.test'", "{number: " + std::to_string(origin.port()) + "}");
  const GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  for (int i = 0; i < kNames; ++i) {
    ASSERT_EQ(askRaw(client, getAt("n" + std::to_string(i) + ".many.test")).body, "served") << i;
  }
  EXPECT_TRUE(gateway.reaches("http_client_open_connections{backend=\"test/any\",http_connection_state=\"idle\"}", 1));
  EXPECT_TRUE(eventually([&] {
    return gateway.metric("http_client_open_connections{backend=\"test/any\",http_connection_state=\"idle\"}") <= 16;
  })) << "those of destinations that have given way are closed";
  const std::string metrics = gateway.metrics();
  EXPECT_THAT(metrics, HasSubstr("dns_lookup_duration_seconds_count{dns_question_name=\"test/any\""));
  EXPECT_EQ(metrics.find("many.test"), std::string::npos) << "no series has a name that a client has chosen";
}

TEST(DynamicBackendBounds, RefuseAnotherDestinationWhenAllHaveRequests) {
  HeldOrigin origin;
  GatewaySpec spec;
  for (const char* name : {"a.test", "b.test", "c.test", "d.test"}) {
    spec.backends.push_back({.name = std::string("of-") + name, .hostname = name, .port = 9});
  }
  spec.settings = limits("dynamicClusters: 4");
  spec.routes = routeToAny() + dynamicBackend("'*.test'", "{number: " + std::to_string(origin.port()) + "}");
  const GatewayProcess gateway(spec);
  std::vector<BlockingSocket> clients;
  for (const char* name : {"a.test", "b.test", "c.test"}) {
    clients.push_back(BlockingSocket::connect(gateway.port()));
    clients.back().send(getAt(name));
    ASSERT_TRUE(origin.wasAsked(clients.size()));
  }
  const ReceivedResponse refused = askRaw(gateway.port(), getAt("d.test"));
  EXPECT_EQ(refused.status, 503) << "the client leaves a quarter free";
  EXPECT_THAT(refused.body, HasSubstr("\"code\":\"connection_limit_reached\""));
  EXPECT_THAT(refused.body, HasSubstr("\"limit\":\"dynamicClusters\""));
  EXPECT_TRUE(gateway.limitWasHit("dynamicClusters"));
  for (std::size_t i = 0; i < clients.size(); ++i) origin.answer();
  for (BlockingSocket& client : clients) EXPECT_EQ(readResponse(client).status, 200);
  origin.answer();
  EXPECT_EQ(askRaw(gateway.port(), getAt("d.test")).status, 200);
}

}  // namespace
}  // namespace sluice::test
