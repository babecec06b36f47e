// A fixture of one stage of a body, whose step is scripted by a test.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/processing/body_stage.h"
#include "test/processing/pipeline_fixture.h"

namespace sluice::processing {

class BodyStageTest : public PipelineFixture {
 protected:
  BodyStage& make(Step step, bool flows = true) {
    step_ = std::move(step);
    stage_.emplace(step_, step_.body.mode, host_, pool_, flows, 0, nullptr);
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
  static Step inspects(Work work) {
    Step step = makeStep("step", Phase::kRequestBody, std::move(work), BodyMode::kInspected);
    step.body.edits = false;
    return step;
  }
  /// Continues until it runs for the n-th time; then it fails.
  static Work failsAt(int count) {
    return [=](Call& call) { return ++call.state<int>() == count ? Verdict::fail("it broke") : Verdict::goOn(); };
  }

  Step step_;
  std::optional<BodyStage> stage_;
  Flow out_{pool_};
};

}  // namespace sluice::processing
