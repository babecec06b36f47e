// Tests uses that another use, or an answer, stands in for when their server fails or is not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/processors/ext_proc_fixture.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class BackedProcessors : public ExternalProcessorTest {
 protected:
  /// Starts a gateway whose one rule has an external processor, with these members of its use, further uses in its list
  /// and a form of the request's body. The server gets x-do as an attribute, too, because some phases have no headers.
  void startBacked(const std::string& more, const std::string& others, const std::string& form = "Skip",
                   const std::string& server = "guard", const std::string& settings = {}) {
    const std::string config = "{backendRefs: [" + backendRef(server) + "], processingMode: {responseHeaders: Skip, " +
                               "requestBody: " + form + "}, requestAttributes: ['request.headers[\"x-do\"]']}";
    startWith("    - filters: [" +
                  inlined("{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 2s, " + more + ", config: " + config +
                          "}" + (others.empty() ? "" : ", " + others)) +
                  "]\n      backendRefs: [" + backendRef("echo") + "]\n",
              settings);
  }
  std::string echo(const std::string& what, const std::string& body = {}) const {
    std::vector<std::string> options = {"-H", "x-do: " + what};
    if (!body.empty()) options.insert(options.end(), {"--data-binary", "@" + body});
    return ask(*gateway_, "/echo", options);
  }
  std::string fileOf(std::size_t size) const {
    std::string bytes;
    for (std::size_t i = 0; bytes.size() < size; ++i) bytes += "word" + std::to_string(i) + " ";
    bytes.resize(size);
    content_ = bytes;
    return folder_.write("body", bytes);
  }
  mutable std::string content_;
};

const std::string kLocal = use("HeaderModifier", "local", "request-headers", "set: [{name: x-by, value: local}]");

TEST_F(BackedProcessors, RunInThePlaceOfAServerThatFails) {
  startBacked("phase: request-headers, fallback: {use: local}", kLocal);
  EXPECT_THAT(ask(*gateway_, "/", {"-H", "x-do: keep"}), Not(HasSubstr("x-by")));
  for (const char* what : {"fail", "garbage", "wrong", "hang", "badname"}) {
    const std::string answer = ask(*gateway_, "/", {"-H", std::string("x-do: ") + what});
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-by"), HasSubstr("local"))) << what;
    EXPECT_THAT(answer, Not(HasSubstr("x-guard"))) << what;
  }
  EXPECT_THAT(ask(*gateway_, "/", {"-H", "x-do: reject"}), StartsWith("HTTP/1.1 418")) << "a refusal is no failure";
  server_.reset();
  EXPECT_THAT(ask(*gateway_, "/"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-by")));
}

TEST_F(BackedProcessors, GetTheBodyAsItCame) {
  const std::string asking =
      "{name: local, type: 'sluice.dev/InProcess:v1', phase: request-body, config: {request: "
      "{setHeaders: [{name: x-length, value: 'string(size(request.body))'}]}}}";
  constexpr std::size_t kReplayBuffer = 64 * 1024;
  for (const std::size_t size : {std::size_t{10}, std::size_t{60'000}, std::size_t{900'000}}) {
    const std::string file = fileOf(size);
    for (const std::string form : {"Buffered", "Streamed", "FullDuplexStreamed"}) {
      startBacked("phase: request-body, fallback: {use: local}", asking, form, "guard",
                  limits("replayBuffer: " + std::to_string(kReplayBuffer)));
      for (const std::string what : {"fail", "keep"}) {
        const std::string answer = echo(what, file);
        const std::string cell = form + " " + what + " " + std::to_string(size);
        const bool isWhole = answer.ends_with("\r\n\r\n" + content_);
        if (form == "Streamed" && what == "fail") {
          EXPECT_FALSE(isWhole) << cell << ": the head has gone on, so it is too late for another use";
          continue;
        }
        // More bytes have gone to the server than are kept.
        const bool isLate = form == "FullDuplexStreamed" && size > kReplayBuffer;
        const bool isRefused = what == "fail" && isLate;
        EXPECT_THAT(answer, StartsWith(isRefused ? "HTTP/1.1 500" : "HTTP/1.1 200")) << cell;
        if (what == "fail" && !isRefused) {
          EXPECT_TRUE(isWhole) << cell;
        }
      }
    }
  }
}

TEST_F(BackedProcessors, AnswerInThePlaceOfAServerThatFails) {
  startBacked("phase: request-headers, fallback: {response: {status: 451, detail: not today}}", "");
  EXPECT_THAT(echo("keep"), StartsWith("HTTP/1.1 200"));
  for (const char* what : {"fail", "hang"}) {
    EXPECT_THAT(echo(what), AllOf(StartsWith("HTTP/1.1 451"), HasSubstr("not today"), Not(HasSubstr("on purpose"))))
        << what;
  }
  startBacked("phase: request-headers, failOpen: true, fallback: {response: {}}", "");
  EXPECT_THAT(echo("fail"), StartsWith("HTTP/1.1 503"));
}

TEST_F(BackedProcessors, TakeThePlaceOfAUseThatCannotRun) {
  startBacked("phase: request-headers, fallback: {use: local}", kLocal, "Skip", "absent");
  EXPECT_THAT(ask(*gateway_, "/"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-by")));
  startBacked("phase: request-headers, fallback: {response: {status: 451}}", "", "Skip", "absent");
  EXPECT_THAT(echo(""), StartsWith("HTTP/1.1 451"));
}

TEST_F(BackedProcessors, JudgeConnectionsInThePlaceOfAServer) {
  const auto guard = [](const std::string& network) {
    return "{name: local, type: 'sluice.dev/ConnectGuard:v1', phase: connect, config: {allow: [{cidrs: [" + network +
           "]}]}}";
  };
  startBacked("phase: connect, fallback: {use: local}", guard("127.0.0.0/8"), "Skip", "other");
  EXPECT_THAT(echo(""), StartsWith("HTTP/1.1 200")) << "the server speaks no gRPC";
  startBacked("phase: connect, fallback: {use: local}", guard("10.0.0.0/8"), "Skip", "other");
  EXPECT_THAT(echo(""), StartsWith("HTTP/1.1 403"));
}

TEST_F(BackedProcessors, AreExplained) {
  startBacked("phase: request-headers, fallback: {use: local}", kLocal);
  EXPECT_THAT(gateway_->adminGet("/explain?url=http://any.test/"), HasSubstr(R"("fallback":"use local")"));
}

}  // namespace
}  // namespace sluice::test
