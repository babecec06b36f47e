// Tests external processors with a server on grpc-js: which parts it gets in which order, the effects of its answers,
// and the outcome of requests when it fails.
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
using testing::Not;
using testing::StartsWith;

class ExternalProcessors : public ExternalProcessorTest {};

constexpr const char* kIntroduced = "(backend=test/origin gateway=test/egress route=test/all tier=gold)";

TEST_F(ExternalProcessors, EditHeadersAndBodiesOfBothWays) {
  start(kWholeBodies);
  const std::string answer = post("", "hello");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-guard: seen"), HasSubstr("FROM ORIGIN")));
  EXPECT_THAT(answer, Not(HasSubstr("X-Secret"))) << "it was removed";
  EXPECT_THAT(lastHead(), AllOf(HasSubstr("x-guard: seen"), Not(HasSubstr("x-secret"))));
  EXPECT_THAT(origin_.bodies(), ElementsAre("HELLO"));
  EXPECT_EQ(heard(), std::string("request_headers ") + kIntroduced + " request_body$ response_headers response_body$");
}

TEST_F(ExternalProcessors, AreToldOfNoBodyWhereThereIsNone) {
  start(kWholeBodies);
  EXPECT_THAT(get(""), HasSubstr("FROM ORIGIN"));
  EXPECT_EQ(heard(), std::string("request_headers$ ") + kIntroduced + " response_headers response_body$");
}

TEST_F(ExternalProcessors, GetHeadersAloneByDefault) {
  start("");
  EXPECT_THAT(post("", "hello"), AllOf(HasSubstr("x-guard: seen"), HasSubstr("from origin")));
  EXPECT_THAT(origin_.bodies(), ElementsAre("hello"));
  EXPECT_EQ(heard(), std::string("request_headers ") + kIntroduced + " response_headers");
}

TEST_F(ExternalProcessors, GetThePartsThatTheirModesSend) {
  start("requestHeaders: Send, requestBody: Skip, responseHeaders: Skip, responseBody: Skip");
  EXPECT_THAT(post("", "hello"), AllOf(Not(HasSubstr("x-guard")), HasSubstr("from origin")));
  EXPECT_EQ(heard(), std::string("request_headers ") + kIntroduced);
}

TEST_F(ExternalProcessors, GetLongBodiesInEachForm) {
  const std::string sent = folder_.write("body", std::string(200'000, 'a'));
  for (const char* form : {"Buffered", "Streamed", "BufferedPartial"}) {
    startEcho(form);
    const std::string answer = ask(*gateway_, "/echo", {"--data-binary", "@" + sent});
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << form;
    const std::string got = answer.substr(answer.find("\r\n\r\n") + 4);
    ASSERT_EQ(got.size(), 200'000u) << form;
    EXPECT_EQ(got.front(), 'A') << form;
    const bool whole = std::string_view(form) != "BufferedPartial";
    EXPECT_EQ(got.back(), whole ? 'A' : 'a') << form << ": what does not fit passes";
    EXPECT_THAT(heard(), AllOf(HasSubstr("request_body"), EndsWith("response_headers"))) << form;
  }
}

TEST_F(ExternalProcessors, RefuseRequestsWithAnAnswerOfTheirOwn) {
  start(kWholeBodies);
  const std::string answer = get("reject");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 418"), HasSubstr("x-why: tea"), EndsWith("\r\n\r\nshort and stout")));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ExternalProcessors, RefuseGrpcCallsInGrpcsOwnTerms) {
  start(kWholeBodies);
  const std::string answer = get("reject", {"--http2-prior-knowledge", "-H", "content-type: application/grpc"});
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/2 200"), HasSubstr("grpc-status: 9"), HasSubstr("x-why: tea"),
                            HasSubstr("grpc-message: short and stout")));
}

TEST_F(ExternalProcessors, HaveTheRouteMatchedAgain) {
  startWith("    - matches: [{headers: [{name: x-tenant, value: two}]}]\n      backendRefs: [" + backendRef("other") +
            "]\n    - " + guarding() + backendRefs());
  EXPECT_THAT(get("route"), HasSubstr("other"));
  EXPECT_TRUE(origin_.heads().empty());
  EXPECT_THAT(get("keep"), HasSubstr("from origin"));
}

TEST_F(ExternalProcessors, ReplaceABodyThatTheyHaveNotSeen) {
  for (const char* form : {"Buffered", "Streamed", "BufferedPartial"}) {
    startEcho(form);
    EXPECT_THAT(ask(*gateway_, "/echo", {"-H", "x-do: replace", "--data-binary", "hello"}),
                AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\nreplaced")))
        << form;
    EXPECT_THAT(heard(), Not(HasSubstr("request_body"))) << form;
  }
}

TEST_F(ExternalProcessors, SetThePathAndNothingThatIsTheGateways) {
  start("");
  EXPECT_THAT(get("path"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(lastHead(), StartsWith("GET /edited HTTP/1.1"));
  EXPECT_THAT(post("own", "hello"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(lastHead(), AllOf(Not(HasSubstr("evil.test")), Not(HasSubstr("x-envoy")), HasSubstr("ontent-")));
  EXPECT_EQ(origin_.bodies().back(), "hello");
}

TEST_F(ExternalProcessors, DoNotSeeTheSecretsOfTheGateway) {
  const std::string injected = use("CredentialInjector", "key", "request-headers",
                                   "secretRef: {name: key}, allowPlaintext: true", ", priority: -1");
  const std::string guard =
      "{name: guard, type: 'sluice.dev/ExtProc:v1', config: {backendRefs: [" + backendRef("guard") + "]}}";
  startWith("    - filters: [" + inlined(injected + ", " + guard) + "]\n" + backendRefs(), {},
            secretOf("key", "token: hunter2"));
  EXPECT_THAT(ask(*gateway_, "/", {"-H", "x-open: seen"}), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(lastHead(), HasSubstr("Bearer hunter2"));
  EXPECT_THAT(heard(), AllOf(HasSubstr("x-open=seen"), Not(HasSubstr("hunter2"))));
}

TEST_F(ExternalProcessors, ReplaceTheRequestsBodyAndNotThatOfAResponseThatComesBefore) {
  startWith("    - " + guarding(", processingMode: {requestBody: Streamed, responseBody: Buffered}") +
            "      backendRefs: [" + backendRef("echo") + "]\n");
  BlockingSocket client = BlockingSocket::connect(gateway_->port());
  client.send("POST /early HTTP/1.1\r\nHost: any.test\r\nx-do: replace\r\nContent-Length: 10\r\n\r\nhello");
  const ReceivedResponse answer = readResponse(client);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, AllOf(StartsWith("{"), HasSubstr("\"TARGET\": \"/EARLY\""))) << "it is that of the origin";
}

TEST_F(ExternalProcessors, LeavePartsOutByModeOverrideIfTheyMay) {
  startWith("    - " + guarding(", allowModeOverride: true, processingMode: {" + std::string(kWholeBodies) + "}") +
            backendRefs());
  EXPECT_THAT(post("less", "hello"), HasSubstr("from origin"));
  EXPECT_THAT(origin_.bodies(), ElementsAre("hello"));
  EXPECT_THAT(heard(), StartsWith("request_headers ("));
}

TEST_F(ExternalProcessors, EndTheStreamAndHearNoMore) {
  start(kWholeBodies);
  EXPECT_THAT(post("close", "hello"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("from origin")));
  EXPECT_THAT(origin_.bodies(), ElementsAre("hello"));
}

struct ServerFault {
  const char* what;
  int status;  // if the use fails closed
};

TEST_F(ExternalProcessors, FailClosedOrAreLeftOutByteForByte) {
  constexpr ServerFault kFaults[] = {{"hang", 504}, {"fail", 500},    {"garbage", 500}, {"wrong", 500},
                                     {"many", 500}, {"badname", 500}, {"die", 500}};
  for (const bool open : {false, true}) {
    start(kWholeBodies, open ? ", failOpen: true" : "", "timeouts: {processor: 500ms}\n");
    for (const ServerFault& fault : kFaults) {
      const std::size_t before = origin_.bodies().size();
      const std::string answer = post(fault.what, "hello");
      if (open) {
        EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("from origin"))) << fault.what;
        ASSERT_EQ(origin_.bodies().size(), before + 1) << fault.what;
        EXPECT_EQ(origin_.bodies().back(), "hello") << fault.what;
      } else {
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(fault.status))) << fault.what;
        EXPECT_EQ(origin_.bodies().size(), before) << fault.what;
      }
    }
  }
}

TEST_F(ExternalProcessors, RefuseRequestsWithAStatusThatIsNoneEvenIfTheyFailOpen) {
  start(kWholeBodies, ", failOpen: true");
  EXPECT_THAT(get("badstatus"), StartsWith("HTTP/1.1 500"));
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(ExternalProcessors, FailIfTheyAnswerTwice) {
  start(kWholeBodies);
  EXPECT_THAT(post("twice", "hello"), StartsWith("HTTP/1.1 500"));
}

TEST_F(ExternalProcessors, GuardNothingElseWhileTheyAreDown) {
  server_->process().signal(SIGKILL);
  server_->process().wait();
  startWith("    - matches: [{path: {value: /free}}]\n" + backendRefs() + "    - " + guarding() + backendRefs());
  EXPECT_THAT(ask(*gateway_, "/free"), HasSubstr("from origin"));
  EXPECT_THAT(ask(*gateway_, "/guarded"), StartsWith("HTTP/1.1 500"));
}

}  // namespace
}  // namespace sluice::test
