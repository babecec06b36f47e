#include "proxy/processing/pipeline.h"

#include "test/processing/pipeline_fixture.h"

namespace sluice::processing {
namespace {

constexpr std::size_t kInside = std::size_t{64} * 1024;

class PipelineTest : public PipelineFixture {
 protected:
  Pipeline& make(std::vector<Step> steps, BodyPath path = BodyPath::kFlows) {
    chain_.emplace(std::move(steps));
    out_.clear();
    pipeline_.emplace(host_, target(), pool_, path);
    host_.answers = [this](Ticket ticket, bool dropped) { pipeline_->answer(ticket, dropped); };
    return *pipeline_;
  }
  Chains chains() const { return {nullptr, &*chain_, nullptr}; }
  Pipeline::Outcome go() { return pipeline_->go(out_, 0); }
  Pipeline::Outcome enter(Phase phase) {
    pipeline_->append(chains(), phase);
    pipeline_->seal();
    return go();
  }
  Pipeline::Outcome give(std::string_view bytes, bool last = false) {
    pipeline_->source.append(bytes);
    if (last) pipeline_->end(std::nullopt);
    return go();
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
  std::string passed() { return out_.text(); }

  std::vector<std::string> order_;
  std::optional<Chain> chain_;
  base::ByteQueue out_{pool_};
  std::optional<Pipeline> pipeline_;
};

TEST_F(PipelineTest, AStepThatHasDecidedGivesItsStateBack) {
  bool ended = false;
  make({makeStep("h", Phase::kRequestHeaders,
                 [&](Call& call) {
                   auto& state = call.state<EndNotice>();
                   if (std::exchange(state.ended, &ended) != nullptr) return Verdict::goOn();
                   waiting_.push_back(call.suspend());
                   return Verdict::wait();
                 }),
        makeStep("n", Phase::kRequestHeaders, [&](Call&) {
          EXPECT_TRUE(ended) << "before the next step begins";
          return Verdict::goOn();
        })});
  EXPECT_EQ(enter(Phase::kRequestHeaders), Pipeline::Outcome::kWaits);
  EXPECT_FALSE(ended);
  waiting_[0].resume();
  EXPECT_EQ(go(), Pipeline::Outcome::kDone);
  EXPECT_TRUE(ended);
}

TEST_F(PipelineTest, StepsBeginOneAfterTheOtherAndPhasesWhenTheyAreEntered) {
  make({makeStep("h", Phase::kRequestHeaders, notes("h")),
        makeStep("s", Phase::kRequestBody, notes("s"), BodyMode::kStreamed),
        makeStep("n", Phase::kRequestBody, notes("n"))});
  EXPECT_EQ(enter(Phase::kRequestHeaders), Pipeline::Outcome::kDone);
  EXPECT_EQ(order_, std::vector<std::string>{"h"});
  EXPECT_EQ(enter(Phase::kRequestBody), Pipeline::Outcome::kDone);
  EXPECT_EQ(give("ab", true), Pipeline::Outcome::kDone);
  EXPECT_EQ(order_, (std::vector<std::string>{"h", "s:", "n", "s:ab"}));
  EXPECT_EQ(passed(), "ab");
  EXPECT_TRUE(pipeline_->tookEnd());
  EXPECT_FALSE(pipeline_->tookEnd()) << "it says so once";
  EXPECT_FALSE(pipeline_->isOpen());
}

TEST_F(PipelineTest, TellsTheEndOfTheBodyOnceEvenIfTheRouteIsLeftBehindIt) {
  make({makeStep("h", Phase::kRequestHeaders, notes("h"))});
  EXPECT_EQ(enter(Phase::kRequestHeaders), Pipeline::Outcome::kDone);
  EXPECT_EQ(give("ab", true), Pipeline::Outcome::kDone);
  EXPECT_TRUE(pipeline_->tookEnd());
  pipeline_->leaveRoute();
  EXPECT_EQ(enter(Phase::kRequestHeaders), Pipeline::Outcome::kDone);
  EXPECT_EQ(passed(), "ab");
  EXPECT_FALSE(pipeline_->tookEnd());
}

TEST_F(PipelineTest, CarriesABodyThatNoStepHasWantedSoFar) {
  make({makeStep("s", Phase::kRequestBody, notes("s"), BodyMode::kStreamed)}, BodyPath::kBypasses);
  EXPECT_FALSE(pipeline_->carries());
  EXPECT_FALSE(pipeline_->isOpen());
  pipeline_->carry(BodyPath::kFlows);
  EXPECT_TRUE(pipeline_->carries());
  EXPECT_TRUE(pipeline_->isOpen());
  EXPECT_EQ(enter(Phase::kRequestBody), Pipeline::Outcome::kDone);
  EXPECT_EQ(give("ab", true), Pipeline::Outcome::kDone);
  EXPECT_EQ(passed(), "ab");
  EXPECT_FALSE(pipeline_->isOpen());
  EXPECT_TRUE(pipeline_->tookEnd());
}

TEST_F(PipelineTest, CarriesAnEmptyBodyThatStepsMayFill) {
  make({makeStep("s", Phase::kRequestBody, notes("s"), BodyMode::kStreamed)}, BodyPath::kBypasses);
  pipeline_->carry(BodyPath::kEmpty);
  EXPECT_TRUE(pipeline_->carries());
  EXPECT_FALSE(pipeline_->isOpen());
  EXPECT_EQ(enter(Phase::kRequestBody), Pipeline::Outcome::kDone);
  EXPECT_EQ(order_, std::vector<std::string>{"s:"});
  EXPECT_TRUE(pipeline_->tookEnd());
}

TEST_F(PipelineTest, RoundsHaveTheirOwnSteps) {
  Step early = makeStep("early", Phase::kRequestHeaders, notes("early"));
  early.preAuth = true;
  early.priority = 9;
  make({makeStep("late", Phase::kRequestHeaders, notes("late")), early});
  pipeline_->appendRequest(chains(), Round::kFirst);
  go();
  EXPECT_EQ(order_, std::vector<std::string>{"early"});
  pipeline_->appendRequest(chains(), Round::kSecond);
  go();
  EXPECT_EQ(order_, (std::vector<std::string>{"early", "late"}));
}

TEST_F(PipelineTest, StepsBehindABufferedOneWaitForTheWholeBody) {
  make({makeStep("b", Phase::kRequestBody, notes("b"), BodyMode::kBuffered),
        makeStep("n", Phase::kRequestBody, notes("n"))});
  EXPECT_EQ(enter(Phase::kRequestBody), Pipeline::Outcome::kWaits);
  EXPECT_EQ(give("ab"), Pipeline::Outcome::kWaits);
  EXPECT_TRUE(pipeline_->starves()) << "it needs the rest of the body";
  EXPECT_TRUE(order_.empty());
  EXPECT_EQ(give("c", true), Pipeline::Outcome::kDone);
  EXPECT_EQ(order_, (std::vector<std::string>{"b:abc", "n"}));
  EXPECT_EQ(passed(), "abc");
}

TEST_F(PipelineTest, AStepOfALaterPhaseGetsBytesThatWereReadyBeforeItBegan) {
  make({makeStep("1", Phase::kRequestBody, notes("1"), BodyMode::kBuffered),
        makeStep("2", Phase::kBackendRequest, notes("2"), BodyMode::kBuffered)});
  pipeline_->append(chains(), Phase::kRequestBody);
  EXPECT_EQ(give("abc", true), Pipeline::Outcome::kDone);
  EXPECT_EQ(passed(), "") << "more steps may follow";
  EXPECT_EQ(enter(Phase::kBackendRequest), Pipeline::Outcome::kDone);
  EXPECT_EQ(order_, (std::vector<std::string>{"1:abc", "2:abc"}));
  EXPECT_EQ(passed(), "abc");
}

TEST_F(PipelineTest, ARefusalIsFinal) {
  make({makeStep("bad", Phase::kRequestHeaders, [](Call&) { return Verdict::fail("it broke"); }),
        makeStep("never", Phase::kRequestHeaders, notes("never"), BodyMode::kNone)});
  EXPECT_EQ(enter(Phase::kRequestHeaders), Pipeline::Outcome::kRefused);
  EXPECT_EQ(go(), Pipeline::Outcome::kRefused);
  EXPECT_EQ(host_.told.size(), 1U);
  EXPECT_TRUE(order_.empty());
}

TEST_F(PipelineTest, AStepThatHasDecidedKeepsNoCalloutWhateverItDecided) {
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

TEST_F(PipelineTest, StepsGoOnIfTheHostIgnoresARefusal) {
  host_.heeds = false;
  make({makeStep("bad", Phase::kRequestHeaders, [](Call&) { return Verdict::fail("it broke"); }),
        makeStep("next", Phase::kRequestHeaders, notes("next"))});
  EXPECT_EQ(enter(Phase::kRequestHeaders), Pipeline::Outcome::kDone);
  EXPECT_EQ(order_, std::vector<std::string>{"next"});
}

TEST_F(PipelineTest, DeadlineIsTheEarliestOfTheStepsAndOnlyDueStepsExpire) {
  Step first = open(makeStep("1", Phase::kRequestBody, waits(), BodyMode::kStreamed));
  first.timeout = std::chrono::milliseconds(50);
  make({first});
  EXPECT_EQ(pipeline_->deadline(), base::MonotonicTime::max());
  EXPECT_EQ(enter(Phase::kRequestBody), Pipeline::Outcome::kWaits);
  EXPECT_EQ(pipeline_->deadline(), host_.time.now() + std::chrono::milliseconds(50));
  pipeline_->expire(host_.time.now() + std::chrono::milliseconds(49));
  EXPECT_EQ(go(), Pipeline::Outcome::kWaits);
  pipeline_->expire(host_.time.now() + std::chrono::milliseconds(50));
  EXPECT_EQ(go(), Pipeline::Outcome::kDone);
  ASSERT_EQ(host_.told.size(), 1U);
  EXPECT_EQ(host_.told[0].cause, Cause::kTimeout);
  EXPECT_EQ(host_.told[0].outcome, StepOutcome::kSkipped);
}

TEST_F(PipelineTest, AnAnswerReachesTheStepThatWaits) {
  make({makeStep("1", Phase::kRequestHeaders, waits())});
  EXPECT_EQ(enter(Phase::kRequestHeaders), Pipeline::Outcome::kWaits);
  EXPECT_FALSE(pipeline_->answer(host_.tickets + 1, false));
  waiting_[0].resume();
  EXPECT_FALSE(pipeline_->answer(host_.tickets, false)) << "once";
  EXPECT_EQ(go(), Pipeline::Outcome::kDone);
}

TEST_F(PipelineTest, RoomIsBoundedUnlessAStepCollects) {
  make({makeStep("s", Phase::kRequestBody, waits(), BodyMode::kStreamed)});
  EXPECT_EQ(pipeline_->room(0), kInside);
  enter(Phase::kRequestBody);
  EXPECT_EQ(pipeline_->room(0), kInside);
  EXPECT_EQ(pipeline_->room(kInside - 1), 1U);
  EXPECT_EQ(pipeline_->room(kInside), 0U);
  EXPECT_EQ(pipeline_->room(kInside + 1), 0U);
  give(std::string(kInside - 10, 'x'));
  EXPECT_EQ(pipeline_->room(0), 10U);
  EXPECT_EQ(pipeline_->room(10), 0U);

  make({makeStep("b", Phase::kRequestBody, waits(), BodyMode::kBuffered)});
  enter(Phase::kRequestBody);
  EXPECT_GT(pipeline_->room(kInside), kInside) << "it collects";
  give("abc", true);
  ASSERT_FALSE(waiting_.empty());
  EXPECT_EQ(pipeline_->room(0), kInside - 3) << "it has all, and waits";
}

TEST_F(PipelineTest, BytesCountOnceAgainstTheBufferBudgetUntilTheyHaveLeft) {
  constexpr std::uint64_t kRoom = BufferShare::kUnit;
  host_.limits.buffer = 4 * kRoom;
  const Step reads = makeStep("r", Phase::kRequestBody, goesOn(), BodyMode::kBuffered);
  make({reads, makeStep("w", Phase::kRequestBody, waits(), BodyMode::kBuffered),
        makeStep("n", Phase::kBackendRequest, goesOn())});
  pipeline_->append(chains(), Phase::kRequestBody);
  give(std::string(4 * kRoom, 'x'), true);
  pipeline_->keepRoomFor(0);
  EXPECT_EQ(host_.room.used(), 4 * kRoom) << "the step that waits holds them, the one before it no more";
  waiting_.back().resume();
  EXPECT_EQ(go(), Pipeline::Outcome::kDone);
  pipeline_->keepRoomFor(0);
  EXPECT_EQ(host_.room.used(), 4 * kRoom) << "they wait for the next phase";
  enter(Phase::kBackendRequest);
  for (const std::uint64_t left : {4, 3, 1, 0}) {
    pipeline_->keepRoomFor(left * kRoom);
    EXPECT_EQ(host_.room.used(), left * kRoom);
  }
}

TEST_F(PipelineTest, KnowsWhetherStepsAlterTheBody) {
  Step reads = makeStep("s", Phase::kRequestBody, goesOn(), BodyMode::kStreamed);
  reads.body.edits = false;
  make({reads});
  enter(Phase::kRequestBody);
  EXPECT_FALSE(pipeline_->alters());
  make({makeStep("e", Phase::kRequestBody, goesOn(), BodyMode::kStreamed)});
  enter(Phase::kRequestBody);
  EXPECT_TRUE(pipeline_->alters()) << "it may yet";
  give("abc", true);
  EXPECT_FALSE(pipeline_->alters()) << "it has not";
  make({makeStep(
      "b", Phase::kRequestBody,
      [](Call& call) {
        call.body->change().append("!");
        return Verdict::goOn();
      },
      BodyMode::kBuffered)});
  enter(Phase::kRequestBody);
  give("abc", true);
  EXPECT_TRUE(pipeline_->alters());
}

}  // namespace
}  // namespace sluice::processing
