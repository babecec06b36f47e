// Tests bodies that go through payload processors: what steps see of them, what steps may change, and which side slows
// down the other one.
#include <cctype>

#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

using http::Method;
using processing::BodyInterest;
using processing::BodyMode;

using ProcessBody = ProcessorSteps;

INSTANTIATE_TEST_SUITE_P(Versions, ProcessBody,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

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
/// Makes a step that records its inputs.
Work watches(std::vector<std::string>& seen) {
  return [&seen](Call& call) {
    seen.push_back(call.body->bytes().text() + (call.body->last() ? "." : ""));
    return Verdict::goOn();
  };
}

TEST_P(ProcessBody, AWholeBodyIsThereBeforeABackendIsAskedAndItsLengthIsStated) {
  Rig& rig = with({step("wrap", Phase::kRequestBody, wraps(), kEditsWhole)});
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
  with({step("upper", Phase::kRequestBody, uppercases(), kEditsPieces)});
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
  with({step("watch", Phase::kRequestBody, watches(seen), kReadsPieces)});
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

TEST_P(ProcessBody, ALengthIsKeptIfNoStepChangesTheBytes) {
  std::vector<std::string> seen;
  with({step("watch", Phase::kRequestBody, watches(seen), kReadsPieces),
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

TEST_P(ProcessBody, StepsSeeTheBodyAsEarlierStepsLeftIt) {
  with({step("1", Phase::kRequestBody, wraps("[", "]"), kEditsWhole, 1),
        step("2", Phase::kRequestBody, uppercases(), kEditsPieces, 2),
        step("3", Phase::kRequestBody, wraps("(", ")"), kEditsWhole, 3),
        step("5", Phase::kBackendRequest, wraps("{", "}"), kEditsWhole, 1)},
       {step("4", Phase::kRequestBody, wraps("/", "/"), kEditsWhole, 0, Scope::kBackend)});
  const std::size_t index = post("hello");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "{/([HELLO])/}");
  EXPECT_EQ(backend.request(0).message.head.contentLength, 13U);
  respond(backend, 200, "done");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 1);
}

TEST_P(ProcessBody, AResponseGoesThroughTheStepsOfBothPhases) {
  with({step("1", Phase::kBackendResponse, wraps("[", "]"), kEditsWhole),
        step("2", Phase::kResponseBody, uppercases(), kEditsPieces),
        step("3", Phase::kResponseBody, wraps("(", ")"), kEditsWhole, 1)});
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
  with({step("upper", Phase::kResponseBody, uppercases(), kEditsPieces)});
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
  for (const BodyInterest& interest : {kEditsWhole, kEditsPieces, kReadsPieces}) {
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
    EXPECT_EQ(rig_->exchanges.bufferRoom().used(), 0U);
    expectTold(200, 1);
    SetUp();
  }
}

TEST_P(ProcessBody, ABodyOverTheBoundIsRefusedNamingIt) {
  options_.bounds.processorBuffer = 10;
  for (const std::size_t size : {10U, 11U}) {
    Rig& rig = with({step("wrap", Phase::kRequestBody, wraps(), kEditsWhole)});
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
  with({step("wrap", Phase::kResponseBody, wraps(), kEditsWhole)});
  const std::size_t index = get();
  BackendPeer& backend = accept(0);
  respond(backend, 200, "more than ten bytes");
  EXPECT_EQ(status(index), 502);
  EXPECT_NE(client_->answer(index).body.find("limits.processorBuffer"), std::string::npos);
}

TEST_P(ProcessBody, AStepThatFailsOpenIsSkippedWhereTheBodyIsTooLong) {
  options_.bounds.processorBuffer = 10;
  with({open(step("wrap", Phase::kRequestBody, wraps(), kEditsWhole))});
  const std::size_t index = post("more than ten bytes");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "more than ten bytes");
  respond(backend, 200, "done");
  EXPECT_EQ(status(index), 200);
  expectTold(200, 1);
}

TEST_P(ProcessBody, AClientThatWaitsForContinueGetsItIfAStepWantsTheWholeBody) {
  Rig& rig = with({step("wrap", Phase::kRequestBody, wraps(), kEditsWhole)});
  const std::size_t index =
      client_->ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd, .expectContinue = true});
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(client_->answer(index).interims.size(), 1U);
  send(index, "hello");
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "<hello>");
  EXPECT_FALSE(backend.request(0).message.head.expectContinue) << "the body is on its way";
}

TEST_P(ProcessBody, AnotherAttemptGetsTheBodyAgainAndOnlyWhatIsMeantForIt) {
  with({step("all", Phase::kRequestBody, wraps("[", "]"), kEditsWhole)},
       {step("own", Phase::kRequestBody, wraps("A", "A"), kEditsWhole, 0, Scope::kBackend)}, [](routing::Rule& rule) {
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

TEST_P(ProcessBody, AClientsTrailerThatIsATwinOfAStepsFieldIsRemoved) {
  const Step secret = step("secret", Phase::kRequestHeaders, setsRequest("x-api-key", "ours"), 0, Scope::kBackend);
  for (const bool carried : {false, true}) {
    std::vector<Step> ofBackend = {secret};
    if (carried) ofBackend.push_back(step("wrap", Phase::kRequestBody, wraps(), kEditsWhole, 0, Scope::kBackend));
    with({}, ofBackend);
    const std::size_t index = post("hello", false);
    client_->finish(index, {{"x_api_key", "theirs"}, {"x-api-key", "theirs"}, {"x-sum", "1"}});
    ASSERT_TRUE(rig_->settle());
    BackendPeer& backend = accept(0);
    EXPECT_EQ(fieldOf(seen(backend), "x-api-key"), "ours");
    EXPECT_TRUE(backend.request(0).ended);
    EXPECT_EQ(backend.request(0).trailers, (test::FieldList{{"x-sum", "1"}}));
    respond(backend, 200, "done");
    expectTold(200, 1);
    SetUp();
  }
}

// --- bodies with a Content-Encoding ---

/// The text "hello", encoded.
const std::string kCoded(
    "\037\213\010\000\000\000\000\000\002\003\313\110\315\311\311\007\000\206\246\020\066\005\000\000\000", 25);
/// A million zero bytes, encoded in a thousand.
const std::string kDense(
    "\037\213\010\000\000\000\000\000\002\003\355\301\001\001\000\000\000\202\040\377\257\156\110\100\001\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\257\006\236\313\171\022\100\102\017\000",
    1003);

class ProcessCoded : public ProcessBody {
 protected:
  std::size_t postCoded(const std::string& body, const std::string& coding = "gzip") {
    const std::size_t index = client_->ask(
        {.method = Method::kPost, .target = "/ok", .fields = {{"content-encoding", coding}}, .body = Body::kUntilEnd});
    send(index, body);
    return index;
  }
  static BodyInterest text(BodyMode mode, bool edits) { return {mode, 0, edits, true}; }
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessCoded,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessCoded, ABodyThatAStepChangesGoesOnAsText) {
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
    with({step("upper", Phase::kRequestBody, uppercases(), text(mode, true))});
    postCoded(kCoded);
    BackendPeer& backend = accept(0);
    EXPECT_EQ(backend.request(0).body, "HELLO");
    EXPECT_EQ(fieldOf(seen(backend), "content-encoding"), "");
    respond(backend, 200, "done");
    expectTold(200, 1);
    SetUp();
  }
}

TEST_P(ProcessCoded, ABodyThatAStepOnlyReadsGoesOnAsItCame) {
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed, BodyMode::kInspected}) {
    std::vector<std::string> read;
    with({step("read", Phase::kRequestBody, watches(read), text(mode, false))});
    postCoded(kCoded);
    BackendPeer& backend = accept(0);
    EXPECT_EQ(backend.request(0).body, kCoded);
    EXPECT_EQ(fieldOf(seen(backend), "content-encoding"), "gzip");
    std::string all;
    for (const std::string& each : read) all += each;
    EXPECT_EQ(all, "hello.");
    respond(backend, 200, "done");
    expectTold(200, 1);
    SetUp();
  }
}

TEST_P(ProcessCoded, AResponseIsTakenOutOfItsCodingToo) {
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
    with({step("upper", Phase::kResponseBody, uppercases(), text(mode, true))});
    const std::size_t index = get();
    BackendPeer& backend = accept(0);
    backend.head(0, {.fields = {{"content-encoding", "gzip"}}, .body = Body::kLength, .length = kCoded.size()});
    backend.body(0, kCoded);
    backend.finish(0);
    ASSERT_TRUE(rig_->settle());
    EXPECT_EQ(client_->answer(index).body, "HELLO");
    EXPECT_EQ(fieldOf(answered(index), "content-encoding"), "");
    expectTold(200, 1);
    SetUp();
  }
}

TEST_P(ProcessCoded, ACodingThatCannotBeUndoneIsRefusedAndPassesStepsThatFailOpen) {
  const std::string broken = kCoded.substr(0, kCoded.size() - 6);
  const std::pair<std::string, std::string> kBodies[] = {{broken, "gzip"}, {kCoded, "dcb"}, {"hello", "gzip"}};
  for (const auto& [body, coding] : kBodies) {
    for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed, BodyMode::kInspected}) {
      with({step("read", Phase::kRequestBody, goesOn(), text(mode, false))});
      const std::size_t index = postCoded(body, coding);
      EXPECT_EQ(status(index), 400) << coding << body.size();
      SetUp();
      with({open(step("read", Phase::kRequestBody, goesOn(), text(mode, false)))});
      postCoded(body, coding);
      BackendPeer& backend = accept(0);
      EXPECT_EQ(backend.request(0).body, body);
      EXPECT_EQ(fieldOf(seen(backend), "content-encoding"), coding);
      respond(backend, 200, "done");
      expectTold(200, 1);
      SetUp();
    }
  }
}

TEST_P(ProcessCoded, ABodyThatGrowsTooMuchIsRefusedNamingTheLimit) {
  for (const bool byRatio : {true, false}) {
    options_.bounds.decompressionRatio = byRatio ? 100 : 1'000'000;
    options_.bounds.decompressedBody = byRatio ? 1 << 30 : 999'999;
    for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
      with({step("read", Phase::kRequestBody, goesOn(), text(mode, true))});
      const std::size_t index = postCoded(kDense);
      const std::string name = byRatio ? "decompressionRatio" : "decompressedBody";
      if (rig_->dialled() > 0) accept(0);  // if all of the text has come by then, the request is refused before
      ASSERT_TRUE(rig_->settle());
      EXPECT_EQ(status(index), 413);
      EXPECT_NE(client_->answer(index).body.find(name), std::string::npos) << client_->answer(index).body;
      EXPECT_TRUE(limited(name));
    }
  }
}

TEST_P(ProcessCoded, AResponseThatGrowsTooMuchIsA502NamingTheLimit) {
  for (const bool byRatio : {true, false}) {
    options_.bounds.decompressionRatio = byRatio ? 100 : 1'000'000;
    options_.bounds.decompressedBody = byRatio ? 1 << 30 : 999'999;
    const std::string name = byRatio ? "decompressionRatio" : "decompressedBody";
    for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
      with({step("read", Phase::kResponseBody, goesOn(), text(mode, true))});
      const std::size_t index = get();
      BackendPeer& backend = accept(0);
      backend.head(0, {.fields = {{"content-encoding", "gzip"}}, .body = Body::kUntilEnd});
      ASSERT_TRUE(rig_->settle());
      backend.body(0, kDense);
      if (mode == BodyMode::kBuffered) backend.finish(0);
      ASSERT_TRUE(rig_->settle());
      EXPECT_TRUE(limited(name));
      if (mode == BodyMode::kBuffered) {
        EXPECT_EQ(status(index), 502);
        EXPECT_NE(client_->answer(index).body.find(name), std::string::npos) << client_->answer(index).body;
      } else {
        EXPECT_TRUE(client_->answer(index).reset) << "its head has gone";
        EXPECT_LT(client_->answer(index).body.size(), 1'000'000U);
        EXPECT_TRUE(backendVersion() == Version::kHttp2 ? backend.request(0).reset : backend.wire().over());
      }
    }
  }
}

TEST_P(ProcessCoded, TextThatIsMuchMoreThanItsCodePassesWhole) {
  options_.bounds.decompressionRatio = 1'000'000;
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
    with({step("read", Phase::kRequestBody, wraps("", ""), text(mode, true))});
    postCoded(kDense);
    BackendPeer& backend = accept(0);
    EXPECT_EQ(backend.request(0).body.size(), 1'000'000U);
    EXPECT_TRUE(backend.request(0).ended);
    respond(backend, 200, "done");
    expectTold(200, 1);
  }
}

}  // namespace
}  // namespace sluice::exchange
