// Tests that SDKs of model providers read why the gateway itself refused a request, and so do gRPC clients. Each script
// in test/integration/clients prints the errors that its SDK throws, without retries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/node/node.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

/// One error, as a script prints it.
struct SdkError {
  std::string status;
  std::string type;
  std::string code;
  std::string requestId;
  std::string message;
};

std::vector<SdkError> errorsIn(const std::string& output) {
  std::vector<SdkError> errors;
  std::istringstream in(output);
  SdkError error;
  while (std::getline(in, error.status, '\t') && std::getline(in, error.type, '\t') &&
         std::getline(in, error.code, '\t') && std::getline(in, error.requestId, '\t') &&
         std::getline(in, error.message)) {
    errors.push_back(error);
  }
  return errors;
}

/// Returns a gateway that refuses all requests, each path for another reason.
GatewaySpec refusing(const std::string& settings = {}) {
  return {.backends = {{.name = "private", .hostname = "private.test", .port = 443, .addresses = "10.1.2.3"},
                       {.name = "down", .hostname = "down.test", .port = freePort()}},
          .settings = settings,
          .routes = routeOfRules(ruleOfPrefix("/prohibited", "private") + ruleOfPrefix("/refused", "down"))};
}

struct RefusedPath {
  const char* prefix;
  const char* status;
  const char* type;
  const char* code;
  const char* grpcStatus;
};

constexpr RefusedPath kPaths[] = {
    {"/unknown", "404", "not_found_error", "destination_not_found", "12"},
    {"/prohibited", "403", "permission_error", "destination_ip_prohibited", "7"},
    {"/refused", "503", "api_error", "connection_refused", "14"},
};

constexpr std::size_t kCalls = 2 * std::size(kPaths);

/// Returns the path of the call with this number: each is called twice.
const RefusedPath& pathOf(std::size_t call) { return kPaths[call / 2]; }

/// Returns the errors of two calls of each path: one for a whole answer, and one for a stream of events.
std::vector<SdkError> errorsOf(const std::string& script, const GatewayProcess& gateway) {
  std::vector<std::string> urls;
  for (const RefusedPath& path : kPaths) urls.push_back(gateway.url(path.prefix));
  const ProgramOutcome got = runNode(script, urls);
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  std::vector<SdkError> errors = errorsIn(got.output);
  EXPECT_EQ(errors.size(), kCalls) << got.output;
  errors.resize(kCalls);
  return errors;
}

/// Returns the sentence that the gateway itself writes about each of the calls.
std::vector<std::string> sentencesOf(const GatewayProcess& gateway) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < kCalls; ++i) {
    sentences.push_back(memberOf(ask(gateway, pathOf(i).prefix), "detail"));
    EXPECT_THAT(sentences.back(), HasSubstr(" ")) << i;
  }
  return sentences;
}

void expectReasons(const std::vector<SdkError>& errors) {
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EXPECT_EQ(errors[i].status, pathOf(i).status) << i;
    EXPECT_EQ(errors[i].type, pathOf(i).type) << i;
    EXPECT_EQ(errors[i].code, pathOf(i).code) << i;
  }
}

/// Expects the access log to have one line for each call, since none was made again, with its id.
void expectIdsOfTheLog(const std::vector<SdkError>& errors, GatewayProcess& gateway) {
  const std::vector<std::string> lines = gateway.accessLog(errors.size());
  EXPECT_EQ(lines.size(), errors.size());
  for (const SdkError& error : errors) {
    EXPECT_EQ(error.requestId.size(), 36U) << error.code;
    EXPECT_THAT(lines, Contains(AllOf(HasSubstr("\"request_id\":\"" + error.requestId + "\""),
                                      HasSubstr("\"error.type\":\"" + error.code + "\""))));
  }
}

TEST(SdkErrors, OfOpenAiHaveTheSentenceTheCodeAndTheRequest) {
  GatewayProcess gateway(refusing());
  const std::vector<SdkError> errors = errorsOf("openai_errors.mjs", gateway);
  expectReasons(errors);
  expectIdsOfTheLog(errors, gateway);
  const std::vector<std::string> sentences = sentencesOf(gateway);
  for (std::size_t i = 0; i < kCalls; ++i) EXPECT_EQ(errors[i].message, errors[i].status + " " + sentences[i]);
}

TEST(SdkErrors, OfTheAiSdkHaveTheSentenceTheCodeAndTheRequest) {
  GatewayProcess gateway(refusing());
  const std::vector<SdkError> errors = errorsOf("ai_errors.mjs", gateway);
  expectReasons(errors);
  expectIdsOfTheLog(errors, gateway);
  const std::vector<std::string> sentences = sentencesOf(gateway);
  for (std::size_t i = 0; i < kCalls; ++i) EXPECT_EQ(errors[i].message, sentences[i]);
}

// The message of this SDK is the body as JSON, for errors of Anthropic too.
TEST(SdkErrors, OfAnthropicHaveTheSentenceAndTheCode) {
  const GatewayProcess gateway(refusing());
  const std::vector<SdkError> errors = errorsOf("anthropic_errors.mjs", gateway);
  expectReasons(errors);
  const std::vector<std::string> sentences = sentencesOf(gateway);
  for (std::size_t i = 0; i < kCalls; ++i) {
    EXPECT_THAT(errors[i].message, AllOf(StartsWith(errors[i].status + " {"), HasSubstr("\"" + sentences[i] + "\"")));
    EXPECT_EQ(errors[i].requestId, "") << "this SDK reads it from another header";
  }
}

TEST(SdkErrors, OfAnthropicHaveTheRequestIfItsHeaderHasTheirName) {
  GatewayProcess gateway(refusing("requestId: {header: request-id}\n"));
  const std::vector<SdkError> errors = errorsOf("anthropic_errors.mjs", gateway);
  expectReasons(errors);
  expectIdsOfTheLog(errors, gateway);
}

TEST(SdkErrors, OfGrpcHaveTheSentenceAndTheCode) {
  const GatewayProcess gateway(refusing());
  std::vector<std::string> arguments = {"127.0.0.1:" + std::to_string(gateway.port())};
  std::string expected;
  for (const RefusedPath& path : kPaths) {
    arguments.push_back(path.prefix + std::string("/call"));
    expected +=
        path.grpcStatus + std::string(" ") + path.code + ": " + memberOf(ask(gateway, path.prefix), "detail") + "\n";
  }
  EXPECT_EQ(runNode("grpc_call.mjs", arguments).output, expected);
}

}  // namespace
}  // namespace sluice::test
