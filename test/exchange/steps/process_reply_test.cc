// These tests check the answers of steps that have a body of their own.
#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

class StepReplies : public ProcessorSteps {};
INSTANTIATE_TEST_SUITE_P(Versions, StepReplies,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

using ReplyFields = std::vector<std::pair<std::string, std::string>>;

Work repliesWith(int status, ReplyFields fields, std::string body) {
  return [=](Call&) {
    base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor, "it says no");
    error.status = static_cast<std::uint16_t>(status);
    return Verdict::reply({std::move(error), fields, body});
  };
}

TEST_P(StepReplies, MayReplyWithABodyOfAnyTypeAndAnyFinalStatus) {
  for (const int code : {200, 302, 401, 599}) {
    const std::string body("<b>\0no</b>", 10);
    Rig& rig = with(
        {step("guard", Phase::kRequestHeaders,
              repliesWith(code, {{"content-type", "text/html"}, {"set-cookie", "a=1"}, {"set-cookie", "b=2"}}, body))});
    const std::size_t index = get();
    EXPECT_EQ(rig.dialled(), 0U);
    EXPECT_EQ(status(index), code);
    EXPECT_EQ(fieldOf(answered(index), "content-type"), "text/html");
    EXPECT_EQ(fieldOf(answered(index), "set-cookie"), "a=1,b=2");
    EXPECT_EQ(fieldOf(answered(index), "cache-control"), "");
    EXPECT_EQ(client_->answer(index).message.head.contentLength, body.size());
    EXPECT_EQ(client_->answer(index).body, body);
    expectTold(static_cast<std::uint16_t>(code), 0);
    SetUp();
  }
}

TEST_P(StepReplies, MayReplyWithNothingInTheBody) {
  for (const int code : {401, 204}) {
    with({step("guard", Phase::kRequestHeaders, repliesWith(code, {{"x-why", "no"}}, ""))});
    const std::size_t index = get();
    EXPECT_EQ(status(index), code);
    EXPECT_EQ(fieldOf(answered(index), "x-why"), "no");
    EXPECT_EQ(fieldOf(answered(index), "content-type"), "");
    EXPECT_EQ(client_->answer(index).body, "");
    EXPECT_TRUE(client_->answer(index).ended);
    SetUp();
  }
}

TEST_P(StepReplies, ReplyWithoutTheBodyWhereNoneMayFollow) {
  with({step("guard", Phase::kRequestHeaders, repliesWith(403, {}, "not for HEAD"))});
  const std::size_t head = ask({.method = http::Method::kHead, .target = "/ok"});
  EXPECT_EQ(status(head), 403);
  EXPECT_EQ(client_->answer(head).message.head.contentLength, 12U);
  EXPECT_EQ(client_->answer(head).body, "");
  SetUp();
  with({step("guard", Phase::kRequestHeaders, repliesWith(304, {}, "not with 304"))});
  const std::size_t index = get();
  EXPECT_EQ(status(index), 304);
  EXPECT_EQ(client_->answer(index).body, "");
  EXPECT_TRUE(client_->answer(index).ended);
}

TEST_P(StepReplies, ReplyWithABodyToTheRequestAndToTheResponse) {
  for (const Phase phase : {Phase::kBackendResponse, Phase::kResponseHeaders}) {
    with({step("guard", phase, repliesWith(418, {{"content-type", "text/plain"}}, "of the step"))});
    const std::size_t index = get();
    respond(accept(0), 200, "of the Backend");
    EXPECT_EQ(status(index), 418);
    EXPECT_EQ(client_->answer(index).body, "of the step");
    EXPECT_EQ(fieldOf(answered(index), "content-type"), "text/plain");
    SetUp();
  }
}

TEST_P(StepReplies, ReplyToACallOfGrpcInItsTerms) {
  with(
      {step("guard", Phase::kRequestHeaders, repliesWith(403, {{"content-type", "text/html"}, {"x-why", "no"}}, "b"))});
  const std::size_t index = ask({.method = http::Method::kPost,
                                 .target = "/ok",
                                 .fields = {{"content-type", "application/grpc"}},
                                 .body = Body::kUntilEnd});
  const bool grpc = std::get<0>(GetParam()) == Version::kHttp2;
  EXPECT_EQ(status(index), grpc ? 200 : 403);
  EXPECT_EQ(fieldOf(answered(index), "grpc-status"), grpc ? "7" : "");
  EXPECT_EQ(fieldOf(answered(index), "content-type"), grpc ? "application/grpc" : "text/html");
  EXPECT_EQ(fieldOf(answered(index), "x-why"), "no");
  EXPECT_EQ(client_->answer(index).body, grpc ? "" : "b");
}

TEST_P(StepReplies, FailIfTheirReplyHasAStatusThatNoAnswerHas) {
  for (const int code : {0, 100, 199, 600}) {
    with({step("guard", Phase::kRequestHeaders, repliesWith(code, {}, "odd"))});
    const std::size_t index = get();
    EXPECT_EQ(status(index), 500) << code;
    EXPECT_EQ(client_->answer(index).body.find("odd"), std::string::npos);
    SetUp();
  }
}

}  // namespace
}  // namespace sluice::exchange
