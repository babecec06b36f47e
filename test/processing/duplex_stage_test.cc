// Tests steps that take the bytes of a body and return others at their own pace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "proxy/processing/body_stage.h"
#include "test/processing/body_stage_fixture.h"

namespace sluice::processing {
namespace {

using testing::ElementsAre;

class DuplexStage : public BodyStageTest {
 protected:
  /// Makes a step that runs `work`, and records its input. "$" marks the end.
  BodyStage& makeDuplex(Work work, bool flows = true, bool failOpen = false) {
    Step step = makeStep(
        "step", Phase::kRequestBody,
        [this, work = std::move(work)](Call& call) {
          given_.push_back(call.body->bytes().text() + (call.body->last() ? "$" : ""));
          return work(call);
        },
        BodyMode::kDuplex);
    step.failOpen = failOpen;
    host_.answers = [this](Ticket ticket, bool dropped) { stage_->call.answer(ticket, dropped); };
    return make(std::move(step), flows);
  }
  /// Resumes the step that listens, and turns the stage.
  bool resume() {
    std::exchange(listener_, {}).resume();
    return turn();
  }
  Verdict listenAnd(Call& call, Verdict verdict) {
    Resumer next = call.suspend();
    if (next.isSameAs(listener_)) {
      next.release();
    } else {
      listener_ = std::move(next);
    }
    return verdict;
  }

  std::vector<std::string> given_;
  Resumer listener_;
};

TEST_F(DuplexStage, IsAskedAboutTheHeadEachPieceAndTheEndWhileItHoldsTheHead) {
  BodyStage& stage = makeDuplex([this](Call& call) { return listenAnd(call, Verdict::hold()); });
  EXPECT_TRUE(turn());
  EXPECT_TRUE(stage.needsMore());
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(give("cd"));
  EXPECT_TRUE(give("", true));
  EXPECT_THAT(given_, ElementsAre("", "ab", "cd", "$"));
  EXPECT_FALSE(stage.hasBegun());
  EXPECT_FALSE(stage.needsMore());
  EXPECT_EQ(stage.held(), 0u) << "the step has taken the bytes";
  EXPECT_EQ(passed(), "");
}

TEST_F(DuplexStage, GivesBytesWhenItIsResumedAndIsDoneWhenItSaysSo) {
  int phase = 0;
  BodyStage& stage = makeDuplex([&](Call& call) {
    if (phase == 1) call.body->replacement().append("one ");
    if (phase == 2) call.body->replacement().append("two");
    if (phase == 2) return Verdict::goOn();
    return listenAnd(call, phase == 0 ? Verdict::hold() : Verdict::stream());
  });
  EXPECT_TRUE(give("abc", true));
  phase = 1;
  EXPECT_TRUE(resume());
  EXPECT_TRUE(stage.hasBegun());
  EXPECT_TRUE(stage.mayChange());
  EXPECT_EQ(passed(), "one ");
  EXPECT_FALSE(out_.ended);
  phase = 2;
  EXPECT_TRUE(resume());
  EXPECT_EQ(passed(), "one two");
  EXPECT_TRUE(out_.ended);
  EXPECT_EQ(outcome(), StepOutcome::kDone);
}

TEST_F(DuplexStage, IsAskedAboutAMessageWithoutABody) {
  makeDuplex([](Call&) { return Verdict::goOn(); }, false);
  stage_->input.ended = true;
  EXPECT_TRUE(turn());
  EXPECT_THAT(given_, ElementsAre("$"));
  EXPECT_TRUE(out_.ended);
}

TEST_F(DuplexStage, IsGivenBytesAgainThatItHasNotTaken) {
  bool takes = false;
  makeDuplex([&](Call& call) { return listenAnd(call, takes ? Verdict::stream() : Verdict::wait()); });
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(give("cd"));
  takes = true;
  EXPECT_TRUE(resume());
  EXPECT_TRUE(give("e"));
  EXPECT_THAT(given_, ElementsAre("ab", "abcd", "e"));
}

TEST_F(DuplexStage, WhatItGivesWhileItWaitsGoesOn) {
  makeDuplex([&](Call& call) {
    call.body->replacement().append("x");
    return listenAnd(call, Verdict::wait());
  });
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(resume());
  EXPECT_EQ(passed(), "xx");
}

TEST_F(DuplexStage, TheRestPassesAsItComesWhenItIsDoneEarly) {
  makeDuplex([](Call&) { return Verdict::goOn(); });
  EXPECT_TRUE(give("ab"));
  EXPECT_TRUE(give("cd", true));
  EXPECT_THAT(given_, ElementsAre("ab"));
  EXPECT_EQ(passed(), "abcd");
}

TEST_F(DuplexStage, HasADeadlineOnlyIfItSetsOneOrWaits) {
  enum { kFree, kBound, kWaiting } mode = kFree;
  makeDuplex([&](Call& call) {
    if (mode == kFree) return listenAnd(call, Verdict::stream());
    listener_.release();
    listener_ = mode == kBound ? call.suspend(call.clock.now() + std::chrono::seconds(3)) : call.suspend();
    return mode == kBound ? Verdict::stream() : Verdict::wait();
  });
  EXPECT_TRUE(give("a"));
  EXPECT_EQ(stage_->call.deadline(), base::MonotonicTime::max());
  mode = kBound;
  EXPECT_TRUE(give("b"));
  EXPECT_EQ(stage_->call.deadline(), host_.time.now() + std::chrono::seconds(3));
  mode = kWaiting;
  EXPECT_TRUE(give("c"));
  EXPECT_EQ(stage_->call.deadline(), host_.time.now() + host_.patience());
}

TEST_F(DuplexStage, FailsWhenItsDeadlineHasPassedAlthoughItHasLetTheHeadGo) {
  makeDuplex([&](Call& call) {
    listener_ = call.suspend(call.clock.now() + std::chrono::seconds(3));
    return Verdict::stream();
  });
  EXPECT_TRUE(give("a"));
  stage_->call.expire();
  EXPECT_FALSE(turn());
  EXPECT_EQ(host_.told.at(0).cause, Cause::kTimeout);
}

TEST_F(DuplexStage, BytesThatItHasTakenGoOnIfItFailsOpen) {
  makeDuplex(
      [&](Call& call) {
        if (call.body->last()) return Verdict::fail("it broke");
        if (given_.size() == 2) call.body->replacement().append("ab");
        return given_.size() == 2 ? Verdict::stream() : Verdict::hold();
      },
      true, true);
  EXPECT_TRUE(give("a"));
  EXPECT_TRUE(give("bc"));
  EXPECT_EQ(passed(), "ab");
  EXPECT_TRUE(give("d", true));
  EXPECT_EQ(passed(), "abcd");
  EXPECT_EQ(outcome(), StepOutcome::kSkipped);
}

TEST_F(DuplexStage, RefusesTheExchangeIfItFailsOpenAfterTakingMoreThanTheReplayBuffer) {
  makeDuplex([&](Call& call) { return call.body->last() ? Verdict::fail("it broke") : Verdict::hold(); }, true, true);
  EXPECT_TRUE(give(std::string(host_.limits.replay + 1, 'x')));
  EXPECT_FALSE(give("", true));
  EXPECT_EQ(outcome(), StepOutcome::kUnreplayable);
}

TEST_F(DuplexStage, GivesNoMoreThanTheNextStageHasRoomFor) {
  makeDuplex([&](Call& call) {
    call.body->replacement().append(std::string(std::size_t{64} * 1024, 'x'));
    return listenAnd(call, Verdict::stream());
  });
  EXPECT_TRUE(give("a"));
  EXPECT_TRUE(give("b"));
  EXPECT_EQ(given_.size(), 1u);
  out_.bytes.clear();
  EXPECT_TRUE(turn());
  EXPECT_THAT(given_, ElementsAre("a", "b"));
}

TEST_F(DuplexStage, SeesTheTrailersBehindTheBodyAndMayChangeThem) {
  http::Trailers trailers(pool_);
  makeDuplex([&](Call& call) {
    if (http::Trailers* behind = call.body->trailers()) behind->fields.add(behind->arena, "x-seen", "yes");
    return call.body->last() ? Verdict::goOn() : Verdict::stream();
  });
  EXPECT_TRUE(give("a"));
  stage_->input.trailers = &trailers;
  EXPECT_TRUE(give("b", true));
  EXPECT_NE(trailers.fields.find("x-seen"), nullptr);
  EXPECT_EQ(out_.trailers, &trailers);
}

}  // namespace
}  // namespace sluice::processing
