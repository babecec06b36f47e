// Steps wait while a body comes. Tunnels, which have no body, go through steps too.
#include <chrono>

#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

using std::chrono::milliseconds;

class ProcessWaitBody : public ProcessWait {
 protected:
  void resumeAll() {
    while (!waiting_.empty()) {
      resume();
      serve();
    }
  }
  void say(std::size_t index, std::string_view bytes) {
    client_->body(index, bytes);
    EXPECT_TRUE(rig_->settle());
  }
  void finish(std::size_t index) {
    client_->finish(index);
    EXPECT_TRUE(rig_->settle());
  }
  std::size_t askForTunnel() {
    const std::size_t index = client_->ask({.target = "/ok/chat",
                                            .fields = {{"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="},
                                                       {"sec-websocket-version", "13"},
                                                       {"x-wait", "1"}},
                                            .body = Body::kTunnel});
    EXPECT_TRUE(rig_->settle());
    return index;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessWaitBody,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessWaitBody, BytesThatComeWhileAStepWaitsAreKeptForIt) {
  for (const Phase phase : {Phase::kRequestBody, Phase::kBackendRequest}) {
    SCOPED_TRACE(processing::phaseName(phase));
    forget();
    SetUp();
    with({step("step", phase, waitsForBytes(), kReadsPieces)});
    const std::size_t index = askFor(*client_, "hel", true, false);
    serve();
    ASSERT_EQ(waiting_.size(), 1U);
    EXPECT_EQ(arrived(), "");
    say(index, "lo");
    finish(index);
    EXPECT_EQ(arrived(), "");
    resume();
    EXPECT_EQ(arrived(), "hel");
    resumeAll();
    EXPECT_EQ(arrived(), "hello");
    EXPECT_EQ(statusOf(*client_, index), 200);
    expectOver(1);
  }
}

TEST_P(ProcessWaitBody, BytesOfAResponseThatComeWhileAStepWaitsAreKeptForIt) {
  for (const Phase phase : {Phase::kBackendResponse, Phase::kResponseBody}) {
    SCOPED_TRACE(processing::phaseName(phase));
    forget();
    SetUp();
    with({step("step", phase, waitsForBytes(), kReadsPieces)});
    const std::size_t index = askFor(*client_);
    BackendPeer& backend = accept(0);
    backend.head(0, {.body = Body::kUntilEnd, .status = 200});
    backend.body(0, "do");
    ASSERT_TRUE(rig_->settle());
    ASSERT_EQ(waiting_.size(), 1U);
    EXPECT_EQ(client_->answer(index).body, "");
    backend.body(0, "ne");
    backend.finish(0);
    ASSERT_TRUE(rig_->settle());
    resume();
    EXPECT_EQ(client_->answer(index).body, "do");
    while (!waiting_.empty()) resume();
    EXPECT_EQ(client_->answer(index).body, "done");
    EXPECT_TRUE(client_->answer(index).ended);
    expectOver(1);
  }
}

TEST_P(ProcessWaitBody, AStepThatWaitsInTheMiddleHasItsTimeAndNoMore) {
  for (const Phase phase : {Phase::kRequestBody, Phase::kBackendRequest}) {
    for (const bool isOpen : {false, true}) {
      SCOPED_TRACE(std::string(processing::phaseName(phase)) + (isOpen ? ", open" : ", closed"));
      forget();
      SetUp();
      Step made = step("step", phase, waitsForBytes(), kReadsPieces);
      made.failOpen = isOpen;
      Rig& rig = with({made});
      const std::size_t index = askFor(*client_, "", true, false);
      serve();
      say(index, "hello");
      ASSERT_EQ(waiting_.size(), 1U);
      EXPECT_EQ(arrived(), "");
      rig.advanceShortOf(options_.timeouts.processor);
      EXPECT_TRUE(rig.told.empty());
      EXPECT_EQ(arrived(), "");
      rig.advancePast();
      EXPECT_EQ(arrived(), isOpen ? "hello" : "");
      if (isOpen) finish(index);
      serve();
      EXPECT_EQ(statusOf(*client_, index), isOpen ? 200 : 504);
      expectFailure({phase, BodyMode::kStreamed}, "timeout", isOpen ? "open" : "closed");
      forget();
      if (isOpen) expectOver(1);
    }
  }
}

// The body is larger than the room behind the steps of Gateway and rule, and no byte of it comes after the wait.
TEST_P(ProcessWaitBody, ALargeBodyThatCameWhileAStepWaitedReachesTheStepsOfTheAttempt) {
  std::string large(150'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i % 23);
  const auto expectWhole = [&](Phase waiting, const BodyInterest& first, const BodyInterest& second, Scope scope) {
    forget();
    SetUp();
    std::vector<Step> ofRoute = {step("waits", waiting, waits(), {}, -1),
                                 step("first", Phase::kRequestBody, goesOn(), first)};
    std::vector<Step> ofBackend;
    (scope == Scope::kRoute ? ofRoute : ofBackend)
        .push_back(step("second", Phase::kBackendRequest, goesOn(), second, 0, scope));
    with(ofRoute, ofBackend);
    const std::size_t index = askFor(*client_, large);
    serve();
    resumeAll();
    EXPECT_EQ(rig_->backends.size(), 1U);
    EXPECT_TRUE(arrived() == large) << arrived().size() << " bytes";
    EXPECT_EQ(statusOf(*client_, index), 200);
  };
  const std::pair<const char*, BodyInterest> interests[] = {
      {"edits pieces", kEditsPieces}, {"reads pieces", kReadsPieces}, {"edits all", kEditsWhole}};
  for (const Phase waiting : {Phase::kRequestHeaders, Phase::kRequestBody, Phase::kConnect, Phase::kBackendRequest}) {
    for (const auto& [firstName, first] : interests) {
      for (const auto& [secondName, second] : interests) {
        SCOPED_TRACE(std::string(processing::phaseName(waiting)) + " waits, the first step " + firstName +
                     ", the second " + secondName);
        expectWhole(waiting, first, second, Scope::kRoute);
        expectWhole(waiting, first, second, Scope::kBackend);
      }
    }
  }
}

TEST_P(ProcessWaitBody, AStepThatWaitsInTheMiddleOfAResponseHasItsTimeAndNoMore) {
  for (const Phase phase : {Phase::kBackendResponse, Phase::kResponseBody}) {
    for (const bool isOpen : {false, true}) {
      SCOPED_TRACE(std::string(processing::phaseName(phase)) + (isOpen ? ", open" : ", closed"));
      forget();
      SetUp();
      Step made = step("step", phase, waitsForBytes(), kReadsPieces);
      made.failOpen = isOpen;
      Rig& rig = with({made});
      const std::size_t index = askFor(*client_);
      BackendPeer& backend = accept(0);
      backend.head(0, {.body = Body::kUntilEnd, .status = 200});
      backend.body(0, "done");
      ASSERT_TRUE(rig.settle());
      ASSERT_EQ(waiting_.size(), 1U);
      rig.advanceShortOf(options_.timeouts.processor);
      EXPECT_EQ(client_->answer(index).body, "");
      EXPECT_FALSE(client_->answer(index).reset);
      rig.advancePast();
      EXPECT_EQ(client_->answer(index).body, isOpen ? "done" : "");
      EXPECT_EQ(client_->answer(index).reset, !isOpen);
      if (isOpen) backend.finish(0);
      ASSERT_TRUE(rig.settle());
      EXPECT_EQ(client_->answer(index).ended, isOpen);
      expectFailure({phase, BodyMode::kStreamed}, "timeout", isOpen ? "open" : "closed");
      forget();
      expectOver(1);
    }
  }
}

TEST_P(ProcessWaitBody, AnExchangeWhoseStepWasSkippedKeepsItsDeadlines) {
  options_.timeouts.request = std::chrono::seconds(10);
  Rig& rig = with({open(step("step", Phase::kRequestBody, waitsForBytes(), kReadsPieces))});
  const std::size_t index = askFor(*client_, "", true, false);
  serve();
  say(index, "hello");
  rig.advance(options_.timeouts.processor);
  rig.advancePast();
  EXPECT_EQ(arrived(), "hello");
  finish(index);
  EXPECT_TRUE(rig.told.empty());
  rig.advance(options_.timeouts.request);
  rig.advancePast();
  EXPECT_EQ(statusOf(*client_, index), 504) << "the backend does not answer";
  forget();
  expectOver(1);
}

TEST_P(ProcessWaitBody, AClientIsNotBlamedForTheTimeOfAStep) {
  for (const bool isOpen : {false, true}) {
    for (const bool behind : {false, true}) {
      forget();
      SetUp();
      Step slow = step("slow", Phase::kRequestBody, waitsForBytes(), kReadsPieces);
      slow.timeout = options_.timeouts.bodyIdle * 2;
      slow.failOpen = isOpen;
      std::vector<Step> steps{slow};
      if (behind) steps.push_back(step("whole", Phase::kRequestBody, goesOn(), kReadsWhole, 1));
      Rig& rig = with(steps);
      const std::size_t index = askFor(*client_, "", true, false);
      serve();
      say(index, "hello");
      ASSERT_EQ(waiting_.size(), 1U);
      rig.advance(options_.timeouts.bodyIdle);
      rig.advancePast();
      EXPECT_TRUE(rig.told.empty());
      if (isOpen) {
        rig.advance(options_.timeouts.bodyIdle);  // the step is skipped
        forget();
      } else {
        resume();
      }
      // From here on the client is waited for again.
      rig.advanceShortOf(options_.timeouts.bodyIdle - milliseconds(100));
      EXPECT_TRUE(rig.told.empty());
      finish(index);
      resumeAll();
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      expectOver(1);
    }
  }
}

TEST_P(ProcessWaitBody, ABodyThatComesWhileAConnectionIsMadeGoesThroughItsSteps) {
  with({step("step", Phase::kRequestBody, goesOn(), kReadsPieces)});
  const std::size_t index = askFor(*client_, "", false, false);
  ASSERT_EQ(rig_->dialled(), 1U);
  say(index, "hel");
  say(index, "lo");
  finish(index);
  serve();
  EXPECT_EQ(arrived(), "hello");
  EXPECT_EQ(statusOf(*client_, index), 200);
  expectOver(1);
}

TEST_P(ProcessWaitBody, AStepIsAnsweredOrExpiresWhileAConnectionIsMade) {
  enum class How { kResumed, kDropped, kExpired };
  for (const How how : {How::kResumed, How::kDropped, How::kExpired}) {
    for (const bool isOpen : {true, false}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(how)) + (isOpen ? ", open" : ", closed"));
      forget();
      SetUp();
      Step made = step("step", Phase::kRequestBody, waitsForBytes(), kReadsPieces);
      made.failOpen = isOpen;
      Rig& rig = with({made});
      const std::size_t index = askFor(*client_, "", true, false);
      ASSERT_EQ(rig.dialled(), 1U);
      say(index, "hello");
      ASSERT_EQ(waiting_.size(), 1U);
      if (how == How::kResumed) resume();
      if (how == How::kDropped) drop();
      if (how == How::kExpired) {
        rig.advance(options_.timeouts.processor);
        rig.advancePast();
      }
      forget();
      const bool goesOn = isOpen || how == How::kResumed;
      if (!goesOn) {
        EXPECT_EQ(statusOf(*client_, index), how == How::kDropped ? 500 : 504);
        EXPECT_EQ(rig.told.size(), 1U);
        continue;
      }
      finish(index);
      serve();
      resumeAll();
      EXPECT_EQ(arrived(), "hello");
      EXPECT_EQ(statusOf(*client_, index), 200);
      expectOver(1);
    }
  }
}

TEST_P(ProcessWaitBody, TwoStepsOfOneWayMayWaitAtOnce) {
  with({step("1", Phase::kRequestBody, waitsForBytes(), kReadsPieces, 1),
        step("2", Phase::kRequestBody, waitsForBytes(), kReadsPieces, 2)});
  const std::size_t index = askFor(*client_, "hel", true, false);
  serve();
  resume();
  ASSERT_EQ(waiting_.size(), 1U) << "the second";
  say(index, "lo");
  finish(index);
  ASSERT_EQ(waiting_.size(), 2U);
  // The later step is answered first.
  std::swap(waiting_[0], waiting_[1]);
  resumeAll();
  EXPECT_EQ(arrived(), "hello");
  EXPECT_EQ(statusOf(*client_, index), 200);
  expectOver(1);
}

TEST_P(ProcessWaitBody, StepsOfBothWaysMayWaitAtOnce) {
  with({step("1", Phase::kRequestBody, waitsForBytes(), kReadsPieces),
        step("2", Phase::kResponseBody, waitsForBytes(), kReadsPieces)});
  const std::size_t index = askFor(*client_, "", true, false);
  BackendPeer& backend = accept(0);
  say(index, "hello");
  backend.head(0, {.body = Body::kUntilEnd, .status = 200});
  backend.body(0, "done");
  backend.finish(0);
  ASSERT_TRUE(rig_->settle());
  ASSERT_EQ(waiting_.size(), 2U);
  resume();
  finish(index);
  for (int i = 0; i < 10 && !waiting_.empty(); ++i) resume();
  EXPECT_EQ(client_->answer(index).body, "done");
  EXPECT_TRUE(client_->answer(index).ended);
  expectOver(1);
}

TEST_P(ProcessWaitBody, AHeadStepThatWaitsHoldsBackTheStepsOfTheBody) {
  with({step("head", Phase::kRequestHeaders, waits()), step("none", Phase::kRequestBody, waits(), 1),
        step("pieces", Phase::kRequestBody, waitsForBytes(), kReadsPieces, 2),
        step("whole", Phase::kRequestBody, goesOn(), kReadsWhole, 3)});
  const std::size_t index = askFor(*client_, "hel", true, false);
  EXPECT_EQ(waiting_.size(), 1U);
  say(index, "lo");
  resume();
  EXPECT_EQ(rig_->steps, std::vector<std::string>{"head"});
  EXPECT_EQ(waiting_.size(), 1U);
  finish(index);
  resumeAll();
  serve();
  EXPECT_EQ(arrived(), "hello");
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"head", "none", "pieces", "whole"}));
  EXPECT_EQ(statusOf(*client_, index), 200);
  expectOver(1);
}

TEST_P(ProcessWaitBody, MoreThanTheBoundIsNotTakenFromAClientWhileAStepWaits) {
  with({step("step", Phase::kRequestBody, waitsForBytes(), kReadsPieces)});
  const std::string large(3'000'000, 'x');
  const std::size_t index = askFor(*client_, large);
  serve();
  ASSERT_EQ(waiting_.size(), 1U);
  EXPECT_LT(rig_->worker.chunks().inUse() * base::Chunk::kCapacity, 1'200'000U);
  resumeAll();
  EXPECT_TRUE(arrived() == large) << arrived().size();
  EXPECT_EQ(statusOf(*client_, index), 200);
  expectOver(1);
}

TEST_P(ProcessWaitBody, ATunnelGoesThroughStepsThatSeeNoBodyAndAddNone) {
  if (std::get<0>(GetParam()) == Version::kHttp2) return;  // the gateway does the same for both
  const Work adds = [](Call& call) {
    EXPECT_TRUE(call.body->last());
    call.body->replacement().append("injected");
    return Verdict::goOn();
  };
  for (const BodyMode mode : {BodyMode::kStreamed, BodyMode::kBuffered}) {
    forget();
    SetUp();
    const BodyInterest interest{mode, 0, true, false};
    Rig& rig =
        with({step("head", Phase::kRequestHeaders, waits()), step("1", Phase::kRequestBody, adds, interest),
              step("2", Phase::kBackendRequest, adds, interest), step("wait", Phase::kBackendRequest, waits(), 1),
              step("3", Phase::kBackendResponse, adds, interest), step("kept", Phase::kResponseHeaders, waits()),
              step("4", Phase::kResponseBody, adds, interest)});
    const std::size_t index = askForTunnel();
    ASSERT_EQ(waiting_.size(), 1U);
    resume();
    BackendPeer& backend = accept(0);
    ASSERT_EQ(waiting_.size(), 1U);
    resume();
    ASSERT_EQ(backend.requests(), 1U);
    EXPECT_EQ(backend.request(0).message.head.body, Body::kTunnel);
    backend.head(
        0,
        {.fields = {{"sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}}, .body = Body::kTunnel, .status = 101});
    ASSERT_TRUE(rig.settle());
    ASSERT_EQ(waiting_.size(), 1U);
    EXPECT_FALSE(client_->answer(index).answered);
    resume();
    ASSERT_TRUE(client_->answer(index).answered);
    client_->body(index, "up");
    backend.body(0, "down");
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(backend.request(0).body, "up");
    EXPECT_EQ(client_->answer(index).body, "down");
    client_->wire().reset();
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(rig.steps, (std::vector<std::string>{"head", "1", "2", "wait", "3", "kept", "4"}));
    expectOver(1);
  }
}

}  // namespace
}  // namespace sluice::exchange
