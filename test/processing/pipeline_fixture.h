// Runs steps without an exchange.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/processing/pipeline.h"
#include "proxy/processing/processor.h"
#include "test/support/fake_host.h"

namespace sluice::processing {

using Work = std::function<Verdict(Call&)>;

class ScriptedProcessor final : public PreAuthProcessor {
 public:
  explicit ScriptedProcessor(Work work) : work_(std::move(work)) {}
  Verdict process(Call& call) const override { return work_(call); }

 private:
  const Work work_;
};

inline Step makeStep(std::string name, Phase phase, Work work, BodyMode mode = BodyMode::kNone) {
  Step step;
  step.processor = std::make_shared<const ScriptedProcessor>(std::move(work));
  step.name = std::move(name);
  step.type = "acme.test/Script:v1";
  step.phase = phase;
  step.body.mode = mode;
  step.body.edits = mode != BodyMode::kNone;
  return step;
}
/// A state of a step that notes its end.
struct EndNotice {
  bool* ended = nullptr;
  EndNotice() = default;
  EndNotice(const EndNotice&) = delete;
  EndNotice& operator=(const EndNotice&) = delete;
  ~EndNotice() {
    if (ended != nullptr) *ended = true;
  }
};

inline Step open(Step step) {
  step.failOpen = true;
  return step;
}
inline Work goesOn() {
  return [](Call&) { return Verdict::goOn(); };
}

class PipelineFixture : public ::testing::Test {
 protected:
  /// Resumers that are left are destroyed after the test, and must not reach its steps.
  void TearDown() override { host_.answers = {}; }
  StepTarget target(bool ofResponse = false) { return {request_, ofResponse ? &response_ : nullptr, arena_, holds_}; }
  base::ByteQueue queue(std::string_view text) {
    base::ByteQueue made(pool_);
    made.append(text);
    return made;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::RequestHead request_;
  http::ResponseHead response_;
  Holds holds_;
  FakeHost host_;
  std::vector<Resumer> waiting_;
};

}  // namespace sluice::processing
