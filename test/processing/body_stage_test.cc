#include "proxy/processing/body_stage.h"

#include "test/processing/body_stage_fixture.h"

namespace sluice::processing {
namespace {

/// Lets whole words of the text go on, and keeps the last one until a space or the end of the body follows.
Verdict heldBackToSpaces(Call& call) {
  std::string& held = call.state<std::string>();
  held += call.body->bytes().text();
  const std::size_t end = call.body->last() ? held.size() : held.rfind(' ') + 1;
  call.body->replacement().append(held.substr(0, end));
  held.erase(0, end);
  return Verdict::goOn();
}

TEST_F(BodyStageTest, AStepThatIsSkippedWithoutBeingAskedGivesItsStateBack) {
  bool ended = false;
  request_.headers.add(arena_, "content-encoding", "gzip");
  Step step = open(makeStep(
      "step", Phase::kRequestBody,
      [&](Call& call) {
        call.state<EndNotice>().ended = &ended;
        return Verdict::goOn();
      },
      BodyMode::kStreamed));
  step.body.edits = false;
  step.body.decoded = true;
  make(std::move(step));
  EXPECT_TRUE(turn());
  EXPECT_FALSE(ended);
  EXPECT_TRUE(give("no gzip", true));
  EXPECT_EQ(outcome(), StepOutcome::kSkipped);
  EXPECT_TRUE(ended);
  EXPECT_EQ(passed(), "no gzip");
}

TEST_F(BodyStageTest, AStreamedStepIsAskedAboutTheHeadThePiecesAndTheEnd) {
  std::vector<std::string> seen;
  BodyStage& stage = make(makeStep(
      "step", Phase::kRequestBody,
      [&](Call& call) {
        seen.push_back(call.body->bytes().text() + (call.body->last() ? "." : ""));
        return Verdict::goOn();
      },
      BodyMode::kStreamed));
  EXPECT_FALSE(stage.hasBegun());
  EXPECT_TRUE(turn());
  EXPECT_TRUE(stage.hasBegun());
  EXPECT_TRUE(turn()) << "nothing new: nothing to ask";
  give("ab");
  give("c", true);
  EXPECT_TRUE(turn());
  EXPECT_EQ(seen, (std::vector<std::string>{"", "ab", "c."}));
  EXPECT_EQ(passed(), "abc");
  EXPECT_TRUE(out_.ended);
  ASSERT_EQ(host_.told.size(), 1U);
  EXPECT_EQ(outcome(), StepOutcome::kDone);
}

TEST_F(BodyStageTest, ABufferedStepIsAskedOnceAboutTheWholeBody) {
  int asked = 0;
  BodyStage& stage = make(makeStep(
      "step", Phase::kRequestBody,
      [&](Call& call) {
        ++asked;
        call.body->change().append("!");
        return Verdict::goOn();
      },
      BodyMode::kBuffered));
  give("ab");
  EXPECT_TRUE(stage.collects());
  EXPECT_EQ(passed(), "");
  give("c", true);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(passed(), "abc!");
  EXPECT_TRUE(stage.hasChanged());
}

TEST_F(BodyStageTest, AsksOnceAboutAMessageWithoutABody) {
  for (const BodyMode mode : {BodyMode::kStreamed, BodyMode::kBuffered}) {
    host_.told.clear();
    int asked = 0;
    BodyStage& stage = make(makeStep(
                                "step", Phase::kRequestBody,
                                [&](Call& call) {
                                  EXPECT_TRUE(call.body->last());
                                  EXPECT_TRUE(call.body->bytes().empty());
                                  ++asked;
                                  return Verdict::goOn();
                                },
                                mode),
                            false);
    stage.input.ended = true;
    EXPECT_TRUE(turn());
    EXPECT_TRUE(turn());
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(host_.told.size(), 1U);
  }
}

TEST_F(BodyStageTest, ABufferedBodyMayReachItsBoundButNotExceedIt) {
  for (const std::size_t own : {std::size_t{0}, std::size_t{8}, std::size_t{5000}}) {
    const std::size_t bound = own == 8 ? 8 : 1024;
    for (const std::size_t size : {bound, bound + 1}) {
      host_.told.clear();
      host_.met.clear();
      Step step = makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered);
      step.body.bound = own;
      make(std::move(step));
      EXPECT_EQ(give(std::string(size, 'x'), true), size == bound);
      ASSERT_EQ(host_.told.size(), 1U);
      EXPECT_EQ(outcome(), size == bound ? StepOutcome::kDone : StepOutcome::kRefused);
      EXPECT_EQ(host_.met.size(), size == bound ? 0U : 1U);
      if (size > bound) {
        EXPECT_EQ(host_.told[0].cause, Cause::kOverLimit);
      }
    }
  }
}

TEST_F(BodyStageTest, ABodyOverTheBoundPassesAStepThatFailsOpen) {
  make(open(makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered)));
  const std::string large(1025, 'x');
  EXPECT_TRUE(give(large));
  EXPECT_EQ(passed(), large) << "at once, not at its end";
  EXPECT_EQ(outcome(), StepOutcome::kSkipped);
  EXPECT_TRUE(give("y", true));
  EXPECT_EQ(passed(), large + "y");
}

TEST_F(BodyStageTest, HeldBytesCountAgainstTheBufferBudgetUntilTheyHaveLeft) {
  host_.budget.setMost(BufferShare::kUnit);
  BufferShare others(host_.room);
  make(makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered));
  EXPECT_TRUE(give("a", true));
  EXPECT_EQ(host_.room.used(), BufferShare::kUnit);
  EXPECT_FALSE(others.reach(1));
  stage_->keepRoomFor(0);
  EXPECT_EQ(host_.room.used(), 0U);
  ASSERT_TRUE(others.reach(1));
  for (const bool isOpen : {false, true}) {
    host_.told.clear();
    host_.met.clear();
    Step step = makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered);
    step.failOpen = isOpen;
    make(std::move(step));
    EXPECT_FALSE(give("a"));
    EXPECT_EQ(host_.met, std::vector<std::string>{"processorBufferTotal"});
    EXPECT_EQ(outcome(), StepOutcome::kRefused) << "a gateway that is full leaves no step out";
    EXPECT_EQ(host_.told[0].cause, Cause::kNoRoom);
  }
}

TEST_F(BodyStageTest, AStatedLengthTakesNoRoom) {
  step_ = makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered);
  stage_.emplace(step_, step_.body.mode, host_, pool_, true, 1024, nullptr);
  EXPECT_TRUE(turn());
  EXPECT_EQ(host_.room.used(), 0U);
  stage_.emplace(step_, step_.body.mode, host_, pool_, true, 1025, nullptr);
  EXPECT_FALSE(turn()) << "though it is refused at once if it can only be too long";
}

TEST_F(BodyStageTest, ABodyThatStallsGivesWayToOneThatComes) {
  host_.budget.setMost(BufferShare::kUnit);
  make(open(makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered)));
  EXPECT_TRUE(give("a"));
  Ticket woken = 0;
  host_.answers = [&](Ticket ticket, bool) { woken = ticket; };
  BufferShare others(host_.room);
  EXPECT_TRUE(others.reach(1));
  EXPECT_TRUE(stage_->answer(woken));
  EXPECT_FALSE(turn());
  EXPECT_EQ(outcome(), StepOutcome::kRefused);
  EXPECT_EQ(host_.told[0].cause, Cause::kNoRoom);
}

TEST_F(BodyStageTest, AWholeBodyThatIsNotTakenGivesWayOnceItsStepHasDecided) {
  host_.budget.setMost(BufferShare::kUnit);
  for (const bool decides : {false, true}) {
    make(makeStep(
        "step", Phase::kRequestBody,
        [&](Call& call) {
          if (decides) return Verdict::goOn();
          waiting_.push_back(call.suspend());
          return Verdict::wait();
        },
        BodyMode::kBuffered));
    EXPECT_TRUE(give("a", true));
    host_.time.advance(BufferRoom::kStuck);
    Ticket woken = 0;
    host_.answers = [&](Ticket ticket, bool) { woken = ticket; };
    BufferShare others(host_.room);
    EXPECT_EQ(others.reach(1), decides);
    EXPECT_EQ(stage_->answer(woken), decides);
    EXPECT_EQ(turn(), !decides);
  }
  EXPECT_EQ(host_.told.size(), 1U) << "the outcome of the step that has decided stays";
  EXPECT_EQ(host_.met, std::vector<std::string>{"processorBufferTotal"});
}

TEST_F(BodyStageTest, AStepThatInspectsSeesABodyAsItComesAndHoldsItUntilItsEnd) {
  std::vector<std::string> seen;
  BodyStage& stage = make(inspects([&](Call& call) {
    seen.push_back(call.body->bytes().text() + (call.body->last() ? "." : ""));
    return Verdict::goOn();
  }));
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(give("c"));
  EXPECT_TRUE(turn()) << "nothing new: nothing to ask";
  EXPECT_FALSE(stage.hasBegun());
  EXPECT_EQ(passed(), "");
  EXPECT_TRUE(give("", true));
  EXPECT_TRUE(stage.hasBegun());
  EXPECT_EQ(seen, (std::vector<std::string>{"ab", "c", "."}));
  EXPECT_EQ(passed(), "abc");
  EXPECT_FALSE(stage.hasChanged());
  ASSERT_EQ(host_.told.size(), 1U);
}

TEST_F(BodyStageTest, AStepThatInspectsAndFailsOpenInTheMiddleLosesNothing) {
  make(open(inspects(failsAt(2))));
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(give("cd"));
  EXPECT_EQ(passed(), "abcd") << "and holds nothing back any more";
  EXPECT_EQ(outcome(), StepOutcome::kSkipped);
  EXPECT_TRUE(give("ef", true));
  EXPECT_EQ(passed(), "abcdef");
}

TEST_F(BodyStageTest, HeadEditsOfAnInspectingStepAreUndoneIfItFailsAfterAnEarlierPiece) {
  make(open(inspects([](Call& call) {
    call.edit.add("x-seen", "1");
    return call.body->last() ? Verdict::fail("it broke") : Verdict::goOn();
  })));
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(give("c", true));
  EXPECT_EQ(request_.headers.find("x-seen"), nullptr);
}

TEST_F(BodyStageTest, ALongInspectionLetsOtherExchangesGoFirst) {
  host_.limits.buffer = host_.limits.decompressed = 1 << 20;
  std::size_t seen = 0;
  BodyStage& stage = make(inspects([&](Call& call) {
    seen += call.body->bytes().size();
    return Verdict::goOn();
  }));
  const std::string large(600 * 1024, 'x');
  EXPECT_TRUE(give(large, true));
  EXPECT_EQ(seen, 256U * 1024);
  EXPECT_TRUE(stage.pauses());
  EXPECT_TRUE(turn());
  EXPECT_EQ(seen, 256U * 1024) << "not before it is answered";
  while (!host_.later.empty()) {
    EXPECT_TRUE(stage.answer(host_.later.back()));
    host_.later.pop_back();
    EXPECT_TRUE(turn());
  }
  EXPECT_EQ(seen, large.size());
  EXPECT_EQ(passed(), large);
}

TEST_F(BodyStageTest, ASlowInspectionLetsOtherExchangesGoFirst) {
  host_.limits.buffer = 1 << 20;
  std::size_t seen = 0;
  BodyStage& stage = make(inspects([&](Call& call) {
    seen += call.body->bytes().size();
    host_.time.advance(std::chrono::microseconds(500));
    return Verdict::goOn();
  }));
  EXPECT_TRUE(give(std::string(100 * 1024, 'x'), true));
  EXPECT_EQ(seen, 32U * 1024);
  EXPECT_TRUE(stage.pauses());
}

TEST_F(BodyStageTest, AnInspectionThatWaitsSeesTheSameBytesAgain) {
  std::vector<std::string> seen;
  BodyStage& stage = make(inspects([&](Call& call) {
    seen.push_back(call.body->bytes().text());
    if (seen.size() > 1) return Verdict::goOn();
    waiting_.push_back(call.suspend());
    return Verdict::wait();
  }));
  host_.answers = [&](Ticket ticket, bool dropped) { stage.call.answer(ticket, dropped); };
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(give("cd", true));
  EXPECT_EQ(passed(), "");
  waiting_.back().resume();
  EXPECT_TRUE(turn());
  EXPECT_EQ(seen, (std::vector<std::string>{"ab", "ab", "cd"}));
  EXPECT_EQ(passed(), "abcd");
}

TEST_F(BodyStageTest, BytesThatAProcessorClaimsCountAgainstTheBufferBudget) {
  make(inspects([](Call& call) {
    return call.body->claim(40'000) ? Verdict::goOn() : Verdict::fail("no room", Cause::kNoRoom);
  }));
  EXPECT_TRUE(give("a"));
  EXPECT_EQ(host_.room.used(), 3 * BufferShare::kUnit);
  EXPECT_TRUE(give("b", true));
  EXPECT_EQ(host_.room.used(), BufferShare::kUnit) << "it has ended, the body has not left";
}

TEST_F(BodyStageTest, ABodyPassesByteExactIfAStepFailsOpenBeforeItChangedAnything) {
  for (const int count : {1, 2, 3, 4}) {
    host_.told.clear();
    out_.bytes.clear();
    make(open(makeStep("step", Phase::kRequestBody, failsAt(count), BodyMode::kStreamed)));
    turn();
    EXPECT_TRUE(give("ab"));
    EXPECT_TRUE(give("cd"));
    EXPECT_TRUE(give("ef", true));
    EXPECT_EQ(passed(), "abcdef");
    EXPECT_EQ(outcome(), StepOutcome::kSkipped);
  }
}

TEST_F(BodyStageTest, ChangesMadeInACallThatFailsAreDropped) {
  const Work spoils = [](Call& call) {
    call.body->replacement().append("spoilt");
    return Verdict::fail("it broke");
  };
  for (const BodyMode mode : {BodyMode::kStreamed, BodyMode::kBuffered}) {
    host_.told.clear();
    out_.bytes.clear();
    make(open(makeStep("step", Phase::kRequestBody, spoils, mode)));
    EXPECT_TRUE(give("abc", true));
    EXPECT_EQ(passed(), "abc");
    EXPECT_EQ(outcome(), StepOutcome::kSkipped);
  }
}

TEST_F(BodyStageTest, AFailOpenStepThatFailsAfterChangedBytesHaveLeftRefusesTheExchange) {
  make(open(makeStep(
      "step", Phase::kRequestBody,
      [](Call& call) {
        if (call.body->last()) return Verdict::fail("it broke");
        if (!call.body->bytes().empty()) call.body->replacement().append("XX");
        return Verdict::goOn();
      },
      BodyMode::kStreamed)));
  EXPECT_TRUE(give("ab"));
  EXPECT_EQ(passed(), "XX");
  EXPECT_FALSE(give("cd", true));
  EXPECT_EQ(passed(), "XX");
  EXPECT_EQ(outcome(), StepOutcome::kUnreplayable);
}

TEST_F(BodyStageTest, BytesHeldBackGoOnIfTheStepFailsOpen) {
  make(open(makeStep(
      "step", Phase::kRequestBody,
      [](Call& call) { return call.body->last() ? Verdict::fail("it broke") : heldBackToSpaces(call); },
      BodyMode::kStreamed)));
  EXPECT_TRUE(give("one tw"));
  EXPECT_EQ(passed(), "one ");
  EXPECT_TRUE(give("o thr"));
  EXPECT_EQ(passed(), "one two ");
  EXPECT_TRUE(give("ee", true));
  EXPECT_EQ(passed(), "one two three");
  EXPECT_EQ(outcome(), StepOutcome::kSkipped);
}

TEST_F(BodyStageTest, AStepMayHoldBytesBackUntilTheEnd) {
  for (const bool isOpen : {true, false}) {
    out_.bytes.clear();
    Step step = makeStep("step", Phase::kRequestBody, heldBackToSpaces, BodyMode::kStreamed);
    step.failOpen = isOpen;
    make(std::move(step));
    EXPECT_TRUE(give("one tw"));
    EXPECT_TRUE(give("o", true));
    EXPECT_EQ(passed(), "one two");
  }
}

TEST_F(BodyStageTest, BytesThatAStepDropsDoNotGoOn) {
  for (const bool isOpen : {true, false}) {
    out_.bytes.clear();
    out_.ended = false;
    Step step = makeStep(
        "step", Phase::kRequestBody,
        [](Call& call) {
          if (call.body->last()) call.body->replacement();
          return Verdict::goOn();
        },
        BodyMode::kStreamed);
    step.failOpen = isOpen;
    make(std::move(step));
    EXPECT_TRUE(give("kept"));
    EXPECT_TRUE(give(" secret", true));
    EXPECT_EQ(passed(), "kept");
    EXPECT_TRUE(out_.ended);
  }
}

TEST_F(BodyStageTest, BytesHeldBackAreReplayedUpToTheReplayBuffer) {
  for (const std::size_t size : {std::size_t{16}, std::size_t{17}}) {
    host_.told.clear();
    host_.met.clear();
    out_.bytes.clear();
    make(open(makeStep(
        "step", Phase::kRequestBody,
        [](Call& call) { return call.body->last() ? Verdict::fail("it broke") : heldBackToSpaces(call); },
        BodyMode::kStreamed)));
    const std::string held(size, 'x');
    EXPECT_TRUE(give(held));
    EXPECT_EQ(passed(), "");
    EXPECT_EQ(host_.room.used(), size == 16 ? BufferShare::kUnit : 0U);
    EXPECT_EQ(give("y", true), size == 16);
    EXPECT_EQ(host_.room.used(), 0U);
    EXPECT_EQ(outcome(), size == 16 ? StepOutcome::kSkipped : StepOutcome::kUnreplayable);
    EXPECT_EQ(passed(), size == 16 ? held + "y" : "");
    EXPECT_EQ(host_.met.size(), size == 16 ? 0U : 1U);
  }
}

TEST_F(BodyStageTest, AStepThatAnswersItselfIsAskedOnceInATurn) {
  int asked = 0;
  make(makeStep(
      "step", Phase::kRequestBody,
      [&](Call& call) {
        if (call.body->bytes().empty()) return Verdict::goOn();
        ++asked;
        call.suspend().resume();
        return Verdict::wait();
      },
      BodyMode::kStreamed));
  host_.answers = [this](Ticket ticket, bool dropped) { stage_->call.answer(ticket, dropped); };
  EXPECT_TRUE(give("ab"));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(turn());
  EXPECT_EQ(asked, 2);
}

TEST_F(BodyStageTest, AReplyInTheMiddleOfABodyEndsIt) {
  make(open(makeStep(
      "step", Phase::kRequestBody,
      [](Call& call) {
        if (!call.body->last()) return Verdict::goOn();
        return Verdict::reply({base::Error::badRequest(403, "no"), {}});
      },
      BodyMode::kStreamed)));
  EXPECT_TRUE(give("ab"));
  EXPECT_FALSE(give("c", true));
  EXPECT_EQ(passed(), "ab");
  EXPECT_EQ(outcome(), StepOutcome::kRefused);
}

}  // namespace
}  // namespace sluice::processing
