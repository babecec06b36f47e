#include "proxy/processing/stage.h"

#include "test/processing/run_fixture.h"

namespace sluice::processing {
namespace {

/// Edits nothing before it has seen the end of a word, which it then lets go on.
Verdict heldBackToSpaces(Call& call) {
  std::string& held = call.state<std::string>();
  held += call.body->bytes().text();
  const std::size_t end = call.body->last() ? held.size() : held.rfind(' ') + 1;
  call.body->replacement().append(held.substr(0, end));
  held.erase(0, end);
  return Verdict::goOn();
}

class StageTest : public RunFixture {
 protected:
  Stage& make(Step step, bool flows = true) {
    step_ = std::move(step);
    stage_.emplace(step_, host_, pool_, flows, 0);
    return *stage_;
  }
  bool turn() { return stage_->turn(host_, target(), out_, std::size_t{64} * 1024); }
  bool give(std::string_view bytes, bool last = false) {
    stage_->input.bytes.append(bytes);
    stage_->input.ended = last;
    return turn();
  }
  std::string passed() { return out_.bytes.text(); }
  StepOutcome outcome() { return host_.told.at(0).outcome; }
  /// Continues until it is asked for the n-th time; then it fails.
  static Work failsAt(int count) {
    return [=](Call& call) { return ++call.state<int>() == count ? Verdict::fail("it broke") : Verdict::goOn(); };
  }

  Step step_;
  std::optional<Stage> stage_;
  Flow out_{pool_};
};

TEST_F(StageTest, AStreamedStepIsAskedAboutTheHeadThePiecesAndTheEnd) {
  std::vector<std::string> seen;
  Stage& stage = make(makeStep(
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

TEST_F(StageTest, ABufferedStepIsAskedOnceAboutAllOfIt) {
  int asked = 0;
  Stage& stage = make(makeStep(
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

TEST_F(StageTest, AMessageWithoutABodyIsItsHeadAndAnEndAtOnce) {
  for (const BodyMode mode : {BodyMode::kStreamed, BodyMode::kBuffered}) {
    host_.told.clear();
    int asked = 0;
    Stage& stage = make(makeStep(
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

TEST_F(StageTest, ABufferedBodyHasABoundOnBothSides) {
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

TEST_F(StageTest, ABodyOverTheBoundPassesAStepThatFailsOpen) {
  make(open(makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered)));
  const std::string large(1025, 'x');
  EXPECT_TRUE(give(large));
  EXPECT_EQ(passed(), large) << "at once, not at its end";
  EXPECT_EQ(outcome(), StepOutcome::kSkipped);
  EXPECT_TRUE(give("y", true));
  EXPECT_EQ(passed(), large + "y");
}

TEST_F(StageTest, WhatIsHeldComesOutOfTheBudgetAndGoesBackWhenItHasLeft) {
  host_.budget.setMost(BufferShare::kUnit);
  BufferShare others(host_.room);
  make(makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered));
  EXPECT_TRUE(give("a", true));
  EXPECT_EQ(host_.room.used(), BufferShare::kUnit);
  EXPECT_FALSE(others.reach(1));
  stage_->releaseBuffer();
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

TEST_F(StageTest, WhatIsOnlyStatedTakesNoRoom) {
  step_ = makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kBuffered);
  stage_.emplace(step_, host_, pool_, true, 1024);
  EXPECT_TRUE(turn());
  EXPECT_EQ(host_.room.used(), 0U);
  stage_.emplace(step_, host_, pool_, true, 1025);
  EXPECT_FALSE(turn()) << "though it is refused at once if it can only be too long";
}

TEST_F(StageTest, ABodyThatStallsGivesWayToOneThatComes) {
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

TEST_F(StageTest, AStepThatFailsOpenBeforeItChangedAnythingIsByteExact) {
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

TEST_F(StageTest, WhatAStepChangesInTheCallThatFailsIsNotChanged) {
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

TEST_F(StageTest, AStepThatFailsOpenAfterItChangedWhatIsGoneIsRefused) {
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

TEST_F(StageTest, WhatAStepHoldsBackGoesOnIfItFailsOpen) {
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

TEST_F(StageTest, WhatAStepHoldsBackToTheEndIsItsOwnToLetGo) {
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

TEST_F(StageTest, WhatAStepDropsIsGoneWhetherItFailsOpenOrNot) {
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

TEST_F(StageTest, TheReplayOfWhatIsHeldBackHasABoundOnBothSides) {
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
    EXPECT_EQ(give("y", true), size == 16);
    EXPECT_EQ(outcome(), size == 16 ? StepOutcome::kSkipped : StepOutcome::kUnreplayable);
    EXPECT_EQ(passed(), size == 16 ? held + "y" : "");
    EXPECT_EQ(host_.met.size(), size == 16 ? 0U : 1U);
  }
}

TEST_F(StageTest, AStepThatAnswersItselfForEverKeepsNobodyBusy) {
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
  host_.answers = [this](Ticket ticket, bool dropped) { stage_->run.answer(ticket, dropped); };
  EXPECT_TRUE(give("ab"));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(turn());
  EXPECT_EQ(asked, 2);
}

TEST_F(StageTest, AnAnswerInTheMiddleEndsIt) {
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
