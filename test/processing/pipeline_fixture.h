// Runs steps without an exchange: a host that records what it is told, and answers when a test says so.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/processing/pipeline.h"
#include "proxy/processing/processor.h"
#include "test/support/manual_clock.h"
#include "test/support/no_services.h"

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
inline Step open(Step step) {
  step.failOpen = true;
  return step;
}
inline Work goesOn() {
  return [](Call&) { return Verdict::goOn(); };
}

class FakeHost final : public PipelineHost, public ResumeSink {
 public:
  struct EndedStep {
    std::string step;
    Verdict::Kind kind;
    Cause cause;
    StepOutcome outcome;
    base::Duration time;
  };

  FakeHost() : PipelineHost(time, nothing, {}) { setPlace({"demo/egress", "demo/route", {}}); }

  BodyLimits bodyLimits() const override { return limits; }
  BufferRoom& bufferRoom() override { return room; }
  base::Duration patience() const override { return std::chrono::milliseconds(200); }
  Ticket newTicket() override { return ++tickets; }
  Resumer resumer(Ticket ticket) override { return {*this, 1, ticket}; }
  Waker waker(Ticket ticket) override { return {*this, 1, ticket}; }
  void answerLater(Ticket ticket) override { later.push_back(ticket); }
  void onStep(const Step& step, base::Duration took, const Verdict& verdict, StepOutcome outcome) override {
    told.push_back({step.name, verdict.kind(), verdict.cause(), outcome, took});
  }
  void onLimit(std::string_view limit) override { met.emplace_back(limit); }
  bool ends(const Step&, const Verdict&) override { return heeds; }
  void onResumed(std::uint64_t, Ticket ticket, bool dropped) override {
    if (answers) answers(ticket, dropped);
  }

  test::ManualClock time;
  BodyLimits limits{1024, 16, 1024, 10};
  BufferBudget budget{1 << 20};
  BufferRoom room{budget, time};
  test::NoServices nothing;
  std::vector<EndedStep> told;
  std::vector<std::string> met;
  std::vector<Ticket> later;
  bool heeds = true;
  Ticket tickets = 0;
  std::function<void(Ticket, bool)> answers;
};

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
