#include "proxy/processing/step_call.h"

#include "test/processing/pipeline_fixture.h"

namespace sluice::processing {
namespace {

using std::chrono::milliseconds;

class StepCallTest : public PipelineFixture {
 protected:
  Verdict ask(StepCall& run) { return run.ask(host_, target(), nullptr); }
  void connect(StepCall& run) {
    host_.answers = [&run](Ticket ticket, bool dropped) { run.answer(ticket, dropped); };
  }
  Step waiter(milliseconds timeout = {}) {
    Step step = makeStep("step", Phase::kRequestHeaders, [this](Call& call) {
      if (call.state<int>()++ > 0) return Verdict::goOn();
      waiting_.push_back(call.suspend());
      return Verdict::wait();
    });
    step.timeout = timeout;
    return step;
  }
};

TEST_F(StepCallTest, WaitsUntilItIsAnsweredAndIsThenAskedAgain) {
  const Step step = waiter();
  StepCall run(step);
  connect(run);
  EXPECT_EQ(run.deadline(), base::MonotonicTime::max());
  EXPECT_EQ(ask(run).kind(), Verdict::Kind::kWait);
  EXPECT_TRUE(run.waits());
  EXPECT_EQ(run.deadline(), host_.time.now() + milliseconds(200));
  EXPECT_EQ(waiting_.size(), 1U);
  waiting_[0].resume();
  EXPECT_FALSE(run.waits());
  EXPECT_TRUE(run.isDue());
  EXPECT_EQ(run.deadline(), base::MonotonicTime::max());
  EXPECT_EQ(ask(run).kind(), Verdict::Kind::kContinue);
  EXPECT_FALSE(run.isDue());
}

TEST_F(StepCallTest, IsAskedAgainLaterIfItPauses) {
  const Step step = makeStep("step", Phase::kRequestHeaders, [](Call& call) {
    if (call.state<int>()++ > 0) return Verdict::goOn();
    call.pause(call.clock.now() + milliseconds(50));
    return Verdict::wait();
  });
  StepCall run(step);
  EXPECT_EQ(ask(run).kind(), Verdict::Kind::kWait);
  EXPECT_TRUE(run.waits());
  EXPECT_EQ(run.deadline(), host_.time.now() + milliseconds(50));
  ASSERT_EQ(host_.later.size(), 1U);
  EXPECT_TRUE(run.answer(host_.later[0], false));
  EXPECT_TRUE(run.isDue());
  EXPECT_EQ(ask(run).kind(), Verdict::Kind::kContinue);
}

/// Stores the address and account of the client that it is shown.
class Seeing final : public Processor {
 public:
  explicit Seeing(std::string& seen) : seen_(seen) {}
  Verdict process(Call& /*call*/, const Peer& peer) const override {
    seen_ = std::string(peer.address) + "|" + std::string(peer.nameSpace) + "|" + std::string(peer.serviceAccount);
    return Verdict::goOn();
  }

 private:
  std::string& seen_;
};

TEST_F(StepCallTest, ShowsTheClientToNoStepBeforeAuthenticationWhateverItsProcessorIs) {
  FakeHost host(nullptr, "192.0.2.1", std::make_shared<const base::Caller>(base::Caller{"apps", "worker", {}}));
  std::string seen;
  Step step = makeStep("step", Phase::kRequestHeaders, goesOn());
  step.processor = std::make_shared<const Seeing>(seen);
  StepCall(step).ask(host, target(), nullptr);
  EXPECT_EQ(seen, "192.0.2.1|apps|worker");
  step.preAuth = true;
  StepCall(step).ask(host, target(), nullptr);
  EXPECT_EQ(seen, "||");
  step.preAuth = false;
  step.hidesClient = true;
  StepCall(step).ask(host, target(), nullptr);
  EXPECT_EQ(seen, "||") << "a use that is marked preAuth has steps behind authentication, too";
}

TEST_F(StepCallTest, ExpiresByItsOwnTimeoutFromWhenItBeganToWait) {
  const Step step = waiter(milliseconds(70));
  StepCall run(step);
  connect(run);
  ask(run);
  EXPECT_EQ(run.deadline(), host_.time.now() + milliseconds(70));
  host_.time.advance(milliseconds(70));
  run.expire();
  EXPECT_EQ(run.time(host_), milliseconds(70));
  const Verdict verdict = ask(run);
  EXPECT_EQ(verdict.kind(), Verdict::Kind::kFail);
  EXPECT_EQ(verdict.cause(), Cause::kTimeout);
  waiting_[0].resume();
  EXPECT_FALSE(run.isDue()) << "too late";
}

TEST_F(StepCallTest, FailsIfItsResumerIsDropped) {
  const Step step = waiter();
  StepCall run(step);
  connect(run);
  ask(run);
  waiting_.clear();
  EXPECT_EQ(ask(run).cause(), Cause::kDropped);
}

TEST_F(StepCallTest, RecordsWhatItsServerDoes) {
  Step step = waiter(milliseconds(70));
  const auto health = std::make_shared<ServerHealth>();
  step.server = health;
  const auto reach = [&] { return health->announce(host_.time.wallNow()).reach; };
  for (int failures = 0; failures < 3; ++failures) {
    EXPECT_EQ(reach(), ServerReach::kPending);
    StepCall run(step);
    connect(run);
    ask(run);
    run.expire();
    EXPECT_EQ(ask(run).cause(), Cause::kTimeout);
    waiting_.clear();
  }
  EXPECT_EQ(reach(), ServerReach::kDegraded);
  EXPECT_EQ(health->announced().cause, Cause::kTimeout);
  StepCall answered(step);
  connect(answered);
  ask(answered);
  EXPECT_EQ(reach(), ServerReach::kDegraded) << "it has only been asked";
  waiting_.back().resume();
  EXPECT_EQ(ask(answered).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(reach(), ServerReach::kActive);
}

TEST_F(StepCallTest, DoesNotTakeAStepThatHasNotWaitedForAnAnswerOfItsServer) {
  const auto health = std::make_shared<ServerHealth>();
  const auto run = [&](const std::function<Verdict(Call&)>& process) {
    Step step = makeStep("step", Phase::kRequestHeaders, process);
    step.server = health;
    StepCall call(step);
    ask(call);
    return health->announce(host_.time.wallNow()).reach;
  };
  EXPECT_EQ(run([](Call&) { return Verdict::goOn(); }), ServerReach::kPending);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(run([](Call&) { return Verdict::fail("the gateway is full", Cause::kNoRoom); }), ServerReach::kPending);
    EXPECT_EQ(run([](Call&) { return Verdict::fail("too long", Cause::kOverLimit); }), ServerReach::kPending);
  }
  for (int i = 0; i < 3; ++i) run([](Call&) { return Verdict::fail("no connection"); });
  EXPECT_EQ(run([](Call&) { return Verdict::goOn(); }), ServerReach::kDegraded);
}

TEST_F(StepCallTest, TakesAnAnswerThatComesWhileItIsAsked) {
  for (const bool dropped : {false, true}) {
    const Step step = makeStep("step", Phase::kRequestHeaders, [dropped](Call& call) {
      if (call.state<int>()++ > 0) return Verdict::goOn();
      Resumer resumer = call.suspend();
      if (!dropped) resumer.resume();
      return Verdict::wait();
    });
    StepCall run(step);
    connect(run);
    EXPECT_EQ(ask(run).kind(), Verdict::Kind::kWait);
    EXPECT_FALSE(run.waits());
    const Verdict verdict = ask(run);
    EXPECT_EQ(verdict.kind(), dropped ? Verdict::Kind::kFail : Verdict::Kind::kContinue);
    if (dropped) {
      EXPECT_EQ(verdict.cause(), Cause::kDropped);
    }
  }
}

TEST_F(StepCallTest, OnlyTheLatestResumerResumesIt) {
  const Step step = makeStep("step", Phase::kRequestHeaders, [this](Call& call) {
    waiting_.push_back(call.suspend());
    waiting_.push_back(call.suspend());
    return Verdict::wait();
  });
  StepCall run(step);
  connect(run);
  ask(run);
  waiting_[0].resume();
  EXPECT_TRUE(run.waits());
  waiting_[1].resume();
  EXPECT_FALSE(run.waits());
}

TEST_F(StepCallTest, FailsIfItWaitsForNothing) {
  const Step step = makeStep("step", Phase::kRequestHeaders, [](Call&) { return Verdict::wait(); });
  StepCall run(step);
  EXPECT_EQ(ask(run).cause(), Cause::kError);
}

TEST_F(StepCallTest, UndoesItsWishAndItsEditsOfTheTrailersIfItFailsOpen) {
  for (const bool failOpen : {true, false}) {
    RouteWish wish;
    wish.hints.add(arena_, "x-model", "before");
    StepTarget target{request_, nullptr, arena_, holds_};
    target.wish = &wish;
    base::ByteQueue bytes(pool_);
    http::Trailers trailers(pool_);
    trailers.fields.add(trailers.arena, "x-sum", "1");
    Body body(bytes, true);
    body.setTrailers(&trailers);
    Step step = makeStep("step", Phase::kRequestBody, [](Call& call) {
      call.wish->matchAgain = true;
      call.wish->hints.set(call.arena, "x-model", "other");
      call.body->trailers()->fields.set(call.body->trailers()->arena, "x-sum", "2");
      return Verdict::fail("broken");
    });
    step.failOpen = failOpen;
    StepCall run(step);
    EXPECT_EQ(run.ask(host_, target, &body).kind(), Verdict::Kind::kFail);
    EXPECT_EQ(wish.matchAgain, !failOpen);
    EXPECT_EQ(wish.asking, failOpen ? nullptr : &step);
    EXPECT_EQ(wish.hints.find("x-model")->value, failOpen ? "before" : "other");
    EXPECT_EQ(trailers.fields.find("x-sum")->value, failOpen ? "1" : "2");
  }
}

TEST_F(StepCallTest, UndoesItsHeadEditsIfItFailsOpen) {
  for (const bool isOpen : {true, false}) {
    Step step = makeStep("step", Phase::kResponseHeaders, [this](Call& call) {
      call.edit.set("x-half", "1");
      call.response->headers.set(call.arena, "x-half", "1");
      call.response->status = 418;
      if (call.state<int>()++ > 0) return Verdict::fail("it broke");
      waiting_.push_back(call.suspend());
      return Verdict::wait();
    });
    step.failOpen = isOpen;
    request_.headers = {};
    response_.headers = {};
    response_.status = 200;
    request_.headers.set(arena_, "x-kept", "1");
    StepCall run(step);
    connect(run);
    run.ask(host_, target(true), nullptr);
    waiting_.back().resume();
    EXPECT_EQ(run.ask(host_, target(true), nullptr).kind(), Verdict::Kind::kFail);
    EXPECT_NE(request_.headers.find("x-kept"), nullptr);
    if (!isOpen) continue;
    EXPECT_EQ(request_.headers.find("x-half"), nullptr);
    EXPECT_EQ(response_.headers.find("x-half"), nullptr);
    EXPECT_EQ(response_.status, 200);
  }
}

}  // namespace
}  // namespace sluice::processing
