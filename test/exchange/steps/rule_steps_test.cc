// Tests which steps and filters of a rule apply when the route is matched again, and in which order.
#include <gtest/gtest.h>

#include "test/exchange/steps/rule_steps_fixture.h"

namespace sluice::exchange {
namespace {

class RuleStepsTest : public RuleSteps {};

INSTANTIATE_TEST_SUITE_P(, RuleStepsTest,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

const StepSpec kGateway{.scope = Scope::kGateway};
const StepSpec kLateGateway{.scope = Scope::kGateway, .priority = 10};

TEST_P(RuleStepsTest, ASecretOfTheFormerRuleDoesNotReachTheNewOne) {
  steps_.first = {makeRuleStep("header", {}, injectsHeader("authorization", "left-secret")),
                  makeRuleStep("parameter", {}, injectsParameter("key", "left-parameter"))};
  steps_.gateway = {makeRuleStep("model", kLateGateway, asksForOther())};
  start();
  const std::size_t index = request({{"authorization", "client"}}, "/ok?key=own&b=1");
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_FALSE(has(sent, "left-")) << sent;
  EXPECT_TRUE(has(sent, "/ok?key=own&b=1\n")) << sent;
  EXPECT_TRUE(has(sent, "authorization: client\n")) << sent;
  expectOver(1);
}

TEST_P(RuleStepsTest, ChangesOfTheGatewayAreAppliedAgainAndItsStepsRunOnce) {
  int ran = 0;
  const auto counts = [&ran](Call& call) {
    ++ran;
    call.edit.set("x-gateway", "early");
    call.edit.setParameter("g", "g=1", http::Care::kSecret);
    return Verdict::goOn();
  };
  steps_.gateway = {makeRuleStep("early", {.scope = Scope::kGateway, .priority = -1}, counts),
                    makeRuleStep("model", kLateGateway, asksForOther()),
                    makeRuleStep("late", {.scope = Scope::kGateway, .priority = 20}, addsField("x-late", "1"))};
  steps_.first = {makeRuleStep("left", {}, setsRequest("x-gateway", "left"))};
  steps_.other = {makeRuleStep("right", {}, setsRequest("x-right", "1"))};
  start();
  request();
  serve();
  EXPECT_EQ(ran, 1);
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_TRUE(has(sent, "/ok?g=1\n")) << sent;
  EXPECT_TRUE(has(sent, "x-gateway: early\n")) << sent;
  EXPECT_TRUE(has(sent, "x-right: 1\n")) << sent;
  EXPECT_TRUE(has(sent, "x-late: 1\n")) << sent;
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"early", "left", "model", "right", "late"}));
}

TEST_P(RuleStepsTest, ChangesOfTheAskingStepAreKeptWhateverItsScope) {
  steps_.first = {makeRuleStep("before", {.priority = -1}, setsRequest("x-before", "1")),
                  makeRuleStep("model", {}, asksForOther()),
                  makeRuleStep("behind", {.priority = 1}, setsRequest("x-behind", "1"))};
  start();
  request();
  serve();
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_TRUE(has(sent, "x-model: other\n")) << sent;
  EXPECT_FALSE(has(sent, "x-before")) << sent;
  EXPECT_FALSE(has(sent, "x-behind")) << sent;
}

TEST_P(RuleStepsTest, FiltersOfTheRuleThatIsLeftAreUndoneAndThoseOfTheNewOneApplyBelowTheSteps) {
  firstRule_ = [](routing::Rule& rule, const routing::BackendPlan&) {
    rule.requestHeaders.emplace().set = {{"x-filter", "left"}};
    rule.requestHeaders->remove = {"x-client"};
  };
  otherRule_ = [](routing::Rule& rule, const routing::BackendPlan&) {
    rule.requestHeaders.emplace().set = {{"x-right", "1"}};
    rule.requestHeaders->remove = {"x-gateway", "x-model"};
  };
  steps_.gateway = {makeRuleStep("early", kGateway, setsRequest("x-gateway", "1")),
                    makeRuleStep("model", kLateGateway, asksForOther())};
  start();
  request({{"x-client", "1"}});
  serve();
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_FALSE(has(sent, "x-filter")) << sent;
  EXPECT_TRUE(has(sent, "x-client: 1\n")) << sent;
  EXPECT_TRUE(has(sent, "x-right: 1\n")) << sent;
  EXPECT_TRUE(has(sent, "x-gateway: 1\n")) << sent;
  EXPECT_TRUE(has(sent, "x-model: other\n")) << sent;
}

TEST_P(RuleStepsTest, FiltersOfTheRuleActBetweenTheRounds) {
  firstRule_ = [](routing::Rule& rule, const routing::BackendPlan&) {
    rule.requestHeaders.emplace().remove = {"authorization", "x-removed"};
    rule.requestHeaders->set = {{"x-seen", "filter"}};
  };
  std::string seenEarly;
  std::string seenLate;
  const auto sees = [](std::string& to) {
    return [&to](Call& call) {
      const http::Field* field = call.request.headers.find("x-seen");
      to = field != nullptr ? std::string(field->value) : "none";
      return Verdict::goOn();
    };
  };
  steps_.gateway = {makeRuleStep("early", {.scope = Scope::kGateway, .preAuth = true}, setsRequest("x-removed", "1")),
                    makeRuleStep("other", {.scope = Scope::kGateway, .preAuth = true}, setsRequest("x-early", "1")),
                    makeRuleStep("sees", {.scope = Scope::kGateway, .preAuth = true}, sees(seenEarly))};
  steps_.first = {makeRuleStep("late", {}, injectsHeader("authorization", "own")),
                  makeRuleStep("sees late", {}, sees(seenLate))};
  start();
  request({{"authorization", "client"}, {"x-seen", "client"}});
  serve();
  const std::string sent = onlyTo("backend.test");
  EXPECT_TRUE(has(sent, "authorization: own\n")) << sent;
  EXPECT_FALSE(has(sent, "authorization: client")) << sent;
  EXPECT_FALSE(has(sent, "x-removed")) << sent;
  EXPECT_TRUE(has(sent, "x-early: 1\n")) << sent;
  EXPECT_EQ(seenEarly, "client");
  EXPECT_EQ(seenLate, "filter");
}

TEST_P(RuleStepsTest, NoStepOfAResponseSeesWhatWasPutInForTheBackendAlone) {
  std::string seen;
  const auto sees = [&seen](Call& call) {
    seen += std::string(call.request.target) + "\n";
    for (const http::Field& field : call.request.headers) {
      seen += std::string(field.name) + ": " + std::string(field.value) + "\n";
    }
    return Verdict::goOn();
  };
  const Scope backend = Scope::kBackend;
  steps_.firstBackend = {makeRuleStep("header", {.scope = backend}, injectsHeader("authorization", "the-secret")),
                         makeRuleStep("parameter", {.scope = backend}, injectsParameter("key", "the-secret")),
                         makeRuleStep("own", {.scope = backend, .phase = Phase::kBackendResponse}, sees)};
  steps_.first = {makeRuleStep("every", {.phase = Phase::kBackendResponse}, sees),
                  makeRuleStep("kept", {.phase = Phase::kResponseHeaders}, sees)};
  start();
  request({{"x-client", "1"}}, "/ok?a=b");
  serve();
  const std::string sent = onlyTo("backend.test");
  EXPECT_TRUE(has(sent, "authorization: the-secret\n")) << sent;
  EXPECT_TRUE(has(sent, "key=the-secret")) << sent;
  EXPECT_TRUE(has(seen, "/ok\n")) << seen;
  EXPECT_TRUE(has(seen, "x-client: 1\n")) << seen;
  EXPECT_FALSE(has(seen, "the-secret")) << seen;
}

TEST_P(RuleStepsTest, AStepThatBothRulesHaveRunsOnceAndKeepsWhatItDid) {
  int ran = 0;
  const Step shared = makeRuleStep("shared", {.priority = -1}, [&ran](Call& call) {
    ++ran;
    call.edit.set("x-shared", "1");
    return Verdict::goOn();
  });
  steps_.first = {shared, makeRuleStep("left", {}, setsRequest("x-left", "1"))};
  steps_.other = {shared};
  steps_.gateway = {makeRuleStep("model", kLateGateway, asksForOther())};
  start();
  request();
  serve();
  EXPECT_EQ(ran, 1);
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_TRUE(has(sent, "x-shared: 1\n")) << sent;
  EXPECT_FALSE(has(sent, "x-left")) << sent;
}

TEST_P(RuleStepsTest, TheMethodThatTheRuleThatIsLeftHasSetIsUndone) {
  steps_.first = {makeRuleStep("method", {}, [](Call& call) {
    call.edit.setMethod("DELETE");
    return Verdict::goOn();
  })};
  http::Method seen = http::Method::kOther;
  steps_.gateway = {makeRuleStep("model", kLateGateway, asksForOther())};
  steps_.other = {makeRuleStep("sees", {.priority = 20}, [&seen](Call& call) {
    seen = call.request.method;
    return Verdict::goOn();
  })};
  start();
  request();
  serve();
  EXPECT_NE(onlyTo(kOtherHost), "");
  EXPECT_EQ(seen, http::Method::kGet);
}

TEST_P(RuleStepsTest, ABodyThatTheRuleThatIsLeftHasChangedEndsTheExchange) {
  const auto appends = [](Call& call) {
    if (call.body->last()) call.body->change().append("+");
    return Verdict::goOn();
  };
  for (const Scope scope : {Scope::kGateway, Scope::kRoute}) {
    SetUp();
    Step changing =
        makeRuleStep("changes", {.scope = scope, .phase = Phase::kRequestBody, .body = kEditsWhole}, appends);
    Step asking = makeRuleStep(
        "model", {.scope = Scope::kGateway, .priority = 10, .phase = Phase::kRequestBody, .body = kReadsWhole},
        asksForOther());
    steps_.gateway = {asking};
    (scope == Scope::kGateway ? steps_.gateway : steps_.first).push_back(changing);
    start();
    const std::size_t index = askFor(*client_, "hello", false);
    serve();
    if (scope == Scope::kGateway) {
      EXPECT_EQ(statusOf(*client_, index), 200);
      EXPECT_EQ(arrived(), "hello+");
    } else {
      EXPECT_EQ(statusOf(*client_, index), 500);
      ASSERT_EQ(rig_->told.size(), 1U);
      EXPECT_EQ(rig_->told[0].error->type, base::ErrorType::kProcessorFailed);
      EXPECT_TRUE(sentTo(kOtherHost).empty());
      expectFailure({Phase::kRequestBody, BodyMode::kBuffered}, "error", "closed");
    }
    expectOver(1);
  }
}

TEST_P(RuleStepsTest, AStepThatAsksBeforeAuthenticationLeavesNothingOfTheFirstRuleEither) {
  steps_.gateway = {makeRuleStep("model", {.scope = Scope::kGateway, .priority = 10, .preAuth = true}, asksForOther())};
  steps_.first = {makeRuleStep("early", {.preAuth = true}, injectsHeader("x-early", "left-secret")),
                  makeRuleStep("late", {}, injectsHeader("x-late", "left-secret"))};
  steps_.other = {makeRuleStep("right early", {.preAuth = true}, setsRequest("x-right", "1")),
                  makeRuleStep("right late", {}, setsRequest("x-right-late", "1"))};
  otherRule_ = [](routing::Rule& rule, const routing::BackendPlan&) {
    rule.requestHeaders.emplace().set = {{"x-filter", "right"}};
  };
  start();
  request();
  serve();
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_FALSE(has(sent, "left-secret")) << sent;
  EXPECT_TRUE(has(sent, "x-right: 1\n")) << sent;
  EXPECT_TRUE(has(sent, "x-right-late: 1\n")) << sent;
  EXPECT_TRUE(has(sent, "x-filter: right\n")) << sent;
}

// --- fields that a step owns ---

class Owning final : public processing::PreAuthProcessor {
 public:
  explicit Owning(Work work) : work_(std::move(work)) {}
  std::span<const std::string> ownedFields() const override { return owned_; }
  Verdict process(Call& call) const override { return work_(call); }

 private:
  const std::vector<std::string> owned_{"x-model"};
  const Work work_;
};

TEST_P(RuleStepsTest, AFieldThatAStepOwnsPicksNoRouteForAClient) {
  for (const bool skipped : {false, true}) {
    for (const bool beforeRouting : {false, true}) {
      SetUp();
      Step router = makeRuleStep("router", {.scope = Scope::kGateway, .failOpen = true}, skipped ? fails() : goesOn());
      router.processor = std::make_shared<const Owning>(skipped ? fails() : goesOn());
      (beforeRouting ? steps_.beforeRouting : steps_.gateway) = {router};
      start();
      const std::size_t index = request({{"x-model", "other"}, {"x_model", "other"}});
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      const std::string sent = onlyTo("backend.test");
      EXPECT_FALSE(has(sent, "other")) << sent;
      EXPECT_FALSE(has(sent, "x-half")) << sent;
      expectOver(1);
    }
  }
}

/// Both rules have the step, which has a field of the client removed and fails then.
TEST_P(RuleStepsTest, AStandInRunsAlthoughTheRouteIsMatchedAgain) {
  int guarded = 0;
  Step guard = makeRuleStep("guard", {}, [&guarded](Call&) {
    ++guarded;
    return Verdict::goOn();
  });
  Step router = makeRuleStep("router", {.priority = -1, .failOpen = true}, fails());
  router.processor = std::make_shared<const Owning>(fails());
  router.fallback = std::make_shared<const processing::StepFallback>(
      processing::StepFallback{std::make_shared<const Step>(std::move(guard)), 0, {}});
  steps_.first = steps_.other = {router};
  start();
  request({{"x-model", "other"}});
  serve();
  EXPECT_EQ(guarded, 1);
  EXPECT_FALSE(has(onlyTo("backend.test"), "other"));
}

TEST_P(RuleStepsTest, AFieldOfAClientDoesNotUseUpTheOneTimeThatAStepMayAsk) {
  Step router = makeRuleStep("router", {.scope = Scope::kGateway, .priority = -1}, goesOn());
  router.processor = std::make_shared<const Owning>(goesOn());
  steps_.gateway = {router, makeRuleStep("model", kLateGateway, asksForOther())};
  start();
  request({{"x-model", "none"}});
  serve();
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_TRUE(has(sent, "x-model: other\n")) << sent;
}

TEST_P(RuleStepsTest, AnotherStepsValueOfAnOwnedFieldStays) {
  Step router = makeRuleStep("router", {.scope = Scope::kRoute}, goesOn());
  router.processor = std::make_shared<const Owning>(goesOn());
  steps_.first = {router};
  steps_.gateway = {
      makeRuleStep("sets", {.scope = Scope::kGateway, .priority = -1}, setsRequest("x-model", "gateway"))};
  start();
  request({{"x_model", "client"}});
  serve();
  const std::string sent = onlyTo("backend.test");
  EXPECT_TRUE(has(sent, "x-model: gateway\n")) << sent;
  EXPECT_FALSE(has(sent, "client")) << sent;
}

// --- the Backend that is chosen for now ---

TEST_P(RuleStepsTest, StepsOfTheChosenBackendBeforeAuthenticationComeBeforeTheSecondRound) {
  int early = 0;
  steps_.firstBackend = {makeRuleStep("backend early", {.scope = Scope::kBackend, .preAuth = true},
                                      [&early](Call& call) {
                                        ++early;
                                        call.edit.set("x-backend", "early");
                                        return Verdict::goOn();
                                      }),
                         makeRuleStep("backend late", {.scope = Scope::kBackend}, addsField("x-backend", "late"))};
  steps_.gateway = {makeRuleStep("gateway early", {.scope = Scope::kGateway, .preAuth = true}, goesOn()),
                    makeRuleStep("gateway late", kGateway, [](Call& call) {
                      EXPECT_EQ(call.request.headers.find("x-backend"), nullptr);
                      return Verdict::goOn();
                    })};
  start();
  const std::size_t index = request();
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"gateway early", "backend early", "gateway late", "backend late"}));
  EXPECT_EQ(early, 1);
  const std::string sent = onlyTo("backend.test");
  EXPECT_TRUE(has(sent, "x-backend: early\nx-backend: late\n")) << sent;
}

TEST_P(RuleStepsTest, TheBackendOfARouteThatIsMatchedAgainRunsItsStepsBeforeTheSecondRoundGoesOn) {
  steps_.otherBackend = {
      makeRuleStep("other early", {.scope = Scope::kBackend, .preAuth = true}, setsRequest("x-other", "early"))};
  steps_.firstBackend = {makeRuleStep("first early", {.scope = Scope::kBackend, .preAuth = true},
                                      injectsHeader("x-first", "left-secret"))};
  steps_.gateway = {makeRuleStep("model", kLateGateway, asksForOther()),
                    makeRuleStep("late", {.scope = Scope::kGateway, .priority = 20}, goesOn())};
  start();
  request();
  serve();
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"first early", "model", "other early", "late"}));
  const std::string sent = onlyTo(kOtherHost);
  EXPECT_FALSE(has(sent, "left-secret")) << sent;
  EXPECT_TRUE(has(sent, "x-other: early\n")) << sent;
}

/// Makes a step that looks at all of the body, as the request of its scope has it.
Step inspects(const std::string& name, Scope scope, std::string& seen, Work then = goesOn()) {
  const StepSpec spec{
      .scope = scope, .preAuth = true, .phase = Phase::kRequestBody, .body = {BodyMode::kInspected, 0, false, false}};
  return makeRuleStep(name, spec, [&seen, then = std::move(then)](Call& call) {
    seen += call.body->bytes().text();
    return call.body->last() ? then(call) : Verdict::goOn();
  });
}

TEST_P(RuleStepsTest, ABodyIsInspectedForTheChosenBackendBeforeTheSecondRound) {
  for (const bool alsoOfGateway : {false, true}) {
    SetUp();
    std::string seen;
    std::string seenEarly;
    steps_.firstBackend = {inspects("backend early", Scope::kBackend, seen, setsRequest("x-backend", "seen"))};
    if (alsoOfGateway) steps_.gateway = {inspects("gateway early", Scope::kGateway, seenEarly)};
    steps_.gateway.push_back(makeRuleStep("gateway late", kGateway, [](Call& call) {
      EXPECT_EQ(call.request.headers.find("x-backend"), nullptr);
      return Verdict::goOn();
    }));
    start();
    const std::size_t index = askFor(*client_, "hello", false);
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(seen, "hello");
    EXPECT_EQ(arrived(), "hello");
    std::erase(rig_->steps, "gateway early");
    EXPECT_EQ(rig_->steps, (std::vector<std::string>{"backend early", "gateway late"}));
    EXPECT_TRUE(has(onlyTo("backend.test"), "x-backend: seen\n"));
    expectOver(1);
  }
}

TEST_P(RuleStepsTest, ABodyThatTheChosenBackendRefusesReachesNoStepOfTheSecondRound) {
  std::string seen;
  steps_.firstBackend = {inspects("backend early", Scope::kBackend, seen, replies(403))};
  steps_.gateway = {makeRuleStep("gateway late", kGateway, goesOn())};
  start();
  const std::size_t index = askFor(*client_, "hello", false);
  serve();
  EXPECT_EQ(statusOf(*client_, index), 403);
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"backend early"}));
  EXPECT_TRUE(sentTo("backend.test").empty());
  expectOver(1);
}

TEST_P(RuleStepsTest, AClientsFieldThatTheChosenBackendsStepOwnsIsRemoved) {
  Step owning = makeRuleStep("owning", {.scope = Scope::kBackend, .preAuth = true}, goesOn());
  owning.processor = std::make_shared<const Owning>(goesOn());
  steps_.firstBackend = {owning};
  start();
  const std::size_t index = request({{"x_model", "client"}});
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_FALSE(has(onlyTo("backend.test"), "client"));
}

TEST_P(RuleStepsTest, AStepOfTheChosenBackendThatWaitsHoldsTheSecondRoundBack) {
  steps_.firstBackend = {makeRuleStep("waits", {.scope = Scope::kBackend, .preAuth = true}, waits())};
  steps_.gateway = {makeRuleStep("late", kGateway, goesOn())};
  start();
  const std::size_t index = request({{"x-wait", "1"}});
  EXPECT_TRUE(rig_->steps.empty());
  resume();
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"waits", "late"}));
  expectOver(1);
}

// An exchange that makes too many transitions in one go fails, so a chain of many steps must not cost one for each.
TEST_P(RuleStepsTest, AnyNumberOfStepsMayAskForAnotherMatch) {
  std::vector<Step> asking;
  for (int i = 0; i < 200; ++i) asking.push_back(makeRuleStep("asks", {.scope = Scope::kGateway}, asksForOther()));
  for (std::vector<Step> Steps::*steps : {&Steps::beforeRouting, &Steps::gateway}) {
    SetUp();
    steps_.*steps = asking;
    start();
    const std::size_t index = request();
    serve();
    EXPECT_EQ(statusOf(*client_, index), 200);
    EXPECT_EQ(rig_->steps.size(), asking.size());
    EXPECT_FALSE(onlyTo(kOtherHost).empty());
    expectOver(1);
  }
}

}  // namespace
}  // namespace sluice::exchange
