// Tests steps that search the beginning of a body and let the rest go on unseen.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "test/processing/body_stage_fixture.h"

namespace sluice::processing {
namespace {

class SearchingStage : public BodyStageTest {
 protected:
  /// Makes a stage whose step keeps what it sees.
  BodyStage& search(std::uint64_t bound) {
    Step step = makeStep(
        "step", Phase::kRequestBody,
        [this](Call& call) {
          seen_ += call.body->bytes().text();
          if (call.body->last()) ended_ = call.body->isCut() ? "cut" : "whole";
          return Verdict::goOn();
        },
        BodyMode::kSearched);
    step.body.edits = false;
    step.body.bound = bound;
    return make(std::move(step));
  }

  std::string seen_;
  std::string ended_;
};

TEST_F(SearchingStage, HoldsABodyWithinTheBoundUntilItsEnd) {
  search(8);
  EXPECT_TRUE(give("1234"));
  EXPECT_TRUE(give("567"));
  EXPECT_EQ(passed(), "");
  EXPECT_TRUE(give("8", true));
  EXPECT_EQ(seen_, "12345678");
  EXPECT_EQ(ended_, "whole");
  EXPECT_EQ(passed(), "12345678");
  EXPECT_TRUE(out_.ended);
}

TEST_F(SearchingStage, LetsTheRestOfALongBodyGoOnUnseen) {
  search(8);
  EXPECT_TRUE(give("12345"));
  EXPECT_EQ(ended_, "");
  EXPECT_TRUE(give("6789"));
  EXPECT_EQ(seen_, "12345678");
  EXPECT_EQ(ended_, "cut");
  EXPECT_EQ(passed(), "123456789");
  EXPECT_TRUE(give(std::string(5000, 'x'), true));
  EXPECT_EQ(seen_.size(), 8U);
  EXPECT_EQ(passed(), "123456789" + std::string(5000, 'x'));
  EXPECT_TRUE(out_.ended);
  EXPECT_EQ(outcome(), StepOutcome::kDone);
  EXPECT_TRUE(host_.met.empty()) << "no limit is hit";
}

TEST_F(SearchingStage, IsBoundedInBytesThatYieldNoText) {
  constexpr std::string_view kEmptyBlock("\0\0\0\xFF\xFF", 5);  // RFC 1951 section 3.2.4
  constexpr std::size_t kBound = 1024;
  request_.headers.add(arena_, "content-encoding", "deflate");
  search(kBound);
  step_.body.decoded = true;
  std::string sent("\x78\x9C", 2);  // RFC 1950: the header of zlib
  EXPECT_TRUE(give(sent));
  for (int i = 0; i < 400; ++i) {
    EXPECT_TRUE(give(kEmptyBlock));
    sent += kEmptyBlock;
  }
  EXPECT_EQ(ended_, "cut");
  EXPECT_EQ(seen_, "");
  EXPECT_EQ(passed(), sent) << "nothing is held behind the bound";
}

TEST_F(SearchingStage, SeesNoMoreThanProcessorsMay) {
  search(0);
  EXPECT_TRUE(give(std::string(host_.limits.buffer + 1, 'x'), true));
  EXPECT_EQ(seen_.size(), host_.limits.buffer);
  EXPECT_EQ(passed().size(), host_.limits.buffer + 1);
}

}  // namespace
}  // namespace sluice::processing
