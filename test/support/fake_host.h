// A host of steps that records its calls, and answers when a test lets it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/processing/pipeline_host.h"
#include "test/support/manual_clock.h"
#include "test/support/no_services.h"

namespace sluice::processing {

class FakeHost final : public PipelineHost, public ResumeSink {
 public:
  struct EndedStep {
    std::string step;
    Verdict::Kind kind;
    Cause cause;
    StepOutcome outcome;
    base::Duration time;
  };

  /// Without `services`, callouts fail.
  explicit FakeHost(Services* services = nullptr, std::string_view client = {},
                    std::shared_ptr<const base::Caller> caller = nullptr)
      : PipelineHost(time, services != nullptr ? *services : nothing, client) {
    setPlace({"demo/egress", "demo/route", {}});
    setCaller(std::move(caller));
  }

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

}  // namespace sluice::processing
