// Tests a step that changes nothing and fails open: the body arrives as it came, or the exchange is refused, whatever
// the fault and its time are.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/content/encoders.h"
#include "test/processing/body_stage_fixture.h"

namespace sluice::processing {
namespace {

enum class Fault : std::uint8_t { kFails, kExpires, kIsDropped, kIsOverTheBound, kFindsNoRoom, kGivesWay };

struct FaultyStep {
  BodyMode mode;
  bool decoded;
  bool edits;
  Fault fault;
};

void PrintTo(const FaultyStep& step, std::ostream* out) {
  *out << "mode " << static_cast<int>(step.mode) << (step.decoded ? ", decoded" : "") << (step.edits ? ", edits" : "")
       << ", fault " << static_cast<int>(step.fault);
}

std::vector<FaultyStep> faultySteps() {
  std::vector<FaultyStep> made;
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed, BodyMode::kInspected, BodyMode::kDuplex}) {
    for (const bool decoded : {false, true}) {
      for (const bool edits : {false, true}) {
        // No processor has these interests.
        if ((mode == BodyMode::kInspected && edits) || (mode == BodyMode::kDuplex && decoded)) continue;
        for (const Fault fault : {Fault::kFails, Fault::kExpires, Fault::kIsDropped, Fault::kIsOverTheBound,
                                  Fault::kFindsNoRoom, Fault::kGivesWay}) {
          made.push_back({mode, decoded, edits, fault});
        }
      }
    }
  }
  return made;
}

/// Returns letters that take half of their room when they are compressed.
std::string letters(std::size_t count) {
  std::string text;
  std::uint32_t random = 1;
  while (text.size() < count) {
    random = random * 1664525 + 1013904223;
    text += static_cast<char>('a' + (random >> 24) % 16);
  }
  return text;
}

class FailOpenStage : public BodyStageTest, public testing::WithParamInterface<FaultyStep> {
 protected:
  static constexpr std::size_t kPieces = 4;
  static constexpr std::uint64_t kPlenty = 1 << 20;

  void begin(std::size_t at) {
    at_ = at;
    number_ = 0;
    arrived_.clear();
    host_.told.clear();
    out_.ended = false;
    host_.limits = {kPlenty, kPlenty, kPlenty, 1000};
    host_.budget.setMost(kPlenty);
    request_.headers = {};
    if (GetParam().decoded) request_.headers.add(arena_, "content-encoding", "gzip");
    Step step = makeStep(
        "step", Phase::kRequestBody, [this](Call& call) { return decide(call); }, GetParam().mode);
    step.body.decoded = GetParam().decoded;
    step.body.edits = GetParam().edits;
    make(open(std::move(step)));
    host_.answers = [this](Ticket ticket, bool dropped) {
      if (!stage_->call.answer(ticket, dropped)) stage_->answer(ticket);
    };
  }
  Verdict decide(Call& call) {
    if (number_ == at_ && GetParam().fault == Fault::kFails) return Verdict::fail("it broke");
    if (number_ != at_ || (GetParam().fault != Fault::kExpires && GetParam().fault != Fault::kIsDropped)) {
      return GetParam().mode == BodyMode::kDuplex && !call.body->last() ? listen(call) : Verdict::goOn();
    }
    waiting_.push_back(call.suspend());
    return Verdict::wait();
  }
  /// A conversation continues until it has got the end. The bytes that it has got go on.
  Verdict listen(Call& call) {
    call.body->replacement().append(call.body->bytes().text());
    Resumer next = call.suspend();
    if (!waiting_.empty() && next.isSameAs(waiting_[0])) {
      next.release();
    } else {
      waiting_.clear();
      waiting_.push_back(std::move(next));
    }
    return Verdict::stream();
  }
  /// Sends the next piece, with the fault if it is its turn. Returns false if the exchange is refused.
  bool giveNext(std::string_view piece) {
    const Fault fault = GetParam().fault;
    const bool faulty = number_ == at_;
    if (faulty && fault == Fault::kIsOverTheBound) host_.limits.buffer = piece.size() * number_ + piece.size() / 2;
    if (faulty && fault == Fault::kFindsNoRoom) host_.budget.setMost(0);
    stage_->input.bytes.append(piece);
    stage_->input.ended = number_ + 1 == kPieces;
    bool goesOn = settle();
    if (faulty && fault == Fault::kGivesWay) {
      BufferShare others(host_.room);
      others.reach(kPlenty);
    }
    if (faulty && fault == Fault::kExpires && stage_->call.waits()) stage_->call.expire();
    if (faulty && fault == Fault::kIsDropped) waiting_.clear();
    ++number_;
    return goesOn && settle();
  }
  /// Takes bytes until no more arrive.
  bool settle() {
    for (int idle = 0; idle < 2;) {
      if (!turn()) return false;
      ++idle;
      if (!out_.bytes.empty() || !host_.later.empty()) idle = 0;
      arrived_ += out_.bytes.text();
      out_.bytes.clear();
      for (const Ticket ticket : std::exchange(host_.later, {})) stage_->answer(ticket);
    }
    return true;
  }

  std::size_t at_ = 0;      // the piece with which the fault happens
  std::size_t number_ = 0;  // of the piece that is sent now
  std::string arrived_;
};

TEST_P(FailOpenStage, LosesNothingOrRefusesTheExchange) {
  const std::string text = letters(GetParam().decoded ? 300'000 : 120'000);
  const std::string body = GetParam().decoded ? test::gzipped(text) : text;
  const std::size_t piece = (body.size() + kPieces - 1) / kPieces;
  for (std::size_t at = 0; at < kPieces; ++at) {
    SCOPED_TRACE("with piece " + std::to_string(at));
    begin(at);
    bool goesOn = settle();
    for (std::size_t i = 0; goesOn && i < kPieces; ++i) {
      goesOn = giveNext(std::string_view(body).substr(i * piece, piece));
      const bool isText = GetParam().decoded && request_.headers.find("content-encoding") == nullptr;
      EXPECT_TRUE((isText ? text : body).starts_with(arrived_)) << arrived_.size() << " bytes have arrived";
    }
    if (!goesOn) {
      // A step without room fails closed. Its text cannot be continued without its decoder.
      EXPECT_TRUE(host_.told.back().cause == Cause::kNoRoom || (GetParam().decoded && GetParam().edits));
      continue;
    }
    const bool isText = GetParam().decoded && request_.headers.find("content-encoding") == nullptr;
    EXPECT_EQ(arrived_.size(), (isText ? text : body).size());
    EXPECT_TRUE(out_.ended);
    EXPECT_FALSE(stage_->hasMore());
    EXPECT_EQ(stage_->held(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Processing, FailOpenStage, testing::ValuesIn(faultySteps()));

}  // namespace
}  // namespace sluice::processing
