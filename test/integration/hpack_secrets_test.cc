// Tests which fields of requests of several clients a backend's connection keeps in its table of HPACK: no secret is
// among them, from which one client could guess what another has sent (RFC 7541 section 7.1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::IsSubsetOf;
using testing::SizeIs;

/// Answers over HTTP/2, and records which lines of each request are never-indexed literals.
class IndexWatcher {
 public:
  std::uint16_t port() const { return origin_.port(); }
  int connections() const { return origin_.connections(); }
  /// Returns them by the target of the request.
  std::map<std::string, std::set<std::string>> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void serve(BlockingSocket& socket) {
    H2Client peer(std::move(socket));
    peer.send(h2::settingsAck());
    for (std::uint32_t id = 1; peer.readFrame(H2Type::kHeaders, id); id += 2) {
      const H2Frame* request = peer.seen().find(H2Type::kHeaders, id);
      if (request == nullptr) return;
      {
        const std::lock_guard lock(mutex_);
        seen_[request->value(":path")] = {request->secrets.begin(), request->secrets.end()};
      }
      peer.send(h2::headers(id, h2::line(":status", "200") + h2::secretLine("x-token", "of the backend"), true));
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::set<std::string>> seen_;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin&) { serve(socket); }};
};

/// A backend of HTTP/2 without TLS; requests to /in get credentials of the gateway.
std::string watchedBackend(std::uint16_t port) {
  const std::string backend =
      "backendRefs: [{group: gateway.networking.x-k8s.io, kind: XBackend, name: h2c, port: " + std::to_string(port) +
      "}]\n";
  const std::string key = "secretRef: {name: key}, allowPlaintext: true";
  return "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\nmetadata: {namespace: test, name: h2c}\n"
         "spec:\n  type: ExternalHostname\n  externalHostname: {hostname: origin.test}\n  port: {port: " +
         std::to_string(port) +
         "}\n  protocol: H2C\n---\n"
         "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\nspec:\n"
         "  parentRefs: [{name: egress}]\n  rules:\n    - " +
         backend + "    - matches: [{path: {value: /in}}]\n      " + backend + "      filters: [" +
         inlined(use("CredentialInjector", "header", "request-headers", key + ", header: x-key") + ", " +
                 use("CredentialInjector", "query", "request-headers", key + ", queryParam: key")) +
         "]\n" + secretOf("key", "token: hidden");
}

TEST(SecretsInHpack, AreIndexedByNobody) {
  const IndexWatcher origin;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .routes = watchedBackend(origin.port())});
  const std::string own = h2::line("authorization", "Bearer mine") + h2::line("cookie", std::string(50, 'c')) +
                          h2::line("x-plain", "1") + h2::secretLine("x-mine", "hidden");
  for (const std::string path : {"/first", "/second", "/in"}) {
    H2Client client(gateway.port());
    client.send(h2::headers(1, h2::block(h2::get(path)) + own, true));
    EXPECT_TRUE(client.readStream(1));
    EXPECT_EQ(client.status(1), "200");
    EXPECT_EQ(client.seen().find(H2Type::kHeaders, 1)->secrets, (std::vector<std::string>{"x-token", "x-request-id"}));
  }
  // An id that comes once is no secret, but would push others out of the table.
  const std::set<std::string> clients{"authorization", "cookie", "x-mine", "x-request-id"};
  const auto seen = origin.seen();
  ASSERT_THAT(seen, SizeIs(3));
  EXPECT_EQ(seen.at("/first"), clients);
  EXPECT_EQ(seen.at("/second"), clients);
  const auto injected = seen.find("/in?key=hidden");
  ASSERT_NE(injected, seen.end());
  EXPECT_THAT((std::set<std::string>{"cookie", "x-mine", "x-key", ":path"}), IsSubsetOf(injected->second));
  EXPECT_FALSE(injected->second.contains("authorization")) << "the client's, beside an injected one";
  EXPECT_FALSE(injected->second.contains("x-plain"));
  EXPECT_EQ(origin.connections(), 1) << "the clients share it";
}

}  // namespace
}  // namespace sluice::test
