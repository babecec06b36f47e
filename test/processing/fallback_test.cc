// Tests steps that another one stands in for when they fail: it sees the message as it was before.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/processing/pipeline_fixture.h"

namespace sluice::processing {
namespace {

Step backed(Step step, Step by) {
  step.failOpen = true;
  step.fallback =
      std::make_shared<const StepFallback>(StepFallback{std::make_shared<const Step>(std::move(by)), 0, {}});
  return step;
}

class FallbackSteps : public PipelineFixture {
 protected:
  Work notes(std::string name) {
    return [this, name](Call& call) {
      order_.push_back(name + (call.body != nullptr ? ":" + call.body->bytes().text() : ""));
      return Verdict::goOn();
    };
  }
  Work fails(std::string name) {
    return [this, name](Call& call) {
      order_.push_back(name);
      call.edit.set("x-by", name);
      return Verdict::fail("it broke");
    };
  }
  Step stepOf(const std::string& name, Work work, BodyMode mode = BodyMode::kNone) {
    return makeStep(name, Phase::kRequestBody, std::move(work), mode);
  }
  /// Takes a body through the steps, in pieces. Returns the bytes that came out, or "refused".
  std::string pass(std::vector<Step> steps, const std::vector<std::string>& pieces) {
    order_.clear();
    host_.told.clear();
    chain_ = std::make_unique<Chain>(std::move(steps));
    pipeline_.emplace(host_, target(), pool_, BodyPath::kFlows);
    pipeline_->append({nullptr, chain_.get(), nullptr}, Phase::kRequestBody);
    pipeline_->seal();
    base::ByteQueue out(pool_);
    Pipeline::Outcome outcome = pipeline_->go(out, 0);
    for (std::size_t i = 0; i < pieces.size() && outcome != Pipeline::Outcome::kRefused; ++i) {
      pipeline_->source.append(pieces[i]);
      if (i + 1 == pieces.size()) pipeline_->end(std::nullopt);
      outcome = pipeline_->go(out, 0);
    }
    if (outcome == Pipeline::Outcome::kRefused) return "refused";
    EXPECT_TRUE(pipeline_->tookEnd());
    return out.text();
  }
  std::string outcomes() const {
    std::string text;
    for (const auto& each : host_.told) text += each.step + std::to_string(static_cast<int>(each.outcome)) + " ";
    return text;
  }

  std::vector<std::string> order_;
  std::unique_ptr<Chain> chain_;
  std::optional<Pipeline> pipeline_;
};

using Names = std::vector<std::string>;

TEST_F(FallbackSteps, RunInThePlaceOfAStepOfHeads) {
  EXPECT_EQ(pass({backed(stepOf("a", fails("a")), stepOf("b", notes("b"))), stepOf("c", notes("c"))}, {"xy"}), "xy");
  EXPECT_EQ(order_, (Names{"a", "b", "c"}));
  EXPECT_EQ(outcomes(), "a1 b0 c0 ");
  EXPECT_EQ(request_.headers.find("x-by"), nullptr) << "the changes of the failed step are undone";
}

TEST_F(FallbackSteps, DoNotRunIfTheStepSucceedsOrReplies) {
  EXPECT_EQ(pass({backed(stepOf("a", notes("a")), stepOf("b", notes("b")))}, {"xy"}), "xy");
  EXPECT_EQ(order_, Names{"a"});
  const Work replies = [](Call&) { return Verdict::denyDestination(); };
  EXPECT_EQ(pass({backed(stepOf("a", replies), stepOf("b", notes("b")))}, {"xy"}), "refused");
  EXPECT_EQ(order_, Names{});
}

TEST_F(FallbackSteps, MayHaveFallbacksThemselves) {
  Step third = stepOf("c", notes("c"));
  Step second = backed(stepOf("b", fails("b")), std::move(third));
  EXPECT_EQ(pass({backed(stepOf("a", fails("a")), std::move(second))}, {"xy"}), "xy");
  EXPECT_EQ(order_, (Names{"a", "b", "c"}));
  EXPECT_EQ(pass({backed(stepOf("a", fails("a")), stepOf("b", fails("b")))}, {"xy"}), "refused");
}

TEST_F(FallbackSteps, GetTheWholeBodyThatTheStepHasBuffered) {
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kInspected}) {
    for (const BodyMode other : {BodyMode::kBuffered, BodyMode::kStreamed, BodyMode::kNone}) {
      const std::string seen = pass({backed(stepOf("a", fails("a"), mode), stepOf("b", notes("b"), other)),
                                     stepOf("c", notes("c"), BodyMode::kBuffered)},
                                    {"first ", "second ", "third"});
      EXPECT_EQ(seen, "first second third");
      EXPECT_EQ(order_.back(), "c:first second third");
      EXPECT_EQ(outcomes().substr(0, 3), "a1 ");
      std::string text;
      for (const std::string& each : order_) text += each.starts_with("b:") ? each.substr(2) : "";
      if (other != BodyMode::kNone) {
        EXPECT_EQ(text, "first second third");
      }
    }
  }
}

TEST_F(FallbackSteps, ReplaceAStreamedStepThatHasNotBegun) {
  const std::string seen =
      pass({backed(stepOf("a", fails("a"), BodyMode::kStreamed), stepOf("b", notes("b"), BodyMode::kBuffered))},
           {"first ", "second"});
  EXPECT_EQ(seen, "first second");
  EXPECT_EQ(order_, (Names{"a", "b:first second"}));
}

TEST_F(FallbackSteps, CannotReplaceAStepThatHasLetTheHeadGoOn) {
  const Work failsLate = [this](Call& call) {
    order_.push_back("a");
    return call.body->bytes().text().empty() ? Verdict::goOn() : Verdict::fail("it broke");
  };
  EXPECT_EQ(pass({backed(stepOf("a", failsLate, BodyMode::kStreamed), stepOf("b", notes("b"), BodyMode::kBuffered))},
                 {"first ", "second"}),
            "refused");
  EXPECT_EQ(outcomes(), "a3 ");
}

TEST_F(FallbackSteps, DoNotMakeRoom) {
  host_.budget.setMost(4);
  EXPECT_EQ(pass({backed(stepOf("a", notes("a"), BodyMode::kBuffered), stepOf("b", notes("b")))}, {"longer than that"}),
            "refused");
  EXPECT_EQ(order_, Names{}) << "a client that fills the gateway would have switched the step off for all clients";
}

/// A step that failed once is not asked in later phases of the exchange.
TEST_F(FallbackSteps, StayInThePlaceOfAStepThatHasFailed) {
  const auto processor = makeStep("a", Phase::kRequestHeaders, fails("a")).processor;
  const auto stepIn = [&](Phase phase) {
    Step step = makeStep("a", phase, goesOn());
    step.processor = processor;
    return backed(std::move(step), makeStep("b", phase, notes("b")));
  };
  chain_ = std::make_unique<Chain>(std::vector<Step>{stepIn(Phase::kRequestHeaders), stepIn(Phase::kRequestBody)});
  pipeline_.emplace(host_, target(), pool_, BodyPath::kBypasses);
  base::ByteQueue out(pool_);
  for (const Phase phase : {Phase::kRequestHeaders, Phase::kRequestBody}) {
    pipeline_->append({nullptr, chain_.get(), nullptr}, phase);
    EXPECT_EQ(pipeline_->go(out, 0), Pipeline::Outcome::kDone);
  }
  EXPECT_EQ(order_, (Names{"a", "b", "b"}));
}

/// A route that is left has its own steps, but those of the Gateway are left to run.
TEST_F(FallbackSteps, OfAGatewayOutliveTheRoute) {
  RouteWish wish;
  StepTarget with = target();
  with.wish = &wish;
  const Work wishes = [this, &wish](Call&) {
    order_.push_back("a");
    wish.matchAgain = true;
    return Verdict::fail("it broke");
  };
  for (const Scope scope : {Scope::kGateway, Scope::kRoute}) {
    order_.clear();
    wish = {};
    Step step = makeStep("a", Phase::kRequestHeaders, wishes);
    Step standIn = makeStep("b", Phase::kRequestHeaders, notes("b"));
    step.scope = standIn.scope = scope;
    step.ownsFields = false;
    chain_ = std::make_unique<Chain>(std::vector<Step>{backed(std::move(step), std::move(standIn))});
    holds_.release();
    pipeline_.emplace(host_, with, pool_, BodyPath::kBypasses);
    pipeline_->append({chain_.get(), nullptr, nullptr}, Phase::kRequestHeaders);
    base::ByteQueue out(pool_);
    EXPECT_EQ(pipeline_->go(out, 0), Pipeline::Outcome::kDone) << "the wish of a step that failed is not heeded";
    EXPECT_EQ(order_, (Names{"a", "b"}));
  }
  StepQueue queue;
  Step ofGateway = makeStep("g", Phase::kRequestHeaders, goesOn());
  ofGateway.scope = Scope::kGateway;
  queue.insert(ofGateway);
  queue.clear();
  EXPECT_EQ(queue.takeInserted(), &ofGateway);
  Step ofRoute = makeStep("r", Phase::kRequestHeaders, goesOn());
  ofRoute.scope = Scope::kRoute;
  queue.insert(ofRoute);
  queue.clear();
  EXPECT_TRUE(queue.empty());
}

TEST(FallbackChains, CarryWhatTheirStandInsNeed) {
  Step step = backed(makeStep("a", Phase::kRequestBody, goesOn()),
                     makeStep("b", Phase::kRequestBody, goesOn(), BodyMode::kBuffered));
  const Step& standIn = *step.standIn();
  const Chain chain({step});
  EXPECT_EQ(chain.bodyPhases(), bitOf(Phase::kRequestBody));
  EXPECT_TRUE(chain.contains(standIn));
}

}  // namespace
}  // namespace sluice::processing
