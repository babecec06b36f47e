#include "proxy/processing/run.h"

#include "test/processing/run_fixture.h"

namespace sluice::processing {
namespace {

using OneRun = Run;  // which is a name of every test too

constexpr std::size_t kInside = std::size_t{64} * 1024;

class RunTest : public RunFixture {
 protected:
  OneRun& make(std::vector<Step> steps, bool flows = true) {
    chain_.emplace(std::move(steps));
    run_.emplace(host_, target(), pool_, flows);
    host_.answers = [this](Ticket ticket, bool dropped) { run_->answer(ticket, dropped); };
    return *run_;
  }
  OneRun::Outcome enter(Phase phase, Round round = Round::kBoth) {
    run_->enter(StepOrder({nullptr, &*chain_, nullptr}, phase, round), phase);
    return run_->go();
  }
  OneRun::Outcome give(std::string_view bytes, bool last = false) {
    base::ByteQueue more = queue(bytes);
    run_->add(more, more.size());
    if (last) run_->end();
    return run_->go();
  }
  Work notes(std::string name) {
    return [this, name](Call& call) {
      order_.push_back(name + (call.body != nullptr ? ":" + call.body->bytes().text() : ""));
      return Verdict::goOn();
    };
  }
  Work waits() {
    return [this](Call& call) {
      if (call.state<int>()++ > 0) return Verdict::goOn();
      waiting_.push_back(call.suspend());
      return Verdict::wait();
    };
  }
  std::string passed() { return run_->out().bytes.text(); }

  std::vector<std::string> order_;
  std::optional<Chain> chain_;
  std::optional<OneRun> run_;
};

TEST_F(RunTest, StepsBeginOneAfterTheOtherAndPhasesWhenTheyAreEntered) {
  make({makeStep("h", Phase::kRequestHeaders, notes("h")),
        makeStep("s", Phase::kRequestBody, notes("s"), BodyMode::kStreamed),
        makeStep("n", Phase::kRequestBody, notes("n"))});
  EXPECT_EQ(enter(Phase::kRequestHeaders), OneRun::Outcome::kDone);
  EXPECT_EQ(order_, std::vector<std::string>{"h"});
  EXPECT_EQ(enter(Phase::kRequestBody), OneRun::Outcome::kDone);
  EXPECT_EQ(give("ab", true), OneRun::Outcome::kDone);
  EXPECT_EQ(order_, (std::vector<std::string>{"h", "s:", "n", "s:ab"}));
  EXPECT_EQ(passed(), "ab");
  EXPECT_TRUE(run_->out().ended);
  EXPECT_FALSE(run_->isOpen());
}

TEST_F(RunTest, RoundsHaveTheirOwnSteps) {
  Step early = makeStep("early", Phase::kRequestHeaders, notes("early"));
  early.preAuth = true;
  early.priority = 9;
  make({makeStep("late", Phase::kRequestHeaders, notes("late")), early});
  enter(Phase::kRequestHeaders, Round::kFirst);
  EXPECT_EQ(order_, std::vector<std::string>{"early"});
  enter(Phase::kRequestHeaders, Round::kSecond);
  EXPECT_EQ(order_, (std::vector<std::string>{"early", "late"}));
}

TEST_F(RunTest, WhatFollowsABufferedStepWaitsForAllOfTheBody) {
  make({makeStep("b", Phase::kRequestBody, notes("b"), BodyMode::kBuffered),
        makeStep("n", Phase::kRequestBody, notes("n"))});
  EXPECT_EQ(enter(Phase::kRequestBody), OneRun::Outcome::kWaits);
  EXPECT_EQ(give("ab"), OneRun::Outcome::kWaits);
  EXPECT_TRUE(run_->collects());
  EXPECT_TRUE(order_.empty());
  EXPECT_EQ(give("c", true), OneRun::Outcome::kDone);
  EXPECT_EQ(order_, (std::vector<std::string>{"b:abc", "n"}));
  EXPECT_EQ(passed(), "abc");
}

TEST_F(RunTest, AStepOfALaterPhaseGetsWhatWasReadyBeforeItBegan) {
  make({makeStep("1", Phase::kRequestBody, notes("1"), BodyMode::kBuffered),
        makeStep("2", Phase::kBackendRequest, notes("2"), BodyMode::kBuffered)});
  enter(Phase::kRequestBody);
  give("abc", true);
  EXPECT_EQ(enter(Phase::kBackendRequest), OneRun::Outcome::kDone);
  EXPECT_EQ(order_, (std::vector<std::string>{"1:abc", "2:abc"}));
  EXPECT_EQ(passed(), "abc");
}

TEST_F(RunTest, ARefusalIsFinal) {
  make({makeStep("bad", Phase::kRequestHeaders, [](Call&) { return Verdict::fail("it broke"); }),
        makeStep("never", Phase::kRequestHeaders, notes("never"), BodyMode::kNone)});
  EXPECT_EQ(enter(Phase::kRequestHeaders), OneRun::Outcome::kRefused);
  EXPECT_EQ(run_->go(), OneRun::Outcome::kRefused);
  EXPECT_EQ(host_.told.size(), 1U);
  EXPECT_TRUE(order_.empty());
}

TEST_F(RunTest, AStepThatHasDecidedKeepsNoCalloutWhateverItDecided) {
  const std::vector<Verdict> verdicts = {Verdict::goOn(), Verdict::fail("it broke"),
                                         Verdict::reply({base::Error::internal("no"), {}})};
  for (const BodyMode mode : {BodyMode::kNone, BodyMode::kBuffered}) {
    for (const Verdict& verdict : verdicts) {
      const Phase phase = mode == BodyMode::kNone ? Phase::kRequestHeaders : Phase::kRequestBody;
      const auto asks = [&](Call& call) {
        const http::RequestHead head;
        call.callout({nullptr, head});
        EXPECT_EQ(host_.nothing.callouts, 1);
        return verdict;
      };
      make({makeStep("asks", phase, asks, mode)});
      enter(phase);
      give("ab", true);
      EXPECT_EQ(host_.nothing.callouts, 0);
    }
  }
}

TEST_F(RunTest, WhereNobodyHeedsARefusalStepsGoOn) {
  host_.heeds = false;
  make({makeStep("bad", Phase::kRequestHeaders, [](Call&) { return Verdict::fail("it broke"); }),
        makeStep("next", Phase::kRequestHeaders, notes("next"))});
  EXPECT_EQ(enter(Phase::kRequestHeaders), OneRun::Outcome::kDone);
  EXPECT_EQ(order_, std::vector<std::string>{"next"});
}

TEST_F(RunTest, ItsDeadlineIsTheFirstOfItsStepsAndOnlyThoseThatAreDueExpire) {
  Step first = open(makeStep("1", Phase::kRequestBody, waits(), BodyMode::kStreamed));
  first.timeout = std::chrono::milliseconds(50);
  make({first});
  EXPECT_EQ(run_->deadline(), base::MonotonicTime::max());
  EXPECT_EQ(enter(Phase::kRequestBody), OneRun::Outcome::kWaits);
  EXPECT_EQ(run_->deadline(), host_.time.now() + std::chrono::milliseconds(50));
  run_->expire(host_.time.now() + std::chrono::milliseconds(49));
  EXPECT_EQ(run_->go(), OneRun::Outcome::kWaits);
  run_->expire(host_.time.now() + std::chrono::milliseconds(50));
  EXPECT_EQ(run_->go(), OneRun::Outcome::kDone);
  ASSERT_EQ(host_.told.size(), 1U);
  EXPECT_EQ(host_.told[0].cause, Cause::kTimeout);
  EXPECT_EQ(host_.told[0].outcome, StepOutcome::kSkipped);
}

TEST_F(RunTest, AnswersFindTheStepThatWaits) {
  make({makeStep("1", Phase::kRequestHeaders, waits())});
  EXPECT_EQ(enter(Phase::kRequestHeaders), OneRun::Outcome::kWaits);
  EXPECT_FALSE(run_->answer(host_.tickets + 1, false));
  waiting_[0].resume();
  EXPECT_FALSE(run_->answer(host_.tickets, false)) << "once";
  EXPECT_EQ(run_->go(), OneRun::Outcome::kDone);
}

TEST_F(RunTest, ThereIsRoomForSoMuchInsideUnlessAStepCollects) {
  make({makeStep("s", Phase::kRequestBody, waits(), BodyMode::kStreamed)});
  EXPECT_EQ(run_->room(0), kInside);
  enter(Phase::kRequestBody);
  EXPECT_EQ(run_->room(0), kInside);
  EXPECT_EQ(run_->room(kInside - 1), 1U);
  EXPECT_EQ(run_->room(kInside), 0U);
  EXPECT_EQ(run_->room(kInside + 1), 0U);
  give(std::string(kInside - 10, 'x'));
  EXPECT_EQ(run_->room(0), 10U);
  EXPECT_EQ(run_->room(10), 0U);

  make({makeStep("b", Phase::kRequestBody, waits(), BodyMode::kBuffered)});
  enter(Phase::kRequestBody);
  EXPECT_GT(run_->room(kInside), kInside) << "it collects";
  give("abc", true);
  ASSERT_FALSE(waiting_.empty());
  EXPECT_EQ(run_->room(0), kInside - 3) << "it has all, and waits";
}

TEST_F(RunTest, SaysWhetherBytesChange) {
  Step reads = makeStep("s", Phase::kRequestBody, goesOn(), BodyMode::kStreamed);
  reads.body.edits = false;
  make({reads});
  enter(Phase::kRequestBody);
  EXPECT_FALSE(run_->alters());
  make({makeStep("e", Phase::kRequestBody, goesOn(), BodyMode::kStreamed)});
  enter(Phase::kRequestBody);
  EXPECT_TRUE(run_->alters()) << "it may yet";
  give("abc", true);
  EXPECT_FALSE(run_->alters()) << "it has not";
  make({makeStep(
      "b", Phase::kRequestBody,
      [](Call& call) {
        call.body->change().append("!");
        return Verdict::goOn();
      },
      BodyMode::kBuffered)});
  enter(Phase::kRequestBody);
  give("abc", true);
  EXPECT_TRUE(run_->alters());
}

}  // namespace
}  // namespace sluice::processing
