// In which order an explanation lists the steps of payload processors.
#include "proxy/control/explain/explained_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "test/compile/processor_types.h"
#include "test/control/explain/explain_world.h"

namespace sluice::control {
namespace {

using processing::Phase;
using processing::Scope;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::Duration kTimeout = std::chrono::milliseconds(200);

processing::Step step(const std::string& name, Phase phase, Scope scope, std::int32_t priority = 0,
                      bool preAuth = false) {
  processing::Step made;
  made.processor = std::make_shared<const compile::test::NoopProcessor>();
  made.name = name;
  made.type = "sluice.dev/Noop:v1";
  made.phase = phase;
  made.scope = scope;
  made.priority = priority;
  made.preAuth = preAuth;
  return made;
}

class ExplainedSteps : public ::testing::Test {
 protected:
  const processing::Chain preRouting_{{step("router", Phase::kRequestBody, Scope::kGateway)}};
  const processing::Chain gateway_{{step("late", Phase::kRequestHeaders, Scope::kGateway, 5),
                                    step("check", Phase::kRequestHeaders, Scope::kGateway, 9, true),
                                    step("answer", Phase::kResponseHeaders, Scope::kGateway, 2)}};
  const processing::Chain route_{{step("early", Phase::kRequestHeaders, Scope::kRoute, 1),
                                  step("text", Phase::kRequestBody, Scope::kRoute),
                                  step("last", Phase::kBackendRequest, Scope::kRoute, 7)}};
  const processing::Chain backend_{{step("key", Phase::kRequestHeaders, Scope::kBackend),
                                    step("sign", Phase::kRequestHeaders, Scope::kBackend, 0, true),
                                    step("quota", Phase::kBackendRequest, Scope::kBackend, 3),
                                    step("answer too", Phase::kResponseHeaders, Scope::kBackend, 1)}};
};

TEST_F(ExplainedSteps, ComeInTheRoundsOfARequest) {
  const auto steps = explainedSteps({&preRouting_, &gateway_, &route_, &backend_}, Course::kForwarded, kTimeout);
  EXPECT_THAT(test::stepNames(steps),
              ElementsAre("router in before routing", "check in before authentication", "sign in before authentication",
                          "early in after authentication", "late in after authentication",
                          "text in after authentication", "key in attempt", "quota in attempt", "last in attempt",
                          "answer too in response", "answer in response"));
  EXPECT_EQ(steps[1].scope, "Gateway");
  EXPECT_TRUE(steps[1].preAuth);
  EXPECT_EQ(steps[1].timeout, kTimeout) << "that of the settings";
}

TEST_F(ExplainedSteps, ComeBeforeAuthenticationThoughOnlyTheBackendHasAny) {
  const auto steps = explainedSteps({nullptr, nullptr, nullptr, &backend_}, Course::kForwarded, kTimeout);
  EXPECT_THAT(test::stepNames(steps), ElementsAre("sign in before authentication", "key in attempt", "quota in attempt",
                                                  "answer too in response"));
}

TEST_F(ExplainedSteps, WaitForTheAttemptFromTheFirstOnThatTakesTheBodyAsItFlows) {
  const auto ofBody = [](const char* name, processing::BodyMode mode, std::int32_t priority) {
    processing::Step made = step(name, Phase::kRequestBody, Scope::kBackend, priority, true);
    made.body.mode = mode;
    return made;
  };
  const processing::Chain backend{{ofBody("whole", processing::BodyMode::kBuffered, 0),
                                   ofBody("flows", processing::BodyMode::kStreamed, 1),
                                   ofBody("behind", processing::BodyMode::kBuffered, 2)}};
  const auto steps = explainedSteps({nullptr, nullptr, nullptr, &backend}, Course::kForwarded, kTimeout);
  EXPECT_THAT(test::stepNames(steps),
              ElementsAre("whole in before authentication", "flows in attempt", "behind in attempt"));
}

TEST_F(ExplainedSteps, EndWherePoliciesDenyTheBackend) {
  const StepSources sources{nullptr, &gateway_, &route_, &backend_};
  EXPECT_THAT(test::stepNames(explainedSteps(sources, Course::kDenied, kTimeout)),
              ElementsAre("check in before authentication", "sign in before authentication", "answer too in response",
                          "answer in response"));
  EXPECT_THAT(
      test::stepNames(explainedSteps(sources, Course::kUnreached, kTimeout)),
      ElementsAre("check in before authentication", "sign in before authentication", "early in after authentication",
                  "late in after authentication", "text in after authentication", "key in attempt",
                  "answer too in response", "answer in response"))
      << "without the steps that a connection has";
}

TEST_F(ExplainedSteps, SeeAnAnswerOfTheGatewayToo) {
  EXPECT_THAT(test::stepNames(explainedSteps({nullptr, &gateway_, &route_, nullptr}, Course::kAnswered, kTimeout)),
              ElementsAre("check in before authentication", "early in after authentication",
                          "late in after authentication", "text in after authentication", "answer in response"));
  EXPECT_THAT(test::stepNames(explainedSteps({&preRouting_, &gateway_, nullptr, nullptr}, Course::kRefused, kTimeout)),
              ElementsAre("router in before routing", "answer in response"));
  EXPECT_THAT(explainedSteps({}, Course::kForwarded, kTimeout), IsEmpty());
}

}  // namespace
}  // namespace sluice::control
