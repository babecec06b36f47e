// Tests external processors with a server on nghttp2 (sluice-ext-proc): many calls over one connection, and bodies that
// are larger than any window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ProcessorOnNghttp2 : public testing::Test {
 protected:
  /// Starts the server and a gateway in front of an origin that echoes bodies.
  void start(const std::string& modes, const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv = {programPath("sluice-ext-proc"), "--set", "x-guard=seen"};
    argv.insert(argv.end(), options.begin(), options.end());
    server_ = std::make_unique<ChildProcess>(argv);
    const auto line = server_->waitForLine("listening on ");
    ASSERT_TRUE(line) << server_->errors();
    GatewaySpec spec;
    spec.routes =
        routeOfRules("    - filters: [" +
                     inlined("{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 10s, config: {backendRefs: [" +
                             backendRef("guard") + "], processingMode: {" + modes + "}}}") +
                     "]\n" + backendRefs());
    spec.backends = {{.port = echo_.port()},
                     {.name = "guard",
                      .hostname = "guard.test",
                      .port = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)))}};
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }

  TempDir folder_;
  EchoOrigin echo_{std::nullopt};
  std::unique_ptr<ChildProcess> server_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(ProcessorOnNghttp2, SetsAFieldInBothHeads) {
  start("");
  EXPECT_THAT(ask(*gateway_, "/"), AllOf(HasSubstr("\r\nx-guard: seen\r\n"), HasSubstr("\"x-guard: seen\"")));
}

TEST_F(ProcessorOnNghttp2, ChangesTheBodyOfItsOwnBackendAloneBeforeAuthentication) {
  for (const std::string mode : {"Buffered", "Streamed", "FullDuplexStreamed"}) {
    server_ = std::make_unique<ChildProcess>(std::vector<std::string>{programPath("sluice-ext-proc"), "--upper"});
    const auto line = server_->waitForLine("listening on ");
    ASSERT_TRUE(line) << server_->errors();
    GatewaySpec spec;
    spec.backends = {
        {.port = echo_.port(),
         .extensions = "[{name: guard, type: 'sluice.dev/ExtProc:v1', preAuth: true, timeout: 10s, config: "
                       "{backendRefs: [" +
                       backendRef("guard") + "], processingMode: {requestBody: " + mode +
                       ", responseHeaders: Skip}}}]"},
        {.name = "guard",
         .hostname = "guard.test",
         .port = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)))},
        {.name = "plain", .hostname = "plain.test", .port = echo_.port()}};
    spec.routes = routeOfRules("    - matches: [{headers: [{name: x-plain, value: '1'}]}]\n      backendRefs: [" +
                               backendRef("plain") + "]\n    -\n" + backendRefs());
    gateway_ = std::make_unique<GatewayProcess>(spec);
    EXPECT_TRUE(ask(*gateway_, "/echo", {"--data-binary", "hello"}).ends_with("\r\n\r\nHELLO")) << mode;
    EXPECT_TRUE(ask(*gateway_, "/echo", {"-H", "x-plain: 1", "--data-binary", "hello"}).ends_with("\r\n\r\nhello"));
  }
}

TEST_F(ProcessorOnNghttp2, ChangesBodiesLargerThanAnyWindow) {
  const std::string sent = folder_.write("body", std::string(5'000'000, 'a'));
  start("requestBody: Streamed, responseBody: Streamed", {"--upper"});
  const std::string answer = ask(*gateway_, "/echo", {"-H", "Expect:", "--data-binary", "@" + sent});
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer.substr(0, 200);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + std::string(5'000'000, 'A'))) << answer.size() << " bytes";
}

TEST_F(ProcessorOnNghttp2, AnswersManyCallsAtOnce) {
  start("requestBody: Buffered", {"--upper"});
  const std::string sent = folder_.write("body", std::string(1024, 'a'));
  const ProgramOutcome got = run({"h2load", "-n2000", "-c4", "-m50", "-d", sent, gateway_->url("/echo")});
  EXPECT_THAT(got.output, HasSubstr("2000 succeeded, 0 failed, 0 errored")) << got.errors;
  EXPECT_THAT(got.output, HasSubstr("status codes: 2000 2xx"));
}

TEST_F(ProcessorOnNghttp2, EndsBySigterm) {
  start("");
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), 128 + SIGTERM);
  EXPECT_EQ(statusOf(*gateway_, "/"), "500");
}

}  // namespace
}  // namespace sluice::test
