#include "filters/external_auth/external_auth.h"

#include <gmock/gmock.h>

#include "filters/external_auth/authorization.pb.h"
#include "proxy/http/grpc.h"
#include "test/filters/filter_rig.h"

namespace sluice::filters {
namespace {

using processing::Phase;
using processing::Verdict;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kOverHttp = "{protocol: HTTP, backendRef: {name: guard}}";
constexpr const char* kOverGrpc = "{protocol: GRPC, backendRef: {name: guard}, grpc: {}}";

class ExternalAuthType : public testing::Test {
 protected:
  /// Runs the step until it has decided.
  Verdict decide(const std::string& config, Phase phase = Phase::kRequestHeaders) {
    EXPECT_EQ(rig_.make(config), "");
    Verdict verdict = rig_.run(phase);
    for (int i = 0; i < 3 && verdict.kind() == Verdict::Kind::kWait; ++i) verdict = rig_.run(phase);
    return verdict;
  }
  Verdict answered(const external_auth::CheckResponse& answer) {
    rig_.answer(200, {{"content-type", "application/grpc"}, {"grpc-status", "0"}},
                http::frameGrpcMessage(answer.SerializeAsString()));
    return decide(kOverGrpc);
  }
  static external_auth::CheckResponse setting(const std::string& name, const std::string& value) {
    external_auth::CheckResponse answer;
    external_auth::HeaderValue& header = *answer.mutable_ok_response()->add_headers()->mutable_header();
    header.set_key(name);
    header.set_value(value);
    return answer;
  }

  test::FilterRig rig_{externalAuth()};
};

TEST_F(ExternalAuthType, RefusesAConfigThatCannotWork) {
  rig_.answer(200, {}, "");
  const auto made = [&](const std::string& more) {
    return rig_.make("{protocol: HTTP, backendRef: {name: guard}, " + more + "}");
  };
  EXPECT_THAT(made("http: {path: /a/../b}"), StartsWith("InvalidConfig: http.path: "));
  EXPECT_THAT(made("http: {path: '/a?b'}"), StartsWith("InvalidConfig: http.path: "));
  EXPECT_THAT(made("http: {allowedHeaders: [Transfer-Encoding]}"),
              StartsWith("InvalidConfig: http.allowedHeaders[0]: "));
  EXPECT_THAT(made("http: {allowedResponseHeaders: ['a b']}"),
              StartsWith("InvalidConfig: http.allowedResponseHeaders[0]: "));
  EXPECT_THAT(made("forwardBody: {maxSize: 5}"), StartsWith("InvalidConfig: forwardBody: "));
  rig_.phase = Phase::kRequestBody;
  EXPECT_EQ(made("forwardBody: {maxSize: 5}, http: {path: a, allowedHeaders: [Host, Content-Length]}"), "");
}

TEST_F(ExternalAuthType, IsRefusedWithoutItsServer) {
  EXPECT_EQ(rig_.make(kOverHttp), "BackendNotFound: this rig has no Backends");
}

TEST_F(ExternalAuthType, ShowsTheServerNoSecretOfTheGateway) {
  rig_.answer(200, {}, "");
  rig_.request({{"authorization", "of the client"}, {"x-more", "1"}});
  EXPECT_EQ(decide(kOverHttp).kind(), Verdict::Kind::kContinue);
  ASSERT_EQ(rig_.server().asked().headers.size(), 1U);
  EXPECT_EQ(rig_.server().asked().headers.begin()->value, "of the client");
  rig_.requestSecret("authorization", "of the gateway");
  EXPECT_EQ(decide(kOverHttp).kind(), Verdict::Kind::kContinue);
  EXPECT_TRUE(rig_.server().asked().headers.empty());
}

TEST_F(ExternalAuthType, TakesAnErrorOfTheServerForAFailureAndNotForADenial) {
  rig_.answer(503, {}, "secret reason");
  const Verdict verdict = decide(kOverHttp);
  EXPECT_EQ(verdict.kind(), Verdict::Kind::kFail);
  EXPECT_EQ(verdict.reason(), "the authorization server answers with status 503");
}

TEST_F(ExternalAuthType, RefusesFieldsThatNoRequestMayHave) {
  for (const char* name : {":path", "Host", "content-length", "transfer-encoding", "connection", "via", "a b", ""}) {
    const Verdict verdict = answered(setting(name, "x"));
    EXPECT_EQ(verdict.kind(), Verdict::Kind::kFail) << name;
  }
  for (const char* value : {"a\r\nb: c", "a\nb", " a"}) {
    EXPECT_EQ(answered(setting("x-user", value)).kind(), Verdict::Kind::kFail) << value;
  }
  external_auth::CheckResponse many;
  for (int i = 0; i < 101; ++i) many.mutable_ok_response()->add_headers()->mutable_header()->set_key("a");
  EXPECT_EQ(answered(many).kind(), Verdict::Kind::kFail);
  EXPECT_EQ(rig_.requestFields(), "") << "a step that fails has changed nothing";
}

TEST_F(ExternalAuthType, GivesTheResponseTheFieldsOfAGrpcServer) {
  external_auth::CheckResponse answer;
  external_auth::HeaderValue& header = *answer.mutable_ok_response()->add_response_headers_to_add()->mutable_header();
  header.set_key("X-Checked");
  header.set_value("yes");
  ASSERT_EQ(answered(answer).kind(), Verdict::Kind::kContinue);
  rig_.response(200, {{"x-checked", "by the Backend"}, {"x-other", "1"}});
  EXPECT_EQ(rig_.run(Phase::kResponseHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.responseFields(), "x-other=1;x-checked=yes;");
}

TEST_F(ExternalAuthType, TellsAGrpcServerWhoTheClientIs) {
  const auto sourceOf = [this] {
    EXPECT_EQ(answered({}).kind(), Verdict::Kind::kContinue);
    external_auth::CheckRequest check;
    EXPECT_TRUE(check.ParseFromString(rig_.server().sent().substr(5))) << "behind the head of the frame";
    return check.attributes().source();
  };
  EXPECT_EQ(sourceOf().principal(), "spiffe://a.test/ns/apps/sa/worker");
  EXPECT_EQ(sourceOf().address().socket_address().address(), "192.0.2.1");
  rig_.peer.principal = "CN=\xff";
  EXPECT_EQ(sourceOf().principal().find('\xff'), std::string::npos) << "a text of the protocol is UTF-8";
  rig_.peer.principal = {};
  EXPECT_EQ(sourceOf().principal(), "");
}

TEST_F(ExternalAuthType, NeitherTrustsNorReadsAMessageThatIsCutCompressedOrTooLong) {
  const std::string whole = http::frameGrpcMessage(external_auth::CheckResponse().SerializeAsString());
  for (const std::string& body : {std::string(), whole.substr(0, 3), "\1" + whole.substr(1),
                                  http::frameGrpcMessage(std::string(65537, 'x')), http::frameGrpcMessage("\xff")}) {
    rig_.answer(200, {{"content-type", "application/grpc"}, {"grpc-status", "0"}}, body);
    EXPECT_EQ(decide(kOverGrpc).kind(), Verdict::Kind::kFail) << body.size();
  }
}

}  // namespace
}  // namespace sluice::filters
