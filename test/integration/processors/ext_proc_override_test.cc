// Tests the modes that an external processor chooses itself, by mode_override in its answers to headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/processors/ext_proc_fixture.h"
#include "test/integration/support/blocking_socket.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class ExternalProcessorOverrides : public ExternalProcessorTest {
 protected:
  /// Starts a gateway whose server gets headers, and more if `modes` asks for it, and may choose its modes. `more` has
  /// further members of the use; without any the timeout is long enough for a busy machine.
  void startChoosing(const std::string& modes = {}, const std::string& more = {}, const std::string& backend = "origin",
                     const std::string& settings = {}) {
    startWith("    - " +
                  guarding(", allowModeOverride: true, processingMode: {" + modes + "}",
                           more.empty() ? ", timeout: 10s" : more) +
                  "      backendRefs: [" + backendRef(backend) + "]\n",
              settings);
  }
  /// Returns the answer to a request with a body, to whose headers the server answers with this mode_override.
  std::string choose(const std::string& modes, const std::string& body = "hello") const {
    return ask(*gateway_, "/echo", {"-H", "x-mode: " + modes, "--data-binary", body});
  }
  static std::string bodyOf(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }
};

TEST_F(ExternalProcessorOverrides, AskForABodyBehindTheHeaders) {
  startChoosing("responseHeaders: Skip", {}, "echo");
  const std::string large = folder_.write("body", std::string(300'000, 'a'));
  for (const char* form : {"BUFFERED", "STREAMED", "BUFFERED_PARTIAL"}) {
    const std::string modes = std::string(R"({"response_header_mode":"SKIP","request_body_mode":")") + form + "\"}";
    EXPECT_THAT(choose(modes), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nHELLO"))) << form;
    EXPECT_THAT(heard(), MatchesRegex("request_headers \\(.*\\) request_body\\$")) << form;
    const std::string whole = bodyOf(choose(modes, "@" + large));
    EXPECT_EQ(whole.size(), 300'000u) << form;
    EXPECT_EQ(whole.front(), 'A') << form;
    EXPECT_EQ(whole.back(), std::string(form) == "BUFFERED_PARTIAL" ? 'a' : 'A') << form << ": what fits";
    heard();
  }
}

TEST_F(ExternalProcessorOverrides, AskForTheResponseInTheAnswerToTheRequest) {
  startChoosing("responseHeaders: Skip");
  const std::string answer = choose(R"({"response_header_mode":"SEND","response_body_mode":"BUFFERED"})");
  EXPECT_THAT(answer, AllOf(HasSubstr("x-guard: seen"), HasSubstr("FROM ORIGIN")));
  EXPECT_THAT(origin_.bodies(), ElementsAre("hello"));
  EXPECT_THAT(heard(), MatchesRegex("request_headers \\(.*\\) response_headers response_body\\$"));
}

TEST_F(ExternalProcessorOverrides, AskForTheResponsesBodyBehindItsHeaders) {
  startChoosing();
  EXPECT_THAT(get("look"), AllOf(HasSubstr("x-guard: seen"), EndsWith("FROM ORIGIN\n")));
  EXPECT_THAT(heard(), MatchesRegex("request_headers\\$ \\(.*\\) response_headers response_body.*"));
}

TEST_F(ExternalProcessorOverrides, AskForTrailersAlone) {
  startChoosing("responseHeaders: Skip", {}, "echo");
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send(
      "POST /look HTTP/1.1\r\nHost: any.test\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n"
      "x-mode: {\"response_header_mode\":\"SKIP\",\"request_trailer_mode\":\"SEND\"}\r\n\r\n"
      "5\r\nhello\r\n0\r\nx-checksum: 17\r\n\r\n");
  EXPECT_THAT(readResponse(client).body, AllOf(HasSubstr("x-checksum: 17"), HasSubstr("x-behind: seen")));
  EXPECT_THAT(heard(), MatchesRegex("request_headers \\(.*\\) request_trailers"));
}

TEST_F(ExternalProcessorOverrides, LeaveALengthAndABodyAsTheyAreIfTheyAskForNone) {
  startChoosing("responseHeaders: Skip");
  EXPECT_THAT(choose(R"({"response_header_mode":"SKIP"})"), HasSubstr("content-length: 12"));
  EXPECT_THAT(lastHead(), HasSubstr("content-length: 5"));
  EXPECT_THAT(origin_.bodies(), ElementsAre("hello"));
  EXPECT_THAT(heard(), MatchesRegex("request_headers \\(.*\\)"));
}

TEST_F(ExternalProcessorOverrides, ChangeTheFormOfABodyThatTheModesName) {
  startChoosing("requestBody: Buffered, responseHeaders: Skip", {}, "echo");
  EXPECT_THAT(choose(R"({"response_header_mode":"SKIP","request_body_mode":"STREAMED"})"), EndsWith("\r\n\r\nHELLO"));
  EXPECT_THAT(choose(R"({"response_header_mode":"SKIP"})"), EndsWith("\r\n\r\nhello"));
}

TEST_F(ExternalProcessorOverrides, MayReplaceABodyThatTheModesSkip) {
  startChoosing("responseHeaders: Skip", {}, "echo");
  for (const char* what : {"replace", "leave"}) {
    EXPECT_THAT(ask(*gateway_, "/echo", {"-H", std::string("x-do: ") + what, "--data-binary", "hello"}),
                AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nreplaced")))
        << what;
  }
}

TEST_F(ExternalProcessorOverrides, FailIfTheBodyThatTheyAskForCannotBeHad) {
  startChoosing();
  EXPECT_THAT(choose(R"({"request_body_mode":"FULL_DUPLEX_STREAMED"})"), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(choose(R"({"response_body_mode":"GRPC"})"), StartsWith("HTTP/1.1 500"));
  startChoosing({}, ", phase: request-headers");
  EXPECT_THAT(choose(R"({"request_body_mode":"BUFFERED"})"), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(choose(R"({"response_trailer_mode":"SEND"})"), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(post("replace", "hello"), StartsWith("HTTP/1.1 500")) << "nobody would put the body in";
  EXPECT_TRUE(origin_.heads().empty());
  EXPECT_THAT(choose("{}"), StartsWith("HTTP/1.1 200")) << "it asks for nothing";
}

TEST_F(ExternalProcessorOverrides, HaveNoEffectUnlessTheyAreAllowed) {
  start("responseHeaders: Skip");
  EXPECT_THAT(choose(R"({"request_body_mode":"BUFFERED","response_body_mode":"BUFFERED"})"), EndsWith("from origin\n"));
  EXPECT_THAT(origin_.bodies(), ElementsAre("hello"));
  EXPECT_THAT(heard(), MatchesRegex("request_headers \\(.*\\)"));
}

TEST_F(ExternalProcessorOverrides, HoldABodyWithinTheBoundOfBodies) {
  startChoosing({}, ", failOpen: false", "origin", "limits: {processorBuffer: 64Ki}\n");
  const std::string large = folder_.write("body", std::string(100'000, 'a'));
  EXPECT_THAT(choose(R"({"request_body_mode":"BUFFERED"})", "@" + large), StartsWith("HTTP/1.1 413"));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ExternalProcessorOverrides, AreLeftOutByteForByteIfTheyFailOpen) {
  startChoosing({}, ", failOpen: true", "origin", "timeouts: {processor: 500ms}\n");
  for (const char* what : {"die", "hang"}) {
    const std::string answer = ask(*gateway_, "/a",
                                   {"-H", std::string("x-do: ") + what, "-H",
                                    R"(x-mode: {"request_body_mode":"BUFFERED"})", "--data-binary", "hello"});
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << what;
    EXPECT_EQ(origin_.bodies().back(), "hello") << what;
  }
}

}  // namespace
}  // namespace sluice::test
