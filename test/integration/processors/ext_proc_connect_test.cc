// Tests external processors that decide about addresses, in the phase connect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/processors/ext_proc_fixture.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ExternalProcessorsOfConnect : public ExternalProcessorTest {
 protected:
  /// Starts a gateway in front of an origin with these addresses.
  void startAt(const std::string& addresses, const std::string& more = {}, const std::string& config = {}) {
    GatewaySpec spec;
    spec.routes = routeOfRules("    - " +
                               guarding(", requestAttributes: ['request.headers[\"x-do\"]', request.method]" + config,
                                        ", phase: connect" + more) +
                               "      retry: {attempts: 2, codes: [503]}\n" + backendRefs());
    spec.backends = {{.port = origin_.port(), .addresses = addresses},
                     {.name = "guard", .hostname = "guard.test", .port = server_->port()}};
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
};

TEST_F(ExternalProcessorsOfConnect, GetAttributesAlone) {
  startAt("127.0.0.1");
  const std::string answer = get("keep");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  const std::string heard = this->heard();
  EXPECT_THAT(heard, AllOf(StartsWith("request_headers$"), HasSubstr("destination.address=127.0.0.1"),
                           HasSubstr("destination.port=number " + std::to_string(origin_.port())),
                           HasSubstr("connection.requested_server_name= "), HasSubstr("source.address=127.0.0.1"),
                           HasSubstr("source.namespace= "), HasSubstr("source.principal= "),
                           HasSubstr("source.assurance=None"), HasSubstr("request.method=GET")));
  EXPECT_THAT(heard, Not(HasSubstr("response")));
}

TEST_F(ExternalProcessorsOfConnect, ChangeNothingUnlessTheyDeny) {
  startAt("127.0.0.1");
  const std::string answer = get("path");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(lastHead(), AllOf(StartsWith("GET /a?b=c "), Not(HasSubstr("x-guard"))));
  EXPECT_THAT(get("close"), StartsWith("HTTP/1.1 200")) << "the server is done";
}

TEST_F(ExternalProcessorsOfConnect, DenyWithAnAnswerOfTheirOwn) {
  startAt("127.0.0.1");
  EXPECT_THAT(get("reject"), AllOf(StartsWith("HTTP/1.1 418"), HasSubstr("x-why: tea"), HasSubstr("short and stout")));
  EXPECT_TRUE(origin_.heads().empty());
}

/// Nothing listens at the first two addresses, so an answer of the origin means that they were left out.
TEST_F(ExternalProcessorsOfConnect, LeaveAddressesOut) {
  startAt("127.0.0.2, 127.0.0.3, 127.0.0.1");
  EXPECT_THAT(get("only 127.0.0.1"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get("only 127.0.0.3"), StartsWith("HTTP/1.1 503")) << "each attempt asks, and goes nowhere else";
  EXPECT_THAT(get("only 127.0.0.9"), AllOf(StartsWith("HTTP/1.1 451"), HasSubstr("not there")));
  EXPECT_EQ(origin_.heads().size(), 1U);
}

/// A server that hangs about one address has denied the other one all the same, in any order.
TEST_F(ExternalProcessorsOfConnect, KeepWhatTheyHaveDeniedIfTheyFailThen) {
  for (const char* addresses : {"127.0.0.1, 127.0.0.2", "127.0.0.2, 127.0.0.1"}) {
    startAt(addresses, ", timeout: 500ms, failOpen: true");
    EXPECT_THAT(get("hang 127.0.0.2"), AllOf(StartsWith("HTTP/1.1 451"), HasSubstr("not there"))) << addresses;
    EXPECT_TRUE(origin_.heads().empty());
  }
}

TEST_F(ExternalProcessorsOfConnect, FailAsTheirUseSays) {
  for (const bool open : {false, true}) {
    startAt("127.0.0.1", std::string(", timeout: 2s") + (open ? ", failOpen: true" : ""));
    for (const auto& [what, status] :
         {std::pair("fail", "500"), std::pair("garbage", "500"), std::pair("wrong", "500"), std::pair("hang", "504")}) {
      EXPECT_THAT(get(what), StartsWith(std::string("HTTP/1.1 ") + (open ? "200" : status))) << what;
    }
  }
}

TEST_F(ExternalProcessorsOfConnect, MayOnlyObserve) {
  startAt("127.0.0.1", {}, ", observabilityMode: true");
  EXPECT_THAT(get("reject"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(heard(), HasSubstr("destination.address=127.0.0.1"));
}

TEST_F(ExternalProcessorsOfConnect, CannotSpeakTheDraftProtocol) {
  startAt("127.0.0.1", {}, ", protocol: PayloadProcessor");
  EXPECT_THAT(get("keep"), StartsWith("HTTP/1.1 500"));
}

}  // namespace
}  // namespace sluice::test
