// Tests steps of libraries that wait.
#include <optional>

#include "filters/library/library_processor.h"
#include "proxy/observe/metrics_reader.h"
#include "proxy/processing/step_call.h"
#include "test/filters/library/library_fixture.h"
#include "test/support/fake_host.h"

namespace sluice::filters {
namespace {

using processing::FakeHost;
using processing::Phase;
using processing::StepCall;
using processing::Ticket;
using processing::Verdict;

/// A step of a library that waits, in a host that answers its tickets.
class WaitingStep {
 public:
  explicit WaitingStep(const std::string& does) {
    EXPECT_EQ(library_.make(does), "");
    step_.processor = library_.rig.sharedProcessor();
    call_.emplace(step_);
    host_.answers = [this](Ticket ticket, bool dropped) { call_->answer(ticket, dropped); };
  }
  ~WaitingStep() {
    holds_.release();
    host_.answers = {};
  }

  Verdict ask() { return call_->ask(host_, {request_, nullptr, arena_, holds_}, nullptr); }
  /// Runs the worker's tasks until the step may be asked again.
  void awaitAnswer() {
    while (!call_->isDue()) host_.nothing.runTasks();
  }
  bool isDue() {
    host_.nothing.runTasks();
    return call_->isDue();
  }
  void expire() { call_->expire(); }
  /// Ends the request.
  void end() { holds_.release(); }
  std::string field(std::string_view name) const {
    const http::Field* found = request_.headers.find(name);
    return found == nullptr ? "none" : std::string(found->value);
  }
  test::NoServices& services() { return host_.nothing; }

 private:
  LibraryRig library_;
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::RequestHead request_;
  processing::Holds holds_;
  FakeHost host_;
  processing::Step step_;
  std::optional<StepCall> call_;
};

TEST(LibraryHandles, HaveTheStepCalledAgainFromTheCallItselfOrAnotherThread) {
  for (const char* does : {"wait-at-once", "wait-for-thread", "wait-twice"}) {
    WaitingStep step(does);
    EXPECT_EQ(step.ask().kind(), Verdict::Kind::kWait);
    step.awaitAnswer();
    EXPECT_EQ(step.ask().kind(), Verdict::Kind::kContinue) << does;
    EXPECT_EQ(step.field("x-calls"), "2");
  }
}

TEST(LibraryHandles, DoNothingOnceTheStepHasTimedOutOrItsRequestIsGone) {
  WaitingStep late("wait");
  EXPECT_EQ(late.ask().kind(), Verdict::Kind::kWait);
  late.expire();
  EXPECT_EQ(late.ask().cause(), processing::Cause::kTimeout);
  late.end();
  EXPECT_FALSE(late.isDue());
  WaitingStep gone("wait");
  EXPECT_EQ(gone.ask().kind(), Verdict::Kind::kWait);
  gone.end();  // the library completes its handle when it learns of that
  EXPECT_FALSE(gone.isDue());
}

TEST(LibraryHandles, OfAStepThatDoesNotWaitAreForgotten) {
  WaitingStep step("wait-and-go-on");
  EXPECT_EQ(step.ask().kind(), Verdict::Kind::kContinue);
  step.end();
  EXPECT_FALSE(step.isDue());
}

TEST(LibraryCalls, AreTimedByTypeAndPhase) {
  WaitingStep step("wait-at-once");
  step.ask();
  step.awaitAnswer();
  step.ask();
  EXPECT_THAT(observe::exposeMetrics(step.services().counted),
              ::testing::HasSubstr("sluice_library_call_duration_seconds_count{type=\"acme.test/Any:v1\","
                                   "phase=\"request-headers\"} 2"));
}

}  // namespace
}  // namespace sluice::filters
