// Tests processors that call real servers for each request: nginx, nghttpd and grpc-js, and servers that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class ProcessorCallouts : public testing::Test {
 protected:
  /// Returns a gateway that calls out to this port of this machine for each request.
  GatewaySpec specOf(std::uint16_t port, const std::string& protocol, const std::string& path,
                     const std::string& settings = {}) const {
    const std::string asks =
        "{name: ask, type: 'acme.test/Ask:v1', phase: request-headers, config: {port: " + std::to_string(port) +
        ", protocol: '" + protocol + "', path: '" + path + "'}}";
    return {.backends = {{.port = origin_.port()}},
            .settings = settings,
            .routes = routeOfRules("    - filters: [" + inlined(asks) + "]\n" + backendRefs()),
            .program = "sluice-asking"};
  }
  static ProgramOutcome get(const GatewayProcess& gateway, const std::string& target) {
    return run({"curl", "-sS", "-i", "--max-time", "30", gateway.url(target)});
  }
  /// Starts nginx with a configuration in which this line answers every callout.
  void startNginx(const std::string& answer) {
    const std::string configuration =
        folder_.write("nginx.conf",
                      "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n  access_log off;\n"
                      "  client_body_temp_path b;\n  proxy_temp_path p;\n  fastcgi_temp_path f;\n  uwsgi_temp_path u;\n"
                      "  scgi_temp_path s;\n  server {\n    listen 127.0.0.1:" +
                          std::to_string(port_) + ";\n    location /ask { " + answer + " }\n  }\n}\n");
    server_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"nginx", "-p", folder_.path(), "-c", configuration, "-e", "stderr"});
    ASSERT_TRUE(waitForPort(port_)) << server_->errors();
  }
  /// Returns the value of the field x-asked in the last request that the Backend got.
  std::string asked() const {
    const auto heads = origin_.heads();
    if (heads.empty()) return "nothing came";
    const std::string& head = heads.back();
    const std::size_t at = head.find("\r\nx-asked: ");
    return at == std::string::npos ? "" : head.substr(at + 11, head.find('\r', at + 2) - at - 11);
  }

  TempDir folder_;
  const std::uint16_t port_ = freePort();
  RawOrigin origin_{RawOrigin::answering(kOk)};
  std::unique_ptr<ChildProcess> server_;
};

TEST_F(ProcessorCallouts, ReachNginxOverHttp11) {
  startNginx("return 200 \"$request_method $host $server_protocol\";");
  const GatewayProcess gateway(specOf(port_, "http/1.1", "/ask"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(get(gateway, "/one").output, HasSubstr("HTTP/1.1 200"));
    EXPECT_EQ(asked(), "POST 127.0.0.1 HTTP/1.1");
  }
  EXPECT_EQ(gateway.metric("http_client_request_duration_seconds_count{gateway=\"test/egress\",route=\"test/all\","
                           "backend=\"test/asked\""),
            3);
}

TEST_F(ProcessorCallouts, LetNginxRefuseTheRequest) {
  startNginx("return 401;");
  const GatewayProcess gateway(specOf(port_, "http/1.1", "/ask"));
  EXPECT_THAT(get(gateway, "/one").output, HasSubstr("HTTP/1.1 403"));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ProcessorCallouts, ReachNghttpdOverHttp2) {
  folder_.write("ask", "not what was sent");
  server_ = std::make_unique<ChildProcess>(std::vector<std::string>{
      "nghttpd", "--no-tls", "--echo-upload", "-a", "127.0.0.1", "-d", folder_.path(), std::to_string(port_)});
  ASSERT_TRUE(waitForPort(port_)) << server_->errors();
  const GatewayProcess gateway(specOf(port_, "h2", "/ask"));
  EXPECT_THAT(get(gateway, "/two?x=1").output, HasSubstr("HTTP/1.1 200"));
  EXPECT_EQ(asked(), "/two?x=1");
}

TEST_F(ProcessorCallouts, ReachAGrpcServer) {
  const GrpcOrigin server;
  const GatewayProcess gateway(specOf(server.port(), "grpc", "/sluice.test.Echo/Unary"));
  EXPECT_THAT(get(gateway, "/three").output, HasSubstr("HTTP/1.1 200"));
  EXPECT_EQ(asked(), "/three");
}

TEST_F(ProcessorCallouts, FailTheStepIfAGrpcServerFails) {
  const GrpcOrigin server;
  const GatewayProcess gateway(specOf(server.port(), "grpc", "/sluice.test.Echo/Fail"));
  EXPECT_THAT(get(gateway, "/").output, HasSubstr("HTTP/1.1 500"));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ProcessorCallouts, AreCancelledIfTheServerIsLate) {
  GrpcOrigin server;
  // Long enough for the call to reach the server on a busy machine: a call that is still on its way is not cancelled.
  const GatewayProcess gateway(specOf(server.port(), "grpc", "/sluice.test.Echo/Hang", "timeouts: {processor: 2s}\n"));
  EXPECT_THAT(get(gateway, "/").output, HasSubstr("HTTP/1.1 504"));
  EXPECT_TRUE(server.process().waitForLine("cancelled"));
}

TEST_F(ProcessorCallouts, AreCancelledIfTheClientLeaves) {
  GrpcOrigin server;
  const GatewayProcess gateway(specOf(server.port(), "grpc", "/sluice.test.Echo/Hang", "timeouts: {processor: 60s}\n"));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: any.test\r\n\r\n");
  EXPECT_TRUE(
      gateway.reaches("http_client_open_connections{backend=\"test/asked\",http_connection_state=\"active\"}", 1));
  client.reset();
  EXPECT_TRUE(server.process().waitForLine("cancelled"));
}

TEST_F(ProcessorCallouts, FailTheStepIfTheServerIsUnreachable) {
  const GatewayProcess gateway(specOf(port_, "http/1.1", "/ask"));
  EXPECT_THAT(get(gateway, "/").output, HasSubstr("HTTP/1.1 500"));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ProcessorCallouts, FailTheStepIfTheServerResets) {
  RecordingOrigin server([](std::size_t) { return std::string(); });
  const GatewayProcess gateway(specOf(server.port(), "http/1.1", "/ask"));
  EXPECT_THAT(get(gateway, "/").output, HasSubstr("HTTP/1.1 500"));
  EXPECT_THAT(server.bodies(), Contains("/"));
}

TEST_F(ProcessorCallouts, DoNotDelayShutdown) {
  GrpcOrigin server;
  auto gateway = std::make_unique<GatewayProcess>(
      specOf(server.port(), "grpc", "/sluice.test.Echo/Hang", "timeouts: {processor: 60s}\ndrainTimeout: 1s\n"));
  BlockingSocket client = BlockingSocket::connect(gateway->port());
  client.send("GET / HTTP/1.1\r\nHost: any.test\r\n\r\n");
  EXPECT_TRUE(
      gateway->reaches("http_client_open_connections{backend=\"test/asked\",http_connection_state=\"active\"}", 1));
  gateway.reset();  // expects that the gateway exits by itself, with 0
  EXPECT_TRUE(server.process().waitForLine("cancelled"));
}

TEST_F(ProcessorCallouts, KeepTheirConnectionsAcrossAReload) {
  RecordingOrigin server([](std::size_t) { return std::string(kOk); });
  GatewaySpec spec = specOf(server.port(), "http/1.1", "/ask");
  GatewayProcess gateway(spec);
  const std::string idle = "http_client_open_connections{backend=\"test/asked\",http_connection_state=\"idle\"}";
  EXPECT_THAT(get(gateway, "/before").output, HasSubstr("HTTP/1.1 200"));
  spec.settings = "timeouts: {processor: 7s}\n";
  gateway.reload(spec);
  EXPECT_EQ(gateway.metric(idle), 1);
  EXPECT_THAT(get(gateway, "/after").output, HasSubstr("HTTP/1.1 200"));
  EXPECT_EQ(gateway.metric(idle), 1);
  EXPECT_EQ(server.heads().size(), 2U);
}

}  // namespace
}  // namespace sluice::test
