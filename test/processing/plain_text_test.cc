// Tests steps that want the text of a coded body: the input and the output of its decoder are bounded.
#include "proxy/processing/plain_text.h"

#include "test/processing/body_stage_fixture.h"

namespace sluice::processing {
namespace {

using PlainTextTest = BodyStageTest;

/// Returns 2000 times "x", encoded with gzip.
std::string manyCoded() {
  static constexpr char kBytes[] =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\xa8\x18\x05\xa3\x60\x14\x8c\x82\x51\x30\x0a\x46\xc1"
      "\x50\x07\x00\x7a\x65\x08\x29\xd0\x07\x00\x00";
  return {kBytes, sizeof(kBytes) - 1};
}

TEST_F(PlainTextTest, TheDecoderOfABodyTakesRoomUntilTheStepHasAnswered) {
  request_.headers.add(arena_, "content-encoding", "gzip");
  host_.limits = {4096, 16, 4096, 1000};
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kInspected, BodyMode::kStreamed}) {
    out_.bytes.clear();
    Step step = makeStep("step", Phase::kRequestBody, goesOn(), mode);
    step.body.edits = false;
    step.body.decoded = true;
    make(std::move(step));
    const std::string coded = manyCoded();
    if (mode != BodyMode::kBuffered) {
      EXPECT_TRUE(turn());
      EXPECT_TRUE(give(coded.substr(0, 20)));
      EXPECT_GE(host_.room.used(), 32U * 1024) << "zlib's window";
      EXPECT_TRUE(give(coded.substr(20), true));
    } else {
      EXPECT_TRUE(give(coded, true));
    }
    EXPECT_TRUE(out_.ended);
    EXPECT_EQ(passed(), coded);
    EXPECT_LE(host_.room.used(), BufferShare::kUnit);
  }
}

TEST_F(PlainTextTest, TheBoundOfABodyBoundsItsTextToo) {
  request_.headers.add(arena_, "content-encoding", "gzip");
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kInspected}) {
    for (const std::uint64_t bound : {2000U, 1999U}) {
      host_.told.clear();
      host_.limits = {bound, 16, 4096, 1000};
      Step step = makeStep("step", Phase::kRequestBody, goesOn(), mode);
      step.body.edits = false;
      step.body.decoded = true;
      make(std::move(step));
      EXPECT_EQ(give(manyCoded(), true), bound == 2000);
      EXPECT_EQ(outcome(), bound == 2000 ? StepOutcome::kDone : StepOutcome::kRefused);
    }
  }
}

TEST_F(PlainTextTest, AStreamWhoseDecoderHadToGiveWayIsRefused) {
  request_.headers.add(arena_, "content-encoding", "gzip");
  host_.limits = {4096, 16, 4096, 1000};
  Step step = makeStep("step", Phase::kRequestBody, goesOn(), BodyMode::kStreamed);
  step.body.decoded = true;
  make(open(std::move(step)));
  EXPECT_TRUE(turn());
  EXPECT_TRUE(give(manyCoded().substr(0, 20)));
  BufferShare others(host_.room);
  EXPECT_TRUE(others.reach(1 << 20));
  EXPECT_FALSE(turn());
  EXPECT_EQ(host_.told[0].cause, Cause::kNoRoom);
}

TEST_F(PlainTextTest, ATextThatGoesOnWithoutItsStepGivesWayToo) {
  request_.headers.add(arena_, "content-encoding", "gzip");
  host_.limits = {4096, 16, 4096, 1000};
  Step step = makeStep("step", Phase::kRequestBody, failsAt(2), BodyMode::kStreamed);
  step.body.decoded = true;
  make(open(std::move(step)));
  EXPECT_TRUE(turn());
  EXPECT_TRUE(give(manyCoded().substr(0, 30)));
  EXPECT_EQ(outcome(), StepOutcome::kSkipped);
  EXPECT_GE(host_.room.used(), 32U * 1024) << "zlib's window";
  stage_->keepRoomFor(0);
  EXPECT_GE(host_.room.used(), 32U * 1024) << "it decodes the rest";
  BufferShare others(host_.room);
  EXPECT_TRUE(others.reach(1 << 20));
  EXPECT_FALSE(turn());
  EXPECT_EQ(host_.met, std::vector<std::string>{"processorBufferTotal"});
}

}  // namespace
}  // namespace sluice::processing
