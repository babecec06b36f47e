// Tests that the steps of a rule without a Backend run, because one of them may answer; otherwise the rule answers 500.
#include <gtest/gtest.h>

#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

class NoBackend : public ProcessorSteps {
 protected:
  void serve(std::vector<Step> steps, const std::function<void(routing::Rule&)>& more = {}) {
    with(std::move(steps), {}, [more](routing::Rule& rule) {
      rule.backends.clear();
      if (more) more(rule);
    });
  }
  void expectAnswer(std::size_t index, std::uint16_t expected, base::ErrorType type) {
    EXPECT_EQ(status(index), expected);
    ASSERT_EQ(rig_->told.size(), 1U);
    ASSERT_TRUE(rig_->told[0].error);
    EXPECT_EQ(rig_->told[0].error->type, type);
    EXPECT_EQ(rig_->dialled(), 0U);
    expectTold(expected, 0);
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, NoBackend,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11)));

TEST_P(NoBackend, IsAnsweredByTheStepThatReplies) {
  serve({step("deny", Phase::kRequestHeaders, replies(403))});
  expectAnswer(get(), 403, base::ErrorType::kRateLimited);
}

TEST_P(NoBackend, IsAnsweredByAStepThatReadsTheBody) {
  serve({step("deny", Phase::kRequestBody, replies(403), kReadsWhole)});
  expectAnswer(post("all of it"), 403, base::ErrorType::kRateLimited);
}

TEST_P(NoBackend, IsAnsweredByTheRuleIfNoStepReplies) {
  serve({step("look", Phase::kRequestHeaders, goesOn()), step("see", Phase::kResponseHeaders, goesOn())});
  const std::size_t index = get();
  EXPECT_EQ(rig_->steps, (std::vector<std::string>{"look", "see"}));
  expectAnswer(index, 500, base::ErrorType::kProxyConfigurationError);
}

TEST_P(NoBackend, IsAnsweredByTheRuleIfItHasNoSteps) {
  serve({});
  expectAnswer(get(), 500, base::ErrorType::kProxyConfigurationError);
}

TEST_P(NoBackend, IsAnsweredByTheRuleWhateverElseItHas) {
  serve({step("look", Phase::kRequestHeaders, setsRequest("max-forwards", "0"))}, [](routing::Rule& rule) {
    rule.session = std::make_shared<const routing::SessionPolicy>();
    rule.requestTimeout = std::chrono::seconds(1);
  });
  expectAnswer(post("some"), 500, base::ErrorType::kProxyConfigurationError);
}

}  // namespace
}  // namespace sluice::exchange
