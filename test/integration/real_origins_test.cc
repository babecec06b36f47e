// Tests third-party origins: nginx over HTTP/1.1 and nghttpd over HTTP/2, both with TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class RealOrigins : public testing::Test {
 protected:
  void SetUp() override {
    const CertifiedKey server = issueServer(authority_, "origin.test");
    certificate_ = folder_.write("origin.crt", server.certificate);
    key_ = folder_.write("origin.key", server.key);
    for (int i = 0; content_.size() < 2'000'000; ++i) content_ += std::to_string(i) + "\n";
    file_ = folder_.write("file.txt", content_);
  }

  void startNginx() {
    const std::string listen = "127.0.0.1:" + std::to_string(port_);
    const std::string configuration = folder_.write(
        "nginx.conf",
        "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n  access_log off;\n  "
        "client_body_temp_path b;\n"
        "  proxy_temp_path p;\n  fastcgi_temp_path f;\n  uwsgi_temp_path u;\n  scgi_temp_path s;\n  server {\n    "
        "listen " +
            listen + " ssl;\n    ssl_certificate origin.crt;\n    ssl_certificate_key origin.key;\n    root " +
            folder_.path() +
            ";\n    gzip on;\n    gzip_types text/plain;\n    location /seen { return 200 \"$ssl_server_name $host "
            "$server_protocol $request_uri\"; }\n"
            "  }\n}\n");
    origin_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"nginx", "-p", folder_.path(), "-c", configuration, "-e", "stderr"});
    ASSERT_TRUE(waitForPort(port_)) << origin_->errors();
  }

  void startNghttpd() {
    origin_ = std::make_unique<ChildProcess>(std::vector<std::string>{"nghttpd", "-a", "127.0.0.1", "-d",
                                                                      folder_.path(), "--echo-upload",
                                                                      std::to_string(port_), key_, certificate_});
    ASSERT_TRUE(waitForPort(port_)) << origin_->errors();
  }

  /// Runs curl, which writes the body to `received`.
  ProgramOutcome fetch(const GatewayProcess& gateway, const std::string& option, const std::vector<std::string>& more) {
    std::vector<std::string> argv = {
        "curl", "-sS", "--max-time", "20", option, "-o", folder_.path() + "/received", "-w", "%{http_code}"};
    argv.insert(argv.end(), more.begin(), more.end());
    argv.push_back(gateway.url("/file.txt"));
    return run(argv);
  }

  bool receivedWhole() { return run({"cmp", file_, folder_.path() + "/received"}).exitCode == 0; }

  CertifiedKey authority_ = makeAuthority();
  TempDir folder_;
  std::string certificate_;
  std::string key_;
  std::string content_;
  std::string file_;
  std::uint16_t port_ = freePort();
  std::unique_ptr<ChildProcess> origin_;
};

TEST_F(RealOrigins, NginxServesFilesToBothVersions) {
  startNginx();
  const GatewayProcess gateway({.backends = {{.port = port_, .ca = authority_.certificate}}});
  for (const char* option : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_EQ(fetch(gateway, option, {}).output, "200");
    EXPECT_TRUE(receivedWhole()) << option;
  }
  EXPECT_EQ(run({"curl", "-s", gateway.url("/seen?a=b")}).output, "origin.test origin.test HTTP/1.1 /seen?a=b");
}

TEST_F(RealOrigins, AnHttp2ConnectionThatAnswersNothingIsGivenUp) {
  startNghttpd();
  const GatewayProcess gateway({.backends = {{.port = port_, .ca = authority_.certificate}},
                                .settings = "timeouts: {upstreamPing: 1s, connect: 20s}\n"});
  EXPECT_EQ(fetch(gateway, "--http1.1", {}).output, "200");
  origin_->signal(SIGSTOP);  // its kernel still takes bytes
  ChildProcess waiting({"curl", "-sS", "--max-time", "60", "-o", folder_.path() + "/received", "-w", "%{http_code}",
                        gateway.url("/file.txt")});
  EXPECT_TRUE(gateway.limitWasHit("upstreamPing"));
  origin_->signal(SIGCONT);
  EXPECT_EQ(waiting.wait(), 0);
  EXPECT_EQ(waiting.output(), "200") << "on another connection, because GET may be repeated";
  EXPECT_TRUE(receivedWhole());
}

TEST_F(RealOrigins, NginxSpeaksRangesAndConditionsThroughTheGateway) {
  startNginx();
  const GatewayProcess gateway({.backends = {{.port = port_, .ca = authority_.certificate}}});
  EXPECT_EQ(fetch(gateway, "--http1.1", {"-r", "0-99"}).output, "206");
  const ProgramOutcome head = run({"curl", "-sI", gateway.url("/file.txt")});
  EXPECT_THAT(head.output, testing::ContainsRegex("[Cc]ontent-[Ll]ength: " + std::to_string(content_.size())));
}

// nginx compresses no answer to a request with Via, unless gzip_proxied says so.
TEST_F(RealOrigins, NginxCompressesOnlyForABackendWithoutVia) {
  startNginx();
  GatewaySpec spec{.backends = {{.port = port_, .ca = authority_.certificate}}};
  GatewayProcess gateway(spec);
  const auto codingOf = [&] {
    return run({"curl", "-s", "-o", folder_.path() + "/received", "-D", "-", "-H", "Accept-Encoding: gzip",
                gateway.url("/file.txt")})
        .output;
  };
  EXPECT_THAT(codingOf(), testing::Not(HasSubstr("Content-Encoding: gzip")));
  spec.routes =
      routeOfRules("    - backendRefs: [" + backendRef() + "]\n") +
      "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: v}\nspec:\n"
      "  targetRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n  via: \"Off\"\n";
  gateway.reload(spec);
  EXPECT_THAT(codingOf(), HasSubstr("Content-Encoding: gzip"));
}

TEST_F(RealOrigins, NghttpdServesFilesToBothVersions) {
  startNghttpd();
  const GatewayProcess gateway({.backends = {{.port = port_, .ca = authority_.certificate}}});
  for (const char* option : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_EQ(fetch(gateway, option, {}).output, "200");
    EXPECT_TRUE(receivedWhole()) << option;
  }
}

TEST_F(RealOrigins, NghttpdEchoesUploadsOfBothVersions) {
  startNghttpd();
  const GatewayProcess gateway({.backends = {{.port = port_, .ca = authority_.certificate}}});
  for (const char* option : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_EQ(fetch(gateway, option, {"--data-binary", "@" + file_}).output, "200");
    EXPECT_TRUE(receivedWhole()) << option;
  }
}

TEST_F(RealOrigins, NghttpMultiplexesManyRequestsOverOneConnection) {
  startNghttpd();
  const GatewayProcess gateway({.backends = {{.port = port_, .ca = authority_.certificate}}});
  const ProgramOutcome got = run({"nghttp", "-n", "-m", "50", "-s", gateway.url("/file.txt")});
  EXPECT_EQ(got.exitCode, 0) << got.errors;
}

}  // namespace
}  // namespace sluice::test
