// Tests that the fields between a client and its proxy travel no further, in either direction and by any way in:
// Proxy-Authorization, Proxy-Authenticate, Proxy-Authentication-Info and Proxy-Connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOfTheHop =
    "Proxy-Authenticate: Basic realm=\"origin\"\r\nProxy-Authentication-Info: nextnonce=\"x\"\r\n"
    "Proxy-Connection: close\r\n";

class ProxyFields : public testing::Test {
 protected:
  void start() {
    proxy_.spec.routes +=
        secretOf("users", ".htpasswd: \"" + std::string(kAnn) + "\"") +
        egressPolicy("p", "{group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: proxy}",
                     "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}}");
    proxy_.start();
  }
  std::string at(const std::string& host) const { return host + ":" + std::to_string(origin_.port()); }
  /// Expects that nothing of the client's credentials has come to the origin, which served so many requests.
  void expectNoneAtTheOrigin(std::size_t requests) const {
    EXPECT_EQ(origin_.heads().size(), requests);
    for (const std::string& head : origin_.heads()) {
      EXPECT_THAT(head, Not(HasSubstr("roxy-")));
      EXPECT_THAT(head, Not(HasSubstr(secret_.substr(6))));
    }
  }

  const std::string secret_ = basic("ann", "secret");
  const RawOrigin origin_{
      RawOrigin::answering("HTTP/1.1 200 OK\r\n" + std::string(kOfTheHop) + "Content-Length: 2\r\n\r\nok")};
  ForwardProxy proxy_;
};

TEST_F(ProxyFields, OfHttp11TravelNoFurther) {
  start();
  const std::string request = "GET http://" + at("a.test") +
                              "/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: " + secret_ +
                              "\r\nProxy-Connection: keep-alive\r\nPROXY-AUTHENTICATE: x\r\n\r\n";
  const ReceivedResponse got = askRaw(proxy_.port, request);
  EXPECT_EQ(got.status, 200) << got.body;
  EXPECT_THAT(got.head, Not(HasSubstr("roxy-"))) << "nor do those of the origin";
  expectNoneAtTheOrigin(1);
  EXPECT_THAT(proxy_.gateway->accessLog(1).front(), Not(HasSubstr(secret_.substr(6))));
}

TEST_F(ProxyFields, OfHttp2TravelNoFurther) {
  start();
  H2Client client(proxy_.port);
  client.send(h2::headers(1,
                          {{":method", "GET"},
                           {":scheme", "http"},
                           {":authority", at("a.test")},
                           {":path", "/"},
                           {"proxy-authorization", secret_},
                           {"proxy-authenticate", "x"}},
                          true));
  ASSERT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "200");
  for (const auto& [name, value] : client.seen().find(H2Type::kHeaders, 1)->lines) {
    EXPECT_FALSE(name.starts_with("proxy-")) << name;
  }
  expectNoneAtTheOrigin(1);
}

TEST_F(ProxyFields, InTrailersTravelNoFurther) {
  start();
  const std::string request = "POST http://" + at("a.test") +
                              "/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: " + secret_ +
                              "\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nProxy-Authorization: " + secret_ +
                              "\r\nX-Other: 1\r\n\r\n";
  std::string all;
  const RawOrigin reading([&](BlockingSocket& socket, RawOrigin&) {
    all = socket.readUntil("0\r\n") + socket.readUntil("\r\n\r\n");
    socket.send(kOk);
  });
  BlockingSocket client = proxy_.client();
  std::string there = request;
  there.replace(there.find(at("a.test")), at("a.test").size(), "a.test:" + std::to_string(reading.port()));
  EXPECT_EQ(askRaw(client, there).status, 200);
  EXPECT_THAT(all, Not(HasSubstr("roxy-")));
}

TEST_F(ProxyFields, OfConnectAreNotInTheTunnel) {
  start();
  BlockingSocket client = proxy_.client();
  client.send("CONNECT " + at("a.test") + " HTTP/1.1\r\nHost: x\r\nProxy-Authorization: " + secret_ + "\r\n\r\n");
  EXPECT_THAT(client.readUntil("\r\n\r\n"), HasSubstr(" 200 "));
  EXPECT_EQ(askRaw(client).status, 200);
  expectNoneAtTheOrigin(1);
}

TEST_F(ProxyFields, OfAnOrdinaryListenerTravelNoFurtherEither) {
  proxy_.spec.backends.push_back({.name = "here", .hostname = "here.test", .port = origin_.port()});
  proxy_.spec.routes = routeOfRules("    - backendRefs: [" + backendRef("here") + "]\n");
  proxy_.start();
  const ReceivedResponse got =
      askRaw(proxy_.gateway->port(), "GET / HTTP/1.1\r\nHost: a\r\nProxy-Authorization: " + secret_ +
                                         "\r\nProxy-Connection: keep-alive\r\n\r\n");
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(got.head, Not(HasSubstr("roxy-")));
  expectNoneAtTheOrigin(1);
}

// A client would take it for the answer of its proxy, and give the proxy other credentials.
TEST_F(ProxyFields, AskForNothingInThePlaceOfTheProxy) {
  start();
  const RawOrigin asking(RawOrigin::answering("HTTP/1.1 407 Proxy Authentication Required\r\n" +
                                              std::string(kOfTheHop) + "Content-Length: 0\r\n\r\n"));
  const ReceivedResponse got =
      askRaw(proxy_.port, "GET http://a.test:" + std::to_string(asking.port()) +
                              "/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: " + secret_ + "\r\n\r\n");
  EXPECT_EQ(got.status, 407);
  EXPECT_THAT(got.head, Not(HasSubstr("roxy-")));
}

}  // namespace
}  // namespace sluice::test
