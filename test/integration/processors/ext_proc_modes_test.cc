// Tests the features of external processors besides headers and plain bodies: full duplex, trailers, observation,
// attributes, route hints, more time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
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

constexpr const char* kDuplex = "requestBody: FullDuplexStreamed, responseBody: FullDuplexStreamed";

class ExternalProcessorModes : public ExternalProcessorTest {
 protected:
  /// Returns the echo of a request with chunks and a trailer.
  std::string askWithTrailers(const std::string& what, const std::string& more = {}) {
    BlockingSocket client = BlockingSocket::connect(gateway_->port());
    client.send("POST /look HTTP/1.1\r\nHost: any.test\r\nx-do: " + what +
                "\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n" + more +
                "\r\n5\r\nhello\r\n0\r\nx-checksum: 17\r\nx-secret: client\r\n\r\n");
    return readResponse(client).body;
  }
};

TEST_F(ExternalProcessorModes, GiveBodiesOfTheirOwnInFullDuplex) {
  start(kDuplex);
  const std::string answer = post("", "hello");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-guard: seen"), HasSubstr("FROM ORIGIN")));
  EXPECT_THAT(origin_.heads().front(), HasSubstr("x-guard: seen"));
  EXPECT_THAT(heard(), MatchesRegex("request_headers \\(.*\\) request_body\\$ response_headers response_body.*"));
  startEcho("FullDuplexStreamed");
  EXPECT_THAT(ask(*gateway_, "/echo", {"--data-binary", "hello"}), EndsWith("\r\n\r\nHELLO"));
}

TEST_F(ExternalProcessorModes, MayAnswerToTheHeadersBehindTheBody) {
  startEcho("FullDuplexStreamed");
  const std::string sent = folder_.write("body", std::string(300'000, 'a'));
  const std::string answer = ask(*gateway_, "/echo", {"-H", "x-do: late", "--data-binary", "@" + sent});
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), EndsWith("A")));
  EXPECT_EQ(answer.substr(answer.find("\r\n\r\n") + 4).size(), 300'000u);
  start(kDuplex);
  post("late", "hello");
  EXPECT_THAT(origin_.heads().front(), HasSubstr("x-length: 5"));
}

TEST_F(ExternalProcessorModes, AnswerToRequestsWithoutABodyInFullDuplex) {
  start("requestBody: FullDuplexStreamed, responseHeaders: Skip");
  EXPECT_THAT(get(""), HasSubstr("from origin"));
  EXPECT_THAT(lastHead(), AllOf(HasSubstr("x-guard: seen"), Not(HasSubstr("ransfer-"))));
  EXPECT_THAT(heard(), MatchesRegex("request_headers\\$ \\(.*\\)"));
}

TEST_F(ExternalProcessorModes, MayEndTheirBodyBeforeTheClientsEnds) {
  startEcho("FullDuplexStreamed");
  EXPECT_THAT(ask(*gateway_, "/echo", {"-H", "x-do: early", "--data-binary", "hello"}),
              AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nearly")));
}

TEST_F(ExternalProcessorModes, RefuseRequestsInFullDuplex) {
  start(kDuplex);
  EXPECT_THAT(post("reject", "hello"), AllOf(StartsWith("HTTP/1.1 418"), EndsWith("short and stout")));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ExternalProcessorModes, FailInFullDuplexClosedOrByteForByte) {
  for (const bool open : {false, true}) {
    start(kDuplex, open ? ", failOpen: true" : "", "timeouts: {processor: 500ms}\n");
    for (const std::string fault : {"hang", "fail", "garbage", "wrong", "close"}) {
      const std::size_t before = origin_.bodies().size();
      const std::string answer = post(fault, "hello");
      const std::string status = open ? "200" : fault == "hang" ? "504" : "500";
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + status)) << fault;
      ASSERT_EQ(origin_.bodies().size(), before + (open ? 1 : 0)) << fault;
      EXPECT_EQ(open ? origin_.bodies().back() : "hello", "hello") << fault;
    }
  }
}

TEST_F(ExternalProcessorModes, SeeAndChangeTrailersInEachForm) {
  for (const char* form : {"Skip", "Buffered", "Streamed", "FullDuplexStreamed"}) {
    startWith("    - " +
              guarding(", processingMode: {requestBody: " + std::string(form) +
                       ", requestTrailers: Send, responseHeaders: Skip}") +
              "      backendRefs: [" + backendRef("echo") + "]\n");
    const std::string echo = askWithTrailers("");
    EXPECT_THAT(echo, AllOf(HasSubstr("x-checksum: 17"), HasSubstr("x-behind: seen"))) << form;
    const bool removes = std::string_view(form) != "FullDuplexStreamed";
    EXPECT_EQ(echo.find("x-secret") == std::string::npos, removes) << form;
    EXPECT_THAT(heard(), EndsWith("request_trailers")) << form;
  }
}

TEST_F(ExternalProcessorModes, SeeTheTrailersBehindABodyOfWhichTheyGetAPart) {
  startWith("    - " +
            guarding(", processingMode: {requestBody: BufferedPartial, requestTrailers: Send, responseHeaders: Skip}") +
            "      backendRefs: [" + backendRef("echo") + "]\n");
  EXPECT_THAT(askWithTrailers(""), AllOf(HasSubstr("x-checksum: 17"), HasSubstr("x-behind: seen")));
  EXPECT_THAT(heard(), EndsWith("request_body request_trailers"));
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send("POST /look HTTP/1.1\r\nHost: any.test\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n30d40\r\n" +
              std::string(200'000, 'a') + "\r\n0\r\nx-checksum: 17\r\n\r\n");
  EXPECT_THAT(readResponse(client).body, AllOf(HasSubstr("x-checksum: 17"), HasSubstr("x-behind: seen")));
  EXPECT_THAT(heard(), EndsWith("request_body request_trailers"));
}

TEST_F(ExternalProcessorModes, OnlyLookInObservabilityMode) {
  startWith("    - " +
            guarding(", observabilityMode: true, processingMode: {requestBody: Streamed, responseBody: Streamed}") +
            backendRefs());
  const std::string answer = post("reject", "hello");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("from origin"), HasSubstr("X-Secret")));
  EXPECT_THAT(origin_.bodies(), ElementsAre("hello"));
  EXPECT_THAT(heard(), AllOf(HasSubstr("\"hello\""), HasSubstr("response_headers"), HasSubstr("\"from origin")));
}

TEST_F(ExternalProcessorModes, DoNotHoldARequestUpThatTheyOnlyObserve) {
  startWith("    - " + guarding(", observabilityMode: true") + backendRefs());
  EXPECT_THAT(get("hang"), HasSubstr("from origin"));
  server_->process().signal(SIGKILL);
  server_->process().wait();
  EXPECT_THAT(get(""), HasSubstr("from origin"));
}

TEST_F(ExternalProcessorModes, GetTheAttributesThatAreNamed) {
  startWith("    - " +
            guarding(", requestAttributes: [request.path, request.method], responseAttributes: [response.code]") +
            backendRefs());
  get("");
  EXPECT_THAT(heard(), AllOf(HasSubstr("ext_proc[request.method=GET request.path=/a?b=c]"),
                             HasSubstr("ext_proc[response.code=number 200]")));
}

TEST_F(ExternalProcessorModes, GetTheAttributesWithTheBodyIfTheHeadersAreSkipped) {
  startWith("    - " +
            guarding(", requestAttributes: [request.path], processingMode: {requestHeaders: Skip, requestBody: "
                     "Streamed, responseHeaders: Skip}") +
            backendRefs());
  post("", "hello");
  EXPECT_THAT(heard(), MatchesRegex("request_body\\$ .*ext_proc\\[request.path=/a\\?b=c\\]"));
}

TEST_F(ExternalProcessorModes, GiveRouteHints) {
  startWith("    - matches: [{headers: [{name: x-tenant, value: two}]}]\n      backendRefs: [" + backendRef("other") +
            "]\n    - " + guarding() + backendRefs());
  EXPECT_THAT(get("hint"), HasSubstr("other"));
  EXPECT_THAT(other_.heads().back(), Not(HasSubstr("x-tenant"))) << "a hint is for matching alone";
}

TEST_F(ExternalProcessorModes, GetMoreTimeOnceIfTheSettingsAllowIt) {
  for (const bool allowed : {true, false}) {
    startWith(
        "    - " +
        guarding(std::string(", processingMode: {responseHeaders: Skip}") + (allowed ? ", maxMessageTimeout: 60s" : ""),
                 ", timeout: 300ms") +
        backendRefs());
    EXPECT_THAT(get("slow"), StartsWith(allowed ? "HTTP/1.1 200" : "HTTP/1.1 504")) << allowed;
  }
}

TEST_F(ExternalProcessorModes, FailWithTheStatusThatTheSettingsSay) {
  startWith("    - " + guarding(", statusOnError: 503") + backendRefs(), "timeouts: {processor: 300ms}\n");
  EXPECT_THAT(get("garbage"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(get("hang"), StartsWith("HTTP/1.1 503"));
}

}  // namespace
}  // namespace sluice::test
