// Tests the hooks of extension managers with a real server on grpc-js: the order in which they are called, what they
// may change, and the outcome of requests when the server is unreachable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/ext_proc_server.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ExtensionServers : public testing::Test {
 protected:
  /// Returns the members of a manager with these hooks.
  std::string manager(const std::string& hooks, const std::string& more = {}, const std::string& host = "ext.test") {
    return "hooks: {xdsTranslator: {post: [" + hooks + "]}}, service: {fqdn: {hostname: " + host +
           ", port: " + std::to_string(server_->port()) + "}" + more + "}";
  }
  GatewaySpec specWith(const std::string& settings, const std::string& more = {}) const {
    GatewaySpec spec;
    spec.settings = settings;
    spec.routes = routeOfRules("    - matches: [{path: {value: /served}}]\n" + backendRefs()) + more;
    spec.backends = {{.port = origin_.port()}, {.name = "names", .hostname = "ext.test", .port = 1}};
    return spec;
  }
  void start(const std::string& settings, const std::string& more = {}) {
    gateway_ = std::make_unique<GatewayProcess>(specWith(settings, more));
  }
  void startHooks(const std::string& hooks) { start("extensionManager: {" + manager(hooks) + "}"); }
  std::string get(const std::string& what = {}) const { return ask(*gateway_, "/served", {"-H", "x-do: " + what}); }

  std::unique_ptr<ExtProcServer> server_ = std::make_unique<ExtProcServer>();
  RecordingOrigin origin_{
      [](std::size_t) { return "HTTP/1.1 200 OK\r\nX-Secret: origin\r\nContent-Length: 5\r\n\r\nhello"; }};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(ExtensionServers, EditRequestsAndResponsesAtEachScope) {
  for (const char* hook : {"Route", "VirtualHost", "HTTPListener", "Translation"}) {
    startHooks(hook);
    EXPECT_THAT(get(), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-guard: seen"), Not(HasSubstr("X-Secret"))))
        << hook;
    EXPECT_THAT(origin_.heads().back(), HasSubstr("x-guard: seen")) << hook;
    EXPECT_TRUE(server_->hasHeard("hook=" + std::string(hook))) << "the server is told which hook asks";
    EXPECT_THAT(gateway_->adminGet("/status"), Not(HasSubstr("Degraded")));
    EXPECT_EQ(statusOf(*gateway_, "/elsewhere"), "404");
  }
}

TEST_F(ExtensionServers, AreAskedByNarrowHooksBeforeWideOnes) {
  const std::vector<std::string> order = {"Route", "VirtualHost", "HTTPListener", "Translation"};
  for (std::size_t first = 0; first < order.size(); ++first) {
    std::string hooks;
    for (std::size_t i = order.size(); i > first; --i) hooks += (hooks.empty() ? "" : ", ") + order[i - 1];
    const std::size_t before = server_->heard("heard ");
    startHooks(hooks);
    EXPECT_THAT(get("reject"), StartsWith("HTTP/1.1 418"));
    EXPECT_TRUE(server_->hasHeard("heard ", before + 1));
    EXPECT_THAT(server_->heard("hook=" + order[first]), 1u) << hooks << ": it answers, so no other is asked";
    EXPECT_THAT(get(), StartsWith("HTTP/1.1 200"));
    EXPECT_TRUE(server_->hasHeard("heard ", before + 1 + order.size() - first)) << "all are asked";
    server_ = std::make_unique<ExtProcServer>();
  }
}

TEST_F(ExtensionServers, MayBeSeveral) {
  start("extensionManagers: [{name: one, " + manager("Route") + "}, {name: two, " + manager("Route") + "}]");
  EXPECT_THAT(get(), HasSubstr("x-guard: seen"));
  EXPECT_TRUE(server_->hasHeard("extensionManager=one"));
  EXPECT_TRUE(server_->hasHeard("extensionManager=two"));
}

TEST_F(ExtensionServers, FailClosedOrAreLeftOutHookByHookAndRecover) {
  startHooks("{type: Route, failOpen: true}, {type: VirtualHost, failOpen: true}");
  server_->stop();
  EXPECT_THAT(get(), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("hello"), Not(HasSubstr("x-guard"))));
  for (const char* hook : {"Route", "VirtualHost", "HTTPListener", "Translation"}) {
    startHooks("{type: " + std::string(hook) + ", failOpen: false}");
    EXPECT_THAT(get(), StartsWith("HTTP/1.1 500")) << hook;
    EXPECT_EQ(statusOf(*gateway_, "/elsewhere"), "500") << hook << ": requests that no route matches too";
    EXPECT_TRUE(gateway_->isReady()) << hook;
    EXPECT_TRUE(gateway_->reaches("sluice_processor_servers{state=\"degraded\"}", 1)) << hook;
    EXPECT_THAT(gateway_->adminGet("/status"), HasSubstr("{\"type\":\"extension.sluice.dev/extensionManager." +
                                                         std::string(hook) + "\",\"status\":\"False\""))
        << hook;
    server_->start();
    EXPECT_THAT(ask(*gateway_, "/served", {"--retry", "20", "--retry-all-errors", "--retry-delay", "1", "-f"}),
                HasSubstr("x-guard: seen"))
        << hook << ": by itself, without another configuration";
    server_->stop();
  }
}

TEST_F(ExtensionServers, AreAskedAgainAsOftenAsTheirRetrySays) {
  for (const int attempts : {3, 2}) {
    start("extensionManager: {" +
          manager("Route", ", retry: {maxAttempts: " + std::to_string(attempts) + ", initialBackoff: 1ms}") +
          "}\ntimeouts: {processor: 60s}");
    EXPECT_THAT(get("away"), StartsWith(attempts == 3 ? "HTTP/1.1 200" : "HTTP/1.1 500")) << attempts;
  }
  start("extensionManager: {" + manager("Route", ", retry: {retryableStatusCodes: [INTERNAL]}") + "}");
  EXPECT_TRUE(server_->hasHeard("heard ", 5));
  EXPECT_THAT(get("away"), StartsWith("HTTP/1.1 200")) << "the third of three";
  EXPECT_THAT(get("away"), StartsWith("HTTP/1.1 500")) << "other statuses are final";
}

TEST_F(ExtensionServers, AreAskedAgainWhenTheyCanBeReached) {
  server_->stop();
  start("extensionManager: {" +
        manager("Route", ", retry: {maxAttempts: 100, initialBackoff: 200ms, backoffMultiplier: 1}") +
        "}\ntimeouts: {processor: 60s}");
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send("GET /served HTTP/1.1\r\nHost: any.test\r\n\r\n");
  EXPECT_TRUE(gateway_->reaches("http_client_request_duration_seconds_count{gateway=\"test/egress\"", 2));
  server_->start();
  EXPECT_EQ(readResponse(client).status, 200);
}

TEST_F(ExtensionServers, AreVerifiedByTheAuthoritiesOfASecret) {
  const CertifiedKey authority = makeAuthority();
  server_ = std::make_unique<ExtProcServer>(issueServer(authority, "ext.test"));
  const std::string tls = ", tls: {certificateRef: {namespace: test, name: ca}}";
  const auto withAuthority = [&](const CertifiedKey& trusted) {
    std::string pem;
    for (const char c : trusted.certificate) pem += c == '\n' ? std::string("\\n") : std::string(1, c);
    return secretOf("ca", "tls.crt: \"" + pem + "\"");
  };
  start("extensionManager: {" + manager("HTTPListener", tls) + "}", withAuthority(authority));
  EXPECT_THAT(get(), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-guard: seen")));
  start("extensionManager: {" + manager("HTTPListener", tls) + "}", withAuthority(makeAuthority()));
  EXPECT_THAT(get(), StartsWith("HTTP/1.1 500")) << "the server is not who it should be";
  start("extensionManager: {" + manager("HTTPListener", tls) + "}");
  EXPECT_THAT(get(), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(gateway_->adminGet("/status"), HasSubstr("InvalidCACertificateRef"));
}

TEST_F(ExtensionServers, AreNotReachedAtAddressesThatOnlyTheGatewayReaches) {
  GatewaySpec spec = specWith("extensionManager: {" + manager("HTTPListener") + "}");
  spec.allow = "192.0.2.1/32";
  gateway_ = std::make_unique<GatewayProcess>(spec);
  EXPECT_THAT(get(), StartsWith("HTTP/1.1 500"));
  EXPECT_EQ(server_->heard("heard "), 0u);
}

}  // namespace
}  // namespace sluice::test
