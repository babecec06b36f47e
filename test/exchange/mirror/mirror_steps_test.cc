// Tests that a mirror gets the request without its secrets, and runs the steps of its own Backend.
#include <gtest/gtest.h>

#include "test/exchange/steps/rule_steps_fixture.h"

namespace sluice::exchange {
namespace {

class MirrorStepsTest : public RuleSteps {
 protected:
  void SetUp() override {
    RuleSteps::SetUp();
    mirrored_ = true;
  }
  /// Returns the body that came to the mirror.
  std::string bodyOfMirror() {
    for (const auto& backend : rig_->backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i) {
        if (backend->request(i).message.head.authority.starts_with(kMirrorHost)) return backend->request(i).body;
      }
    }
    return "none";
  }
};

INSTANTIATE_TEST_SUITE_P(, MirrorStepsTest,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(MirrorStepsTest, CopiesTheRequestAsTheRuleLeftItWithoutSecrets) {
  steps_.beforeRouting = {makeRuleStep("first", {.scope = Scope::kGateway}, injectsHeader("x-first", "secret-1"))};
  steps_.gateway = {makeRuleStep("removes", {.scope = Scope::kGateway},
                                 [](Call& call) {
                                   call.edit.remove("x-inner");
                                   return Verdict::goOn();
                                 }),
                    makeRuleStep("parameter", {.scope = Scope::kGateway}, injectsParameter("key", "secret-2"))};
  steps_.first = {makeRuleStep("header", {}, injectsHeader("authorization", "secret-3")),
                  makeRuleStep("sets", {}, setsRequest("x-set", "1"))};
  steps_.firstBackend = {makeRuleStep("own", {.scope = Scope::kBackend}, injectsHeader("x-own", "secret-4"))};
  firstRule_ = [](routing::Rule& rule, const routing::BackendPlan&) {
    rule.requestHeaders.emplace().remove = {"x-hidden"};
  };
  start();
  const std::size_t index =
      request({{"authorization", "client"}, {"x-inner", "1"}, {"x-hidden", "1"}, {"x-kept", "1"}}, "/ok?key=own&b=1");
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  const std::string sent = onlyTo("backend.test");
  for (const char* secret : {"secret-1", "secret-2", "secret-3", "secret-4"}) EXPECT_TRUE(has(sent, secret)) << sent;
  const std::string copy = onlyTo(kMirrorHost);
  EXPECT_FALSE(has(copy, "secret")) << copy;
  EXPECT_FALSE(has(copy, "authorization")) << copy;
  EXPECT_FALSE(has(copy, "x-inner")) << copy;
  EXPECT_FALSE(has(copy, "x-hidden")) << copy;
  EXPECT_TRUE(has(copy, "/ok?b=1\n")) << copy;
  EXPECT_TRUE(has(copy, "x-set: 1\n")) << copy;
  EXPECT_TRUE(has(copy, "x-kept: 1\n")) << copy;
  expectOver(1);
}

TEST_P(MirrorStepsTest, RunsTheStepsOfItsOwnBackend) {
  const auto appends = [](Call& call) {
    if (call.body->last()) call.body->change().append("+");
    return Verdict::goOn();
  };
  for (const Phase phase : {Phase::kRequestBody, Phase::kBackendRequest}) {
    for (const processing::BodyInterest& body : {kEditsWhole, kEditsPieces}) {
      SetUp();
      steps_.mirror = {makeRuleStep("credential", {.scope = Scope::kBackend}, injectsHeader("authorization", "mirror")),
                       makeRuleStep("connect", {.scope = Scope::kBackend, .phase = Phase::kConnect}, goesOn()),
                       makeRuleStep("body", {.scope = Scope::kBackend, .phase = phase, .body = body}, appends)};
      start();
      const std::size_t index = askFor(*client_, "hello", false);
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      EXPECT_FALSE(has(onlyTo("backend.test"), "authorization"));
      EXPECT_TRUE(has(onlyTo(kMirrorHost), "authorization: mirror\n"));
      EXPECT_EQ(bodyOfMirror(), "hello+");
      EXPECT_EQ(rig_->mirrored, 1);
      expectOver(1);
    }
  }
}

TEST_P(MirrorStepsTest, AStepThatRefusesEndsTheCopyAlone) {
  for (const Phase phase : {Phase::kRequestHeaders, Phase::kConnect, Phase::kBackendRequest}) {
    for (const bool replying : {false, true}) {
      SetUp();
      steps_.mirror = {
          makeRuleStep("refuses", {.scope = Scope::kBackend, .phase = phase}, replying ? replies(429) : fails())};
      start();
      const std::size_t index = request();
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      EXPECT_TRUE(sentTo(kMirrorHost).empty());
      EXPECT_EQ(rig_->mirrored, 1);
      expectOver(1);
    }
  }
}

TEST_P(MirrorStepsTest, AStepThatWaitsHoldsTheCopyAloneBack) {
  for (const Phase phase : {Phase::kRequestHeaders, Phase::kConnect, Phase::kBackendRequest}) {
    for (const int ending : {0, 1, 2}) {
      SetUp();
      steps_.mirror = {makeRuleStep("waits", {.scope = Scope::kBackend, .phase = phase}, waits())};
      start();
      const std::size_t index = askFor(*client_, "hello");
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      EXPECT_TRUE(sentTo(kMirrorHost).empty());
      if (ending == 0) resume();
      if (ending == 1) drop();
      if (ending == 2) {
        rig_->advance(options_.timeouts.processor);
        rig_->advancePast();
      }
      serve();
      EXPECT_EQ(sentTo(kMirrorHost).size(), ending == 0 ? 1U : 0U);
      EXPECT_EQ(bodyOfMirror(), ending == 0 ? "hello" : "none");
      EXPECT_EQ(rig_->mirrored, 1);
      forget();
      expectOver(1);
    }
  }
}

TEST_P(MirrorStepsTest, ABodyThatAStepCollectedReachesTheCopyWhole) {
  steps_.first = {makeRuleStep("collects", {.phase = Phase::kRequestBody, .body = kReadsWhole}, goesOn())};
  start();
  const std::string body(options_.bounds.exchangeBuffer * 3, 'b');
  const std::size_t index = askFor(*client_, body, false);
  serve();
  EXPECT_EQ(statusOf(*client_, index), 200);
  EXPECT_EQ(bodyOfMirror().size(), body.size());
  expectOver(1);
}

}  // namespace
}  // namespace sluice::exchange
