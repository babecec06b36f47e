// A fixture with a gateway between origins and an external processor on grpc-js.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {

inline constexpr const char* kAnswerOfOrigin =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\nX-Secret: origin\r\n\r\nfrom origin\n";
inline constexpr const char* kWholeBodies =
    "requestHeaders: Send, requestBody: Buffered, responseHeaders: Send, responseBody: Buffered";

class ExternalProcessorTest : public testing::Test {
 protected:
  explicit ExternalProcessorTest(const char* script = "ext_proc_server.mjs")
      : server_(std::make_unique<GrpcOrigin>(std::nullopt, script)) {}

  /// Returns a filter with the server as processor; `config` has further members of its config, `more` of the use.
  static std::string guarding(const std::string& config = {}, const std::string& more = {}) {
    return "filters: [" +
           inlined("{name: guard, type: 'sluice.dev/ExtProc:v1'" + more + ", config: {backendRefs: [" +
                   backendRef("guard") + "]" + config + "}}") +
           "]\n";
  }
  /// Starts a gateway whose one rule has the server as its processor, with these modes and further members of the use.
  void start(const std::string& modes, const std::string& more = {}, const std::string& settings = {}) {
    const std::string config = ", processingMode: {" + modes + "}, context: {tier: gold}";
    startWith("    - " + guarding(config, more) + backendRefs(), settings);
  }
  /// Starts a gateway in front of an origin that echoes bodies, which the server gets in this form.
  void startEcho(const std::string& form) {
    startWith("    - " + guarding(", processingMode: {requestBody: " + form + "}") + "      backendRefs: [" +
              backendRef("echo") + "]\n");
  }
  void startWith(const std::string& rules, const std::string& settings = {}, const std::string& more = {}) {
    GatewaySpec spec;
    spec.settings = settings;
    spec.routes = routeOfRules(rules) + more;
    spec.backends = {{.port = origin_.port()},
                     {.name = "guard", .hostname = "guard.test", .port = server_->port()},
                     {.name = "other", .hostname = "other.test", .port = other_.port()},
                     {.name = "echo", .hostname = "echo.test", .port = echo_.port()}};
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  /// Returns the answer to a request for which the server does `what`.
  std::string get(const std::string& what, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {"-H", "x-do: " + what, "-H", "x-secret: client"};
    options.insert(options.end(), more.begin(), more.end());
    return ask(*gateway_, "/a?b=c", options);
  }
  std::string post(const std::string& what, const std::string& body) const {
    return get(what, {"--data-binary", body});
  }
  /// Returns the parts that the server has received on its next stream that is over.
  std::string heard() {
    const auto line = server_->process().waitForLine("heard ");
    return line ? line->substr(line->find("heard ") + 6) : "nothing";
  }
  std::string lastHead() const { return origin_.heads().empty() ? "" : origin_.heads().back(); }

  TempDir folder_;
  std::unique_ptr<GrpcOrigin> server_;
  RecordingOrigin origin_{[](std::size_t) { return kAnswerOfOrigin; }};
  RecordingOrigin other_{[](std::size_t) { return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"; }};
  EchoOrigin echo_{std::nullopt};
  std::unique_ptr<GatewayProcess> gateway_;
};

}  // namespace sluice::test
