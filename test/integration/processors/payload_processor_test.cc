// Tests processors that use the draft protocol of payload processors, with a server on grpc-js.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/processors/ext_proc_fixture.h"
#include "test/integration/support/blocking_socket.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr const char* kStreamedModes = "requestBody: Streamed, responseBody: Streamed";

class PayloadProcessors : public ExternalProcessorTest {
 protected:
  PayloadProcessors() : ExternalProcessorTest("payload_server.mjs") {}

  void startPayload(const std::string& modes, const std::string& more = {}) {
    startWith("    - " +
              guarding(", protocol: PayloadProcessor, processingMode: {" + modes + "}, context: {tier: gold}", more) +
              backendRefs());
  }
  void startPayloadEcho(const std::string& more = {}) {
    startWith(
        "    - " +
        guarding(", protocol: PayloadProcessor, processingMode: {requestBody: Streamed, responseHeaders: Skip}", more) +
        "      backendRefs: [" + backendRef("echo") + "]\n");
  }
  std::string echo(const std::string& what, const std::string& body) {
    return ask(*gateway_, "/echo", {"-H", "x-do: " + what, "--data-binary", body});
  }
};

TEST_F(PayloadProcessors, EditHeadersAndBodiesOfBothWays) {
  startPayload(kStreamedModes);
  const std::string answer = post("", "hello");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-guard: seen"), HasSubstr("FROM ORIGIN")));
  EXPECT_THAT(origin_.heads().front(), AllOf(HasSubstr("x-guard: seen"), Not(HasSubstr("x-secret"))));
  EXPECT_THAT(heard(), MatchesRegex("request_headers \\(backend=test/origin gateway=test/egress route=test/all "
                                    "tier=gold\\) request_body\\$ response_headers response_body.*"));
  startPayloadEcho();
  EXPECT_THAT(echo("", "hello"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nHELLO")));
}

TEST_F(PayloadProcessors, GetHeadersAlone) {
  startPayload("");
  EXPECT_THAT(post("", "hello"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-guard: seen")));
  EXPECT_EQ(origin_.bodies().back(), "hello");
  EXPECT_THAT(heard(), EndsWith(" response_headers"));
}

TEST_F(PayloadProcessors, HoldARequestUntilTheyKnowItsBody) {
  startPayloadEcho();
  const std::string sent = folder_.write("body", std::string(200'000, 'a'));
  const std::string answer = echo("hold", "@" + sent);
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), EndsWith("A")));
  EXPECT_EQ(answer.substr(answer.find("\r\n\r\n") + 4).size(), 200'000u);
  startPayload(kStreamedModes);
  post("hold", "hello");
  EXPECT_THAT(origin_.heads().front(), HasSubstr("x-length: 5"));
}

TEST_F(PayloadProcessors, LetGoWhatTheyHoldAtTheEnd) {
  startPayloadEcho();
  EXPECT_THAT(echo("ever", "hello"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nhello")));
}

TEST_F(PayloadProcessors, MayKeepNoMoreThanTheirBound) {
  startPayloadEcho();
  const std::string sent = folder_.write("body", std::string(3'000'000, 'a'));
  EXPECT_THAT(echo("ever", "@" + sent), HasSubstr("HTTP/1.1 413"));
}

TEST_F(PayloadProcessors, EndPhasesThatTheyNeedNot) {
  startPayload(kStreamedModes);
  EXPECT_THAT(post("less", "hello"), AllOf(HasSubstr("from origin"), Not(HasSubstr("x-guard"))));
  EXPECT_EQ(origin_.bodies().back(), "hello");
  EXPECT_THAT(heard(), MatchesRegex("request_headers \\(.*\\)"));
}

TEST_F(PayloadProcessors, ClearBodies) {
  startPayloadEcho();
  EXPECT_THAT(echo("clear", "hello"), AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n")));
}

TEST_F(PayloadProcessors, RefuseRequests) {
  startPayload(kStreamedModes);
  EXPECT_THAT(post("reject", "hello"),
              AllOf(StartsWith("HTTP/1.1 418"), HasSubstr("x-why: tea"), EndsWith("short and stout")));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(PayloadProcessors, SeeTheCallCancelledWhenTheClientLeaves) {
  startPayload(kStreamedModes, ", timeout: 60s");
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send("GET / HTTP/1.1\r\nHost: any.test\r\nx-do: hang\r\n\r\n");
  EXPECT_TRUE(server_->process().waitForLine("asked"));
  client.reset();
  EXPECT_THAT(heard(), StartsWith("request_headers$"));
}

TEST_F(PayloadProcessors, FailClosedOrAreLeftOutByteForByte) {
  for (const bool open : {false, true}) {
    startPayloadEcho(open ? ", failOpen: true" : "");
    for (const char* fault : {"odd", "early"}) {
      const std::string answer = echo(fault, "hello");
      EXPECT_THAT(answer, StartsWith(open ? "HTTP/1.1 200" : "HTTP/1.1 500")) << fault;
      EXPECT_EQ(answer.ends_with("\r\n\r\nhello"), open) << fault;
    }
  }
}

}  // namespace
}  // namespace sluice::test
