// Bodies on their way through payload processors: what steps see of them, what they may change, and what holds what
// back (E-94, E-98).
#include <cctype>

#include "test/exchange/process_fixture.h"

namespace sluice::exchange {
namespace {

using http::Method;
using processing::BodyInterest;
using processing::BodyMode;

class ProcessBody : public Process {
 protected:
  std::size_t post(std::string_view body, bool ends = true) {
    const std::size_t index = client_->ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    client_->body(index, body);
    if (ends) client_->finish(index);
    EXPECT_TRUE(rig_->settle());
    return index;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessBody,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

const BodyInterest kWhole{BodyMode::kBuffered, 0, true, false};
const BodyInterest kPieces{BodyMode::kStreamed, 0, true, false};
const BodyInterest kWatched{BodyMode::kStreamed, 0, false, false};

Work uppercases() {
  return [](Call& call) {
    std::string text = call.body->bytes().text();
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!text.empty()) call.body->replacement().append(text);
    return Verdict::goOn();
  };
}
Work wraps(std::string before = "<", std::string behind = ">") {
  return [=](Call& call) {
    const std::string text = call.body->bytes().text();
    call.body->replacement().append(before + text + behind);
    return Verdict::goOn();
  };
}
/// Writes down what it is asked about.
Work watches(std::vector<std::string>& seen) {
  return [&seen](Call& call) {
    seen.push_back(call.body->bytes().text() + (call.body->last() ? "." : ""));
    return Verdict::goOn();
  };
}

TEST_P(ProcessBody, AWholeBodyIsThereBeforeABackendIsAskedAndItsLengthIsSaid) {
  Rig& rig = with({step("wrap", Phase::kRequestBody, wraps(), kWhole)});
  const std::size_t index = post("hel", false);
  EXPECT_EQ(rig.dialled(), 0U);
  send(index, "lo");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "<hello>");
  EXPECT_EQ(backend.request(0).message.head.body, Body::kLength);
  EXPECT_EQ(backend.request(0).message.head.contentLength, 7U);
  respond(backend, 200, "done");
  EXPECT_EQ(client_->answer(index).body, "done");
  expectTold(200, 1);
}

TEST_P(ProcessBody, AStreamedBodyBeginsBeforeItsEndIsThere) {
  with({step("upper", Phase::kRequestBody, uppercases(), kPieces)});
  const std::size_t index = post("hel", false);
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "HEL");
  send(index, "lo");
  EXPECT_EQ(backend.request(0).body, "HELLO");
  EXPECT_TRUE(backend.request(0).ended);
  respond(backend, 200, "done");
  expectTold(200, 1);
}

TEST_P(ProcessBody, AStreamedStepIsAskedAboutTheHeadThenThePiecesThenTheEnd) {
  std::vector<std::string> seen;
  with({step("watch", Phase::kRequestBody, watches(seen), kWatched)});
  const std::size_t index = post("hel", false);
  BackendPeer& backend = accept(0);
  send(index, "lo");
  respond(backend, 200, "done");
  std::string all;
  for (const std::string& each : seen) all += each;
  EXPECT_EQ(seen.front(), "");
  EXPECT_EQ(all, "hello.");
  EXPECT_EQ(backend.request(0).body, "hello");
}

TEST_P(ProcessBody, ALengthIsKeptWhereNobodyChangesTheBytes) {
  std::vector<std::string> seen;
  with({step("watch", Phase::kRequestBody, watches(seen), kWatched),
        step("read", Phase::kRequestBody, watches(seen), {BodyMode::kBuffered, 0, false, false}, 1)});
  const std::size_t index =
      client_->ask({.method = Method::kPost, .target = "/ok", .body = Body::kLength, .length = 5});
  send(index, "hello");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).message.head.contentLength, 5U);
  EXPECT_EQ(backend.request(0).body, "hello");
  EXPECT_EQ(seen.back(), "hello.");
  respond(backend, 200, "done");
  expectTold(200, 1);
}

TEST_P(ProcessBody, StepsSeeWhatThoseBeforeThemLeft) {
  with({step("1", Phase::kRequestBody, wraps("[", "]"), kWhole, 1),
        step("2", Phase::kRequestBody, uppercases(), kPieces, 2),
        step("3", Phase::kRequestBody, wraps("(", ")"), kWhole, 3),
        step("5", Phase::kBackendRequest, wraps("{", "}"), kWhole, 1)},
       {step("4", Phase::kRequestBody, wraps("/", "/"), kWhole, 0, Scope::kBackend)});
  const std::size_t index = post("hello");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "{/([HELLO])/}");
  EXPECT_EQ(backend.request(0).message.head.contentLength, 13U);
  respond(backend, 200, "done");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 1);
}

TEST_P(ProcessBody, AResponseGoesThroughTheStepsOfBothPhases) {
  with({step("1", Phase::kBackendResponse, wraps("[", "]"), kWhole),
        step("2", Phase::kResponseBody, uppercases(), kPieces),
        step("3", Phase::kResponseBody, wraps("(", ")"), kWhole, 1)});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.head(0, {.body = Body::kUntilEnd, .status = 200});
  backend.body(0, "hel");
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(status(index), 0);
  backend.body(0, "lo");
  backend.finish(0);
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(client_->answer(index).body, "([HELLO])");
  EXPECT_EQ(client_->answer(index).message.head.contentLength, 9U);
  expectTold(200, 1);
}

TEST_P(ProcessBody, AStreamedResponsePassesAsItComes) {
  with({step("upper", Phase::kResponseBody, uppercases(), kPieces)});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  backend.head(0, {.body = Body::kLength, .length = 5, .status = 200});
  backend.body(0, "hel");
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(client_->answer(index).body, "HEL");
  backend.body(0, "lo");
  backend.finish(0);
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(client_->answer(index).body, "HELLO");
  EXPECT_TRUE(client_->answer(index).ended);
  expectTold(200, 1);
}

TEST_P(ProcessBody, LargeBodiesPassBothWaysWhateverStepsWantOfThem) {
  std::string large(1'500'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i % 23);
  for (const BodyInterest& interest : {kWhole, kPieces, kWatched}) {
    const auto idle = [] { return [](Call&) { return Verdict::goOn(); }; };
    with({step("request", Phase::kRequestBody, idle(), interest), step("out", Phase::kBackendRequest, idle(), interest),
          step("back", Phase::kBackendResponse, idle(), interest),
          step("response", Phase::kResponseBody, idle(), interest)},
         {step("own", Phase::kRequestBody, idle(), interest, 0, Scope::kBackend)});
    const std::size_t index = post(large);
    BackendPeer& backend = accept(0);
    EXPECT_TRUE(backend.request(0).body == large) << backend.request(0).body.size();
    respond(backend, 200, large);
    EXPECT_TRUE(client_->answer(index).body == large) << client_->answer(index).body.size();
    EXPECT_EQ(rig_->buffers.used(), 0U);
    expectTold(200, 1);
    SetUp();
  }
}

TEST_P(ProcessBody, ABodyOverTheBoundIsRefusedNamingIt) {
  options_.bounds.processorBuffer = 10;
  for (const std::size_t size : {10U, 11U}) {
    Rig& rig = with({step("wrap", Phase::kRequestBody, wraps(), kWhole)});
    const std::size_t index = post(std::string(size, 'x'), size == 10);
    ASSERT_TRUE(rig.settle());
    if (size == 10) {
      EXPECT_EQ(accept(0).request(0).body.size(), 12U);
    } else {
      EXPECT_EQ(status(index), 413);
      EXPECT_NE(client_->answer(index).body.find("limits.processorBuffer"), std::string::npos);
      EXPECT_TRUE(limited("processorBuffer"));
      EXPECT_EQ(rig.dialled(), 0U);
    }
  }
}

TEST_P(ProcessBody, AResponseOverTheBoundIsA502) {
  options_.bounds.processorBuffer = 10;
  with({step("wrap", Phase::kResponseBody, wraps(), kWhole)});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  respond(backend, 200, "more than ten bytes");
  EXPECT_EQ(status(index), 502);
  EXPECT_NE(client_->answer(index).body.find("limits.processorBuffer"), std::string::npos);
}

TEST_P(ProcessBody, AStepThatFailsOpenIsSkippedWhereTheBodyIsTooLong) {
  options_.bounds.processorBuffer = 10;
  with({open(step("wrap", Phase::kRequestBody, wraps(), kWhole))});
  const std::size_t index = post("more than ten bytes");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "more than ten bytes");
  respond(backend, 200, "done");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 1);
}

TEST_P(ProcessBody, WhatAllBodiesTakeTogetherIsBounded) {
  options_.bounds.processorBufferTotal = 64 * 1024;
  Rig& rig = with({step("wrap", Phase::kRequestBody, wraps(), kWhole)});
  post("first", false);
  test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
  const std::size_t index = other.ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
  other.body(index, "second");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(other.answer(index).message.head.status, 413);
  EXPECT_TRUE(limited("processorBufferTotal"));
}

TEST_P(ProcessBody, AClientThatWaitsToBeInvitedIsWhenAStepWantsTheWholeBody) {
  Rig& rig = with({step("wrap", Phase::kRequestBody, wraps(), kWhole)});
  const std::size_t index =
      client_->ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd, .expectContinue = true});
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(client_->answer(index).interims.size(), 1U);
  send(index, "hello");
  EXPECT_EQ(accept(0).request(0).body, "<hello>");
}

TEST_P(ProcessBody, AnotherAttemptGetsTheBodyAgainAndOnlyWhatIsMeantForIt) {
  with({step("all", Phase::kRequestBody, wraps("[", "]"), kWhole)},
       {step("own", Phase::kRequestBody, wraps("A", "A"), kWhole, 0, Scope::kBackend)}, [](routing::Rule& rule) {
         auto other = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
         other->name = "demo/other";
         other->chain = nullptr;
         rule.backends[0].weight = 1'000'000;
         rule.backends.emplace_back().backend = std::move(other);
       });
  const std::size_t index = post("hello");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "A[hello]A");
  respond(backend, 503, "not now");
  passBackoff();
  ASSERT_EQ(backend.requests(), 2U);
  EXPECT_EQ(backend.request(1).body, "[hello]");
  respond(backend, 200, "done");
  EXPECT_EQ(client_->answer(index).body, "done");
  expectTold(200, 2);
}

}  // namespace
}  // namespace sluice::exchange
