// Tests steps of Backends that change the request body although they run before authentication: each works on a body of
// its own Backend, and no other Backend, step or mirror sees what it has changed.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "test/exchange/steps/rule_steps_fixture.h"

namespace sluice::exchange {
namespace {

using processing::BodyMode;

class OwnBodies : public RuleSteps {
 protected:
  /// Makes a step before authentication that puts `mark` in front of the body.
  static Step marks(const std::string& mark, BodyMode mode) {
    const StepSpec spec{
        .scope = Scope::kBackend, .preAuth = true, .phase = Phase::kRequestBody, .body = {mode, 0, true, false}};
    return makeRuleStep(mark, spec, [mark, mode](Call& call) {
      if (call.body == nullptr) return Verdict::goOn();
      const bool isFirst = mode == BodyMode::kBuffered || (!call.body->bytes().empty() && call.state<int>()++ == 0);
      if (!isFirst) return Verdict::goOn();
      const std::string text = call.body->bytes().text();
      call.body->replacement().append(mark + text);
      return Verdict::goOn();
    });
  }
  /// Lets the first rule fail over to the other Backend.
  void failOver() {
    firstRule_ = [this](routing::Rule& rule, const routing::BackendPlan& plan) {
      rule.retry->backoff = std::chrono::milliseconds(0);
      rule.backends.emplace_back().backend = planOf(plan, "demo/other", kOtherHost, steps_.otherBackend);
    };
  }
  /// Has the Backends answer, at first with 503, and notes the bodies that each host got.
  void answer(unsigned failures) {
    std::set<std::pair<const BackendPeer*, std::size_t>> answered;
    for (int round = 0; round < 20; ++round) {
      while (rig_->backends.size() < rig_->dialled()) accept(rig_->backends.size());
      for (const auto& backend : rig_->backends) {
        for (std::size_t i = 0; i < backend->requests(); ++i) {
          if (!backend->request(i).ended || !answered.insert({backend.get(), i}).second) continue;
          const std::string host(backend->request(i).message.head.authority);
          bodies_[host.substr(0, host.find(':'))].insert(backend->request(i).body);
          backend->respond(i, failures > 0 ? 503 : 200, "done");
          if (failures > 0) --failures;
        }
      }
      rig_->advance(std::chrono::milliseconds(50));
    }
  }

  std::map<std::string, std::set<std::string>> bodies_;  // by host
};

INSTANTIATE_TEST_SUITE_P(, OwnBodies,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(OwnBodies, IsChangedForItsBackendAloneWhicheverIsTriedFirst) {
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
    bodies_.clear();
    for (unsigned failures = 0; failures < 12; ++failures) {
      SetUp();
      steps_.firstBackend = {marks("own ", mode)};
      failOver();
      start();
      const std::size_t index = askFor(*client_, "hello", false);
      answer(failures % 2);
      EXPECT_EQ(statusOf(*client_, index), 200);
      expectOver(1);
    }
    const std::set<std::string> changed{"own hello"};
    const std::set<std::string> original{"hello"};
    EXPECT_EQ(bodies_["backend.test"], changed);
    EXPECT_EQ(bodies_[kOtherHost], original);
  }
}

TEST_P(OwnBodies, IsChangedOnceForEachAttemptOfTheSameBackend) {
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
    SetUp();
    bodies_.clear();
    steps_.firstBackend = {marks("own ", mode)};
    firstRule_ = [](routing::Rule& rule, const routing::BackendPlan&) {
      rule.retry->backoff = std::chrono::milliseconds(0);
    };
    start();
    const std::size_t index = askFor(*client_, "hello", false);
    answer(1);
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(rig_->steps, (std::vector<std::string>{"own ", "own "}));
    EXPECT_EQ(bodies_["backend.test"], std::set<std::string>{"own hello"});
    expectOver(1);
  }
}

TEST_P(OwnBodies, IsMadeBeforeAuthenticationIfItsStepTakesTheWholeBody) {
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
    SetUp();
    steps_.firstBackend = {makeRuleStep("late", {.scope = Scope::kBackend, .priority = -5}, goesOn()),
                           marks("own ", mode),
                           makeRuleStep("early", {.scope = Scope::kBackend, .preAuth = true}, goesOn())};
    steps_.gateway = {makeRuleStep("shared", {.scope = Scope::kGateway}, goesOn())};
    start();
    const std::size_t index = askFor(*client_, "hello", false);
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    const bool whole = mode == BodyMode::kBuffered;
    // A step is recorded when it ends.
    EXPECT_EQ(rig_->steps, whole ? (std::vector<std::string>{"early", "own ", "shared", "late"})
                                 : (std::vector<std::string>{"early", "shared", "late", "own "}));
    EXPECT_EQ(arrived(), "own hello");
    expectOver(1);
  }
}

// The step before authentication has the whole body before the shared step gets any of it.
TEST_P(OwnBodies, TakesThePlaceOfALargeBodyThatASharedStepHasTaken) {
  const std::string large(800'000, 'x');
  for (const BodyMode mode : {BodyMode::kBuffered, BodyMode::kStreamed}) {
    for (const bool changes : {true, false}) {
      SetUp();
      steps_.firstBackend = {marks("own ", BodyMode::kBuffered)};
      const StepSpec shared{.scope = Scope::kGateway, .phase = Phase::kRequestBody, .body = {mode, 0, changes, false}};
      steps_.gateway = {makeRuleStep("shared", shared, goesOn())};
      start();
      const std::size_t index = askFor(*client_, large, false);
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      EXPECT_TRUE(arrived() == "own " + large) << arrived().size() << " bytes";
      expectOver(1);
    }
  }
}

TEST_P(OwnBodies, OfOneStepIsGivenToTheNextInTheOrderOfTheirPriorities) {
  const std::vector<std::vector<BodyMode>> orders = {{BodyMode::kBuffered, BodyMode::kBuffered, BodyMode::kBuffered},
                                                     {BodyMode::kBuffered, BodyMode::kStreamed, BodyMode::kBuffered},
                                                     {BodyMode::kStreamed, BodyMode::kBuffered, BodyMode::kStreamed},
                                                     {BodyMode::kBuffered, BodyMode::kBuffered, BodyMode::kStreamed}};
  for (const std::vector<BodyMode>& modes : orders) {
    SetUp();
    steps_.firstBackend.clear();
    for (std::size_t i = 0; i < modes.size(); ++i) {
      steps_.firstBackend.push_back(marks(std::to_string(i) + " ", modes[i]));
      steps_.firstBackend.back().priority = static_cast<std::int32_t>(i);
    }
    steps_.gateway = {makeRuleStep("shared", {.scope = Scope::kGateway}, goesOn())};
    start();
    const std::size_t index = askFor(*client_, "hello", false);
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(arrived(), "2 1 0 hello");
    EXPECT_EQ(rig_->steps.size(), 4U) << "each step runs once";
    expectOver(1);
  }
}

TEST_P(OwnBodies, IsInspectedByTheStepsBehindTheOneThatChangesIt) {
  std::string seen;
  const StepSpec inspects{.scope = Scope::kBackend,
                          .priority = 5,
                          .preAuth = true,
                          .phase = Phase::kRequestBody,
                          .body = {BodyMode::kInspected, 0, false, false}};
  steps_.firstBackend = {marks("own ", BodyMode::kBuffered), makeRuleStep("inspects", inspects, [&seen](Call& call) {
                           seen += call.body->bytes().text();
                           return Verdict::goOn();
                         })};
  std::string shared;
  const StepSpec reads{
      .scope = Scope::kGateway, .phase = Phase::kRequestBody, .body = {BodyMode::kBuffered, 0, false, false}};
  steps_.gateway = {makeRuleStep("shared", reads, [&shared](Call& call) {
    shared = call.body->bytes().text();
    return Verdict::goOn();
  })};
  start();
  const std::size_t index = askFor(*client_, "hello", false);
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(seen, "own hello");
  EXPECT_EQ(shared, "hello");
  EXPECT_EQ(arrived(), "own hello");
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"own ", "inspects", "shared"}));
  expectOver(1);
}

TEST_P(OwnBodies, IsMadeAgainFromABodyThatTheStepsOfAllBackendsHaveChangedSince) {
  const StepSpec changes{
      .scope = Scope::kGateway, .phase = Phase::kRequestBody, .body = {BodyMode::kBuffered, 0, true, false}};
  steps_.firstBackend = {marks("own ", BodyMode::kBuffered)};
  steps_.gateway = {makeRuleStep("shared", changes, [](Call& call) {
    call.body->change().append(" world");
    return Verdict::goOn();
  })};
  start();
  const std::size_t index = askFor(*client_, "hello", false);
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(arrived(), "own hello world");
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"own ", "shared", "own "}));
  expectOver(1);
}

TEST_P(OwnBodies, IsInspectedAgainIfTheStepsOfAllBackendsHaveChangedTheBodySince) {
  std::string seen;
  const StepSpec inspects{.scope = Scope::kBackend,
                          .preAuth = true,
                          .phase = Phase::kRequestBody,
                          .body = {BodyMode::kInspected, 0, false, false}};
  steps_.firstBackend = {makeRuleStep("inspects", inspects, [&seen](Call& call) {
    seen += "[" + call.body->bytes().text() + "]";
    return Verdict::goOn();
  })};
  const StepSpec changes{
      .scope = Scope::kGateway, .phase = Phase::kRequestBody, .body = {BodyMode::kBuffered, 0, true, false}};
  steps_.gateway = {makeRuleStep("shared", changes, [](Call& call) {
    call.body->replacement().append("other");
    return Verdict::goOn();
  })};
  start();
  const std::size_t index = askFor(*client_, "hello", false);
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(arrived(), "other");
  EXPECT_TRUE(seen.find("other") != std::string::npos) << seen;
  expectOver(1);
}

TEST_P(OwnBodies, HasTheTrailersThatItsStepHasChangedAndNoneThatFiltersRemove) {
  for (const bool edits : {false, true}) {
    SetUp();
    const StepSpec spec{.scope = Scope::kBackend,
                        .preAuth = true,
                        .phase = Phase::kRequestBody,
                        .body = {BodyMode::kBuffered, 0, true, false}};
    steps_.firstBackend = {makeRuleStep("sums", spec, [edits](Call& call) {
      http::Trailers& behind = *call.body->trailers();
      if (edits) behind.fields.set(behind.arena, "x-sum", "2");
      return Verdict::goOn();
    })};
    firstRule_ = [this](routing::Rule& rule, const routing::BackendPlan&) {
      rule.requestHeaders.emplace().remove = {"x-secret"};
    };
    mirrored_ = true;
    start();
    const std::size_t index = askFor(*client_, "hello", false, false);
    client_->finish(index, {{"x-secret", "theirs"}, {"x-sum", "1"}});
    EXPECT_TRUE(rig_->settle());
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    std::map<std::string, test::FieldList> trailers;
    for (const auto& backend : rig_->backends) {
      const auto& request = backend->request(0);
      EXPECT_EQ(request.body, "hello");
      trailers[std::string(request.message.head.authority)] = request.trailers;
    }
    EXPECT_EQ(trailers["backend.test:8080"], (test::FieldList{{"x-sum", edits ? "2" : "1"}}));
    EXPECT_EQ(trailers[std::string(kMirrorHost) + ":8080"], (test::FieldList{{"x-sum", "1"}}));
    expectOver(1);
  }
}

/// Counts how many of its places are taken at a time.
struct CountedPlace {
  int taken = 0;
  int most = 0;
};

TEST_P(OwnBodies, IsNoReasonToKeepThePlacesThatStepsOfAnAttemptHaveTaken) {
  CountedPlace place;
  steps_.firstBackend = {marks("own ", BodyMode::kBuffered),
                         makeRuleStep("place", {.scope = Scope::kBackend}, [&place](Call& call) {
                           place.most = std::max(place.most, ++place.taken);
                           call.holds.add(call.arena, &place, [](const void* what) {
                             --const_cast<CountedPlace*>(static_cast<const CountedPlace*>(what))->taken;
                           });
                           return Verdict::goOn();
                         })};
  firstRule_ = [](routing::Rule& rule, const routing::BackendPlan&) {
    rule.retry->backoff = std::chrono::milliseconds(0);
  };
  start();
  const std::size_t index = askFor(*client_, "hello", false);
  answer(1);
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(bodies_["backend.test"], std::set<std::string>{"own hello"});
  EXPECT_EQ(place.most, 1);
  EXPECT_EQ(place.taken, 0);
  expectOver(1);
}

TEST_P(OwnBodies, IsNotThatOfMirrors) {
  steps_.firstBackend = {marks("own ", BodyMode::kBuffered)};
  mirrored_ = true;
  start();
  const std::size_t index = askFor(*client_, "hello", false);
  answer(0);
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(bodies_["backend.test"], std::set<std::string>{"own hello"});
  EXPECT_EQ(bodies_[kMirrorHost], std::set<std::string>{"hello"});
  expectOver(1);
}

TEST_P(OwnBodies, IsAsTheClientSentItIfItsStepFailsAndMayBeSkipped) {
  for (const bool second : {false, true}) {
    SetUp();
    const StepSpec spec{.scope = Scope::kBackend,
                        .priority = 5,
                        .preAuth = true,
                        .failOpen = true,
                        .phase = Phase::kRequestBody,
                        .body = {BodyMode::kBuffered, 0, true, false}};
    steps_.firstBackend = {makeRuleStep("fails", spec, [](Call& call) {
      call.body->replacement().append("lost");
      return Verdict::fail("broken");
    })};
    if (second) steps_.firstBackend.push_back(marks("own ", BodyMode::kBuffered));
    start();
    const std::size_t index = askFor(*client_, "hello", false);
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(arrived(), second ? "own hello" : "hello");
    expectOver(1);
  }
}

TEST_P(OwnBodies, MayReplaceNothingAndMayBeNothing) {
  for (const std::string& sent : {std::string(), std::string("hello"), std::string(200'000, 'x')}) {
    for (const std::string& made : {std::string(), std::string("made"), std::string(300'000, 'y')}) {
      SetUp();
      const StepSpec spec{.scope = Scope::kBackend,
                          .preAuth = true,
                          .phase = Phase::kRequestBody,
                          .body = {BodyMode::kBuffered, 0, true, false}};
      steps_.firstBackend = {makeRuleStep("replaces", spec, [&made](Call& call) {
        call.body->replacement().append(made);
        return Verdict::goOn();
      })};
      start();
      const std::size_t index = askFor(*client_, sent, false);
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      EXPECT_TRUE(arrived() == made) << sent.size() << " " << made.size() << ": " << arrived().size();
      expectOver(1);
    }
  }
}

TEST_P(OwnBodies, KeepsTheStateOfItsStepForTheLaterPhasesOfTheAttempt) {
  int later = 0;
  const StepSpec early{.scope = Scope::kBackend,
                       .preAuth = true,
                       .phase = Phase::kRequestBody,
                       .body = {BodyMode::kBuffered, 0, true, false}};
  steps_.firstBackend = {
      makeRuleStep("early", early,
                   [&later](Call& call) {
                     call.shared<int>(&later) = 7;
                     call.body->change().append("!");
                     return Verdict::goOn();
                   }),
      makeRuleStep("late", {.scope = Scope::kBackend, .phase = Phase::kResponseHeaders}, [&later](Call& call) {
        later = call.shared<int>(&later);
        return Verdict::goOn();
      })};
  start();
  const std::size_t index = askFor(*client_, "hello", false);
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(arrived(), "hello!");
  EXPECT_EQ(later, 7);
  expectOver(1);
}

}  // namespace
}  // namespace sluice::exchange
