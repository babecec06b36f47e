// Tests clientAuthentication at a forward proxy through the binary, with curl as the client: requests in absolute form
// and tunnels by CONNECT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProxyCredentials : public testing::Test {
 protected:
  void start(const std::string& more = "", const std::string& protocol = "HTTPPROXY") {
    proxy_.spec.listeners = proxy_.listenerOf(protocol);
    const std::string allowed = allowingHost("a", "a.test", origin_.port());
    proxy_.spec.routes +=
        secretOf("users", ".htpasswd: \"" + std::string(kAnn) + "\"") +
        egressPolicy("p", "{group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: proxy}",
                     "rules: [" + allowed + "], clientAuthentication: {basic: {secretRef: {name: users}}" + more + "}");
    proxy_.start();
  }
  std::string at(const std::string& host) const {
    return "http://" + host + ":" + std::to_string(origin_.port()) + "/";
  }
  /// Returns head and body of what curl got by way of the proxy.
  std::string get(const std::string& user, const std::vector<std::string>& more = {},
                  const std::string& host = "a.test") const {
    std::vector<std::string> command = {"curl",
                                        "-sS",
                                        "--include",
                                        "--max-time",
                                        "20",
                                        "-x",
                                        "http://" + user + "127.0.0.1:" + std::to_string(proxy_.port)};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back(at(host));
    return run(command).output;
  }
  std::string connect(BlockingSocket& socket, const std::string& credentials) const {
    const std::string authority = "a.test:" + std::to_string(origin_.port());
    socket.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n" +
                (credentials.empty() ? "" : "Proxy-Authorization: " + credentials + "\r\n") + "\r\n");
    return socket.readUntil("\r\n\r\n");
  }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  ForwardProxy proxy_;
};

TEST_F(ProxyCredentials, AreAskedForWith407) {
  start(", realm: our proxy");
  const std::string asked = get("");
  EXPECT_THAT(asked, HasSubstr("HTTP/1.1 407 Proxy Authentication Required\r\n"));
  EXPECT_THAT(asked, HasSubstr("proxy-authenticate: Basic realm=\"our proxy\"\r\n"));
  EXPECT_THAT(asked, HasSubstr("\"code\":\"proxy_authentication_required\""));
  EXPECT_THAT(asked, Not(HasSubstr("www-authenticate")));
  EXPECT_THAT(get("ann:wrong@"), HasSubstr(" 407 "));
  EXPECT_THAT(get("eve:secret@"), HasSubstr(" 407 "));
  EXPECT_THAT(get("", {"--user", "ann:secret"}), HasSubstr(" 407 ")) << "Authorization is for the destination";
  EXPECT_TRUE(origin_.heads().empty());
  EXPECT_THAT(proxy_.gateway->accessLog(1).front(), HasSubstr("\"error.type\":\"proxy_authentication_required\""));
}

TEST_F(ProxyCredentials, LetRequestsThroughAndEndThere) {
  start();
  EXPECT_THAT(get("ann:secret@"), HasSubstr("served"));
  EXPECT_THAT(get("", {"--proxy-user", "ann:secret", "--proxy-anyauth"}), HasSubstr("served"));
  EXPECT_THAT(get("", {"--proxy-user", "ann:secret", "-H", "Authorization: Bearer own"}), HasSubstr("served"));
  for (const std::string& head : origin_.heads()) EXPECT_THAT(head, Not(HasSubstr("roxy-"))) << head;
  EXPECT_THAT(origin_.heads().back(), HasSubstr("Bearer own"));
}

TEST_F(ProxyCredentials, ComeBeforeTheDestinationIsJudged) {
  start();
  EXPECT_THAT(get("", {}, "b.test"), HasSubstr(" 407 "));
  EXPECT_THAT(get("ann:secret@", {}, "b.test"), HasSubstr(" 403 "));
  EXPECT_THAT(get("", {}, "routed.test"), HasSubstr(" 407 "));
  EXPECT_THAT(get("ann:secret@", {}, "routed.test"), HasSubstr(" 302 "));
}

TEST_F(ProxyCredentials, OpenTunnels) {
  start();
  EXPECT_THAT(get("ann:secret@", {"--proxytunnel"}), HasSubstr("served"));
  for (const std::string& head : origin_.heads()) EXPECT_THAT(head, Not(HasSubstr("roxy-"))) << head;
  BlockingSocket socket = proxy_.client();
  EXPECT_THAT(connect(socket, ""), HasSubstr(" 407 "));
  BlockingSocket other = proxy_.client();
  EXPECT_THAT(connect(other, basic("ann", "wrong")), HasSubstr(" 407 "));
  BlockingSocket third = proxy_.client();
  EXPECT_THAT(connect(third, basic("ann", "secret")), HasSubstr(" 200 "));
  third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(readResponse(third).body, "served");
}

// A client asks first without credentials, and then on the same connection with them.
TEST_F(ProxyCredentials, OpenATunnelOnTheConnectionThatWasAsked) {
  start();
  EXPECT_THAT(get("", {"--proxytunnel", "--proxy-user", "ann:secret", "--proxy-anyauth"}), HasSubstr("served"));
}

TEST_F(ProxyCredentials, MayBeLeftOutWhereTheyAreNotRequired) {
  start(", required: false");
  EXPECT_THAT(get(""), HasSubstr("served"));
  EXPECT_THAT(get("ann:secret@"), HasSubstr("served"));
  EXPECT_THAT(get("ann:wrong@"), HasSubstr(" 407 "));
  BlockingSocket socket = proxy_.client();
  EXPECT_THAT(connect(socket, "Bearer token"), HasSubstr(" 407 "))
      << "they are for the proxy, which has no use for them";
}

TEST_F(ProxyCredentials, AreOneField) {
  start();
  const std::string field = "Proxy-Authorization: " + basic("ann", "secret") + "\r\n";
  EXPECT_EQ(
      askRaw(proxy_.port, "GET " + at("a.test") + " HTTP/1.1\r\nHost: a.test\r\n" + field + field + "\r\n").status,
      400);
  EXPECT_TRUE(origin_.heads().empty());
}

}  // namespace
}  // namespace sluice::test
