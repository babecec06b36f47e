// Tests listeners that are forward proxies, through the binary: the forms of requests, routes, destinations that
// clients name, policies, and the address guard. Tunnels are in tunnels_test.cc.
#include "test/integration/proxy/forward_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class AbsoluteFormProxy : public testing::Test {
 protected:
  void allowOrigin() {
    proxy_.allow(allowingHost("a", "a.test", origin_.port()));
    proxy_.start();
  }
  ReceivedResponse get(const std::string& target, const std::string& fields = "Host: other.test\r\n") const {
    return askRaw(proxy_.port, "GET " + target + " HTTP/1.1\r\n" + fields + "\r\n");
  }
  std::string at(const std::string& host, const std::string& path = "/") const {
    return "http://" + host + ":" + std::to_string(origin_.port()) + path;
  }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  ForwardProxy proxy_;
};

TEST_F(AbsoluteFormProxy, GoesToTheDestinationThatItNames) {
  allowOrigin();
  EXPECT_EQ(get(at("a.test", "/x?y=z")).body, "served");
  const std::string host = "a.test:" + std::to_string(origin_.port());
  EXPECT_THAT(origin_.heads().front(), testing::StartsWith("GET /x?y=z HTTP/1.1\r\nhost: " + host + "\r\n"))
      << "the request-target replaces Host";
  EXPECT_THAT(proxy_.gateway->accessLog(1).front(), HasSubstr("\"way\":\"absolute\""));
}

TEST_F(AbsoluteFormProxy, CarriesNoFieldsOfTheConnectionOn) {
  allowOrigin();
  const std::string fields =
      "Host: a.test\r\nProxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\n"
      "Connection: keep-alive, x-hop\r\nX-Hop: 1\r\nAuthorization: Bearer own\r\n";
  EXPECT_EQ(get(at("a.test"), fields).body, "served");
  const std::string head = origin_.heads().front();
  EXPECT_THAT(head, Not(HasSubstr("roxy-")));
  EXPECT_THAT(head, Not(HasSubstr("hop")));
  EXPECT_THAT(head, HasSubstr("Authorization: Bearer own")) << "the client's own credentials are for the destination";
}

TEST_F(AbsoluteFormProxy, IsClosedWithoutAPolicy) {
  proxy_.start();
  const ReceivedResponse refused = get(at("a.test"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("no egress policy covers the destination that the request names"));
  EXPECT_TRUE(origin_.heads().empty());
  EXPECT_THAT(proxy_.gateway->adminGet("/status"), HasSubstr("no EgressPolicy in mode Enforce covers it"));
}

TEST_F(AbsoluteFormProxy, IsDeniedByPoliciesAndTheGuard) {
  proxy_.allow(allowingHost("all", "'*.test'", origin_.port()));
  proxy_.start();
  EXPECT_EQ(get(at("a.test")).status, 200);
  const ReceivedResponse inner = get(at("inner.test"));
  EXPECT_EQ(inner.status, 403);
  EXPECT_THAT(inner.body, HasSubstr("destination_ip_prohibited"));
  for (const std::string& target : {at("127.0.0.1"), at("[::1]"), std::string("http://a.test/")}) {
    const ReceivedResponse refused = get(target);
    EXPECT_EQ(refused.status, 403) << target;
    EXPECT_THAT(refused.body, HasSubstr("http_request_denied")) << target;
  }
}

TEST_F(AbsoluteFormProxy, IsAskedForWhereOriginFormComes) {
  allowOrigin();
  for (const std::string target : {"/", "*", "a.test", "ftp://a.test/", "http:///x"}) {
    EXPECT_EQ(get(target, "Host: a.test\r\n").status, 400) << target;
  }
  EXPECT_THAT(get("/", "Host: a.test\r\n").body, HasSubstr("a forward proxy takes requests in absolute form"));
  EXPECT_EQ(get(at("a.test"), "").status, 400) << "HTTP/1.1 needs a Host";
  EXPECT_EQ(get(at("a.test"), "Host: a\r\nHost: b\r\n").status, 400);
}

TEST_F(AbsoluteFormProxy, IsTakenByRoutesFirst) {
  allowOrigin();
  for (const char* target : {"http://routed.test/x", "http://%72outed%2Etest:/x"}) {
    const ReceivedResponse redirected = get(target);
    EXPECT_EQ(redirected.status, 302) << target;
    EXPECT_THAT(redirected.head, HasSubstr("location: http://elsewhere.test/x\r"));
  }
  EXPECT_EQ(get(at("a.test")).status, 200);
}

TEST_F(AbsoluteFormProxy, IsBoundedByTheHostnamesOfListeners) {
  proxy_.spec.listeners = proxy_.listenerOf("HTTPPROXY", ", hostname: '*.inside.test'");
  proxy_.addName("a.inside.test", "127.0.0.1");
  proxy_.spec.routes = "";
  proxy_.allow(allowingHost("all", "'*.test'", origin_.port()));
  proxy_.start();
  EXPECT_EQ(get(at("a.inside.test")).status, 200);
  const ReceivedResponse refused = get(at("a.test"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("no listener of this forward proxy leads to this host"));
}

TEST_F(AbsoluteFormProxy, ComesOverHttp2Too) {
  allowOrigin();
  H2Client client(proxy_.port);
  const std::string authority = "a.test:" + std::to_string(origin_.port());
  client.send(
      h2::headers(1, {{":method", "GET"}, {":scheme", "http"}, {":authority", authority}, {":path", "/"}}, true));
  ASSERT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "200");
  client.send(
      h2::headers(3, {{":method", "GET"}, {":scheme", "ftp"}, {":authority", authority}, {":path", "/"}}, true));
  ASSERT_TRUE(client.readStream(3));
  EXPECT_EQ(client.status(3), "400");
}

TEST_F(AbsoluteFormProxy, OfHttpsIsVerifiedByTheSystemsAuthorities) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin secure(issueServer(root, "a.test"));
  const TempDir folder;
  proxy_.spec.environment = {"SSL_CERT_FILE=" + folder.write("bundle.pem", root.certificate)};
  proxy_.allow(allowingHost("all", "'*.test'", secure.port(), ", tls: {mode: Required}"));
  proxy_.start();
  const std::string port = std::to_string(secure.port());
  const ReceivedResponse served = get("https://a.test:" + port + "/");
  EXPECT_EQ(echoed(served.body, "sni"), "a.test");
  const ReceivedResponse refused = get("https://b.test:" + port + "/");
  EXPECT_EQ(refused.status, 502);
  EXPECT_THAT(refused.body, HasSubstr("tls_certificate_error"));
  EXPECT_EQ(get("http://a.test:" + port + "/").status, 403) << "the rule asks for TLS";
}

}  // namespace
}  // namespace sluice::test
