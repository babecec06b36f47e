// Steps meet the rarer events of an exchange: large bodies, responses that have none, attempts that fail, copies.
#include <array>

#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

class ProcessEdge : public ProcessWait {
 protected:
  static Work adds(std::string text) {
    return [=](Call& call) {
      if (!call.body->last()) return Verdict::goOn();
      call.body->change().append(text);
      return Verdict::goOn();
    };
  }
  std::size_t getThatWaits() { return ask({.target = "/ok", .fields = {{"x-wait", "1"}}}); }
  /// Makes a connection that has served already.
  BackendPeer& warm() {
    get();
    BackendPeer& backend = accept(0);
    respond(backend, 200, "warm");
    return backend;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, ProcessEdge,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessEdge, ALargeBodyPassesStepsThatSeeHeadsAlone) {
  const std::string large(1'500'000, 'x');
  for (const Phase phase : {Phase::kRequestHeaders, Phase::kBackendRequest, Phase::kResponseHeaders}) {
    with({step("head", phase, goesOn())});
    const std::size_t index = askFor(*client_, large);
    serve();
    EXPECT_TRUE(arrived() == large) << arrived().size();
    EXPECT_EQ(statusOf(*client_, index), 200);
    expectOver(1);
    SetUp();
  }
}

TEST_P(ProcessEdge, AResponseWithoutABodyGetsNoneFromAStep) {
  for (const BodyInterest& interest : {kEditsPieces, kEditsWhole}) {
    for (const Phase phase : {Phase::kBackendResponse, Phase::kResponseBody}) {
      for (const std::uint16_t code : std::array<std::uint16_t, 3>{200, 204, 304}) {
        SCOPED_TRACE(std::to_string(code));
        Rig& rig = with({step("adds", phase, adds("more"), interest)});
        const std::size_t index = ask({.method = code == 200 ? Method::kHead : Method::kGet, .target = "/ok"});
        BackendPeer& backend = accept(0);
        backend.finish(0);
        if (code == 200) {
          backend.head(0, {.body = Body::kLength, .length = 5, .status = code});
        } else {
          backend.head(0, {.status = code});
        }
        ASSERT_TRUE(rig.settle());
        EXPECT_EQ(statusOf(*client_, index), code);
        EXPECT_EQ(client_->answer(index).body, "");
        EXPECT_TRUE(client_->answer(index).ended);
        EXPECT_EQ(rig.steps, std::vector<std::string>{"adds"});
        const std::size_t next = get();
        respond(backend, 200, "next");
        EXPECT_EQ(client_->answer(next).body, "nextmore") << "the connection is still in step";
        expectOver(2);
        SetUp();
      }
    }
  }
}

TEST_P(ProcessEdge, BytesThatAStepCutsOffAreGoneAlsoIfItFailsOpen) {
  const Work cuts = [](Call& call) {
    if (call.body->last()) call.body->replacement();
    return Verdict::goOn();
  };
  for (const Phase phase : {Phase::kRequestBody, Phase::kBackendRequest}) {
    with({open(step("cuts", phase, cuts, kEditsPieces))});
    const std::size_t index = askFor(*client_, "hel", false, false);
    serve();
    client_->body(index, "lo");
    client_->finish(index);
    ASSERT_TRUE(rig_->settle());
    serve();
    EXPECT_EQ(arrived(), "hel");
    EXPECT_EQ(statusOf(*client_, index), 200);
    expectOver(1);
    SetUp();
  }
}

TEST_P(ProcessEdge, TrailersPassStepsOfEveryKind) {
  for (const BodyInterest& interest : {kEditsPieces, kEditsWhole}) {
    with(
        {step("1", Phase::kRequestBody, adds("1"), interest), step("2", Phase::kBackendRequest, adds("2"), interest),
         step("3", Phase::kBackendResponse, adds("3"), interest), step("4", Phase::kResponseBody, adds("4"), interest)},
        {step("own", Phase::kRequestBody, adds("own"), interest, 0, Scope::kBackend)});
    const std::size_t index = client_->ask(
        {.method = Method::kPut, .target = "/ok", .fields = {{"te", "trailers"}}, .body = Body::kUntilEnd});
    client_->body(index, "hello");
    client_->finish(index, {{"x-sum", "5"}});
    ASSERT_TRUE(rig_->settle());
    BackendPeer& backend = accept(0);
    EXPECT_EQ(backend.request(0).body, "hello1own2");
    EXPECT_EQ(backend.request(0).trailers, (test::FieldList{{"x-sum", "5"}}));
    backend.head(0, {.fields = {{"trailer", "x-back"}}, .body = Body::kUntilEnd, .status = 200});
    backend.body(0, "done");
    backend.finish(0, {{"x-back", "6"}});
    ASSERT_TRUE(rig_->settle());
    EXPECT_EQ(client_->answer(index).body, "done34");
    EXPECT_EQ(client_->answer(index).trailers, (test::FieldList{{"x-back", "6"}}));
    expectOver(1);
    SetUp();
  }
}

TEST_P(ProcessEdge, AStepOfTheRequestThatFailsBehindTheBeginOfAResponseBreaksIt) {
  const Work failsLast = [](Call& call) { return call.body->last() ? Verdict::fail("it broke") : Verdict::goOn(); };
  for (const Phase phase : {Phase::kRequestBody, Phase::kBackendRequest}) {
    Rig& rig = with({step("step", phase, failsLast, kEditsPieces)});
    const std::size_t index = askFor(*client_, "hello", false, false);
    BackendPeer& backend = accept(0);
    backend.head(0, {.body = Body::kUntilEnd, .status = 200});
    backend.body(0, "do");
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(client_->answer(index).body, "do");
    client_->finish(index);
    ASSERT_TRUE(rig.settle());
    EXPECT_TRUE(client_->answer(index).reset);
    EXPECT_FALSE(backend.request(0).ended);
    ASSERT_EQ(rig.told.size(), 1U);
    EXPECT_EQ(rig.told[0].error->type, base::ErrorType::kProcessorFailed);
    expectOver(1);
    SetUp();
  }
}

TEST_P(ProcessEdge, AnotherAttemptGetsTheBodyThatAStepOfTheRequestLetGoAsItCame) {
  Rig& rig = with({step("all", Phase::kRequestBody, adds("+"), kEditsPieces),
                   step("out", Phase::kBackendRequest, adds("!"), kEditsPieces)});
  const std::size_t index = askFor(*client_, "hel", false, false);
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).body, "hel");
  backend.respond(0, 503, "not now");
  ASSERT_TRUE(rig.settle());
  client_->body(index, "lo");
  ASSERT_TRUE(rig.settle());
  passBackoff();
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  serve();
  const auto& last = *rig.backends.back();
  EXPECT_EQ(rig.backends.back()->request(last.requests() - 1).body, "hello+!");
  EXPECT_EQ(statusOf(*client_, index), 200);
  expectOver(1);
}

TEST_P(ProcessEdge, AnAnswerToAStepOfTheRequestIsNotLostWithTheAttempt) {
  // The backend answers before the body is there.
  Rig& rig = with({step("step", Phase::kRequestBody, waitsForBytes(), kEditsPieces)});
  const std::size_t index = askFor(*client_, "", true, false);
  BackendPeer& backend = accept(0);
  client_->body(index, "hello");
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(waiting_.size(), 1U);
  backend.respond(0, 503, "not now");
  backend.pump();
  {
    const net::Worker::Turn turn(rig.worker);
    rig.wire(0).pump();
    for (Resumer& each : std::exchange(waiting_, {})) each.resume();
  }
  ASSERT_TRUE(rig.settle());
  passBackoff();
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  while (!waiting_.empty()) resume();
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(rig.backends.back()->request(rig.backends.back()->requests() - 1).body, "hello");
  EXPECT_EQ(rig.told.at(0).attempts, 2U);
  expectOver(1);
}

TEST_P(ProcessEdge, AnAttemptIsMadeOnceMoreUnseenWhileAStepWaitsOnItsResponse) {
  Rig& rig = with({step("out", Phase::kBackendRequest, waits()), step("back", Phase::kBackendResponse, waits())}, {},
                  [](routing::Rule& rule) { rule.retry.reset(); });
  BackendPeer& backend = warm();
  const std::size_t index = getThatWaits();
  resume();
  ASSERT_EQ(backend.requests(), 2U);
  backend.head(1, {.body = Body::kUntilEnd, .status = 200});
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(waiting_.size(), 1U);
  const std::vector<Resumer> early = std::exchange(waiting_, {});
  backend.wire().reset();
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(rig.dialled(), 2U);
  BackendPeer& second = accept(1);
  ASSERT_EQ(waiting_.size(), 1U) << "the step of the second one's request";
  resume();
  ASSERT_EQ(second.requests(), 1U);
  respond(second, 200, "done");
  resume();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(client_->answer(index).body, "done");
  expectOver(2);
}

TEST_P(ProcessEdge, AResponseThatIsKeptIsNotAskedForOnceMore) {
  Rig& rig =
      with({step("kept", Phase::kResponseHeaders, waits())}, {}, [](routing::Rule& rule) { rule.retry.reset(); });
  BackendPeer& backend = warm();
  const std::size_t index = getThatWaits();
  ASSERT_EQ(backend.requests(), 2U);
  backend.head(1, {.body = Body::kUntilEnd, .status = 200});
  ASSERT_TRUE(rig.settle());
  backend.wire().reset();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(rig.dialled(), 1U);
  EXPECT_EQ(statusOf(*client_, index), 502);
  forget();
  expectOver(2);
}

// An exchange that makes too many transitions in one go fails, so attempts must be able to fail at once with their
// steps.
TEST_P(ProcessEdge, AllAttemptsMayFailAtOnceBehindTheirSteps) {
  options_.pendingBound = 0;
  int asked = 0;
  const auto counts = [&asked](Call&) {
    ++asked;
    return Verdict::goOn();
  };
  with({step("gateway", Phase::kRequestHeaders, goesOn(), 0, Scope::kGateway), step("first", Phase::kConnect, counts),
        step("then", Phase::kBackendRequest, goesOn())},
       {step("own", Phase::kRequestHeaders, goesOn(), 0, Scope::kBackend)}, [](routing::Rule& rule) {
         rule.retry->attempts = 10;
         rule.retry->backoff = base::Duration::zero();
       });
  const std::size_t index = get();
  EXPECT_EQ(status(index), 503);
  EXPECT_EQ(asked, 11);
  expectTold(503, 11);
}

}  // namespace
}  // namespace sluice::exchange
