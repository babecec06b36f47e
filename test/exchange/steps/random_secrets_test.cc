// Tests steps of random Gateways, rules, Backends, retries and mirrors, each of which injects a secret of its own.
// Whatever the course of a request, an origin gets only the secrets that were meant for it.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "test/exchange/steps/rule_steps_fixture.h"

namespace sluice::exchange {
namespace {

class RandomSecrets : public RuleSteps {
 protected:
  unsigned draw(unsigned count) { return static_cast<unsigned>(random_() % count); }
  bool chance(unsigned percent) { return draw(100) < percent; }

  /// Makes a step that injects a secret, which begins with the name of its owner.
  Step injector(const std::string& owner, Scope scope) {
    const bool failing = chance(15);  // then no origin may get the secret
    const std::string secret = (failing ? "failed" : owner) + "-secret-" + std::to_string(++count_) + ".";
    const std::string name = chance(30) ? "authorization" : "x-key-" + std::to_string(draw(4));
    StepSpec spec{.scope = scope, .priority = static_cast<std::int32_t>(draw(5)), .preAuth = chance(30)};
    spec.failOpen = failing || chance(30);
    if (scope == Scope::kBackend && !spec.preAuth && chance(30)) spec.phase = Phase::kBackendRequest;
    Work work = chance(30) ? injectsParameter(name, secret) : injectsHeader(name, secret);
    if (failing) {
      work = [inner = std::move(work)](Call& call) {
        inner(call);
        return Verdict::fail("it broke");
      };
    } else if (chance(20)) {
      work = [this, inner = std::move(work)](Call& call) {
        struct InjectorState {
          bool waited = false;
        };
        bool& waited = call.state<InjectorState>().waited;
        if (std::exchange(waited, true)) return inner(call);
        waiting_.push_back(call.suspend());
        return Verdict::wait();
      };
    }
    return makeRuleStep(owner + std::to_string(count_), spec, std::move(work));
  }
  std::vector<Step> some(const std::string& owner, Scope scope) {
    std::vector<Step> steps;
    for (unsigned i = draw(3); i > 0; --i) steps.push_back(injector(owner, scope));
    return steps;
  }
  Step asking() {
    const Scope scope = chance(50) ? Scope::kGateway : Scope::kRoute;
    const StepSpec spec{.scope = scope, .priority = static_cast<std::int32_t>(draw(5)), .preAuth = chance(30)};
    return makeRuleStep("asks", spec, asksForOther());
  }
  void drawSteps() {
    if (chance(30)) steps_.beforeRouting = some("gateway", Scope::kGateway);
    steps_.gateway = some("gateway", Scope::kGateway);
    steps_.first = some("first", Scope::kRoute);
    steps_.other = some("other", Scope::kRoute);
    steps_.firstBackend = some("firstBackend", Scope::kBackend);
    steps_.otherBackend = some("otherBackend", Scope::kBackend);
    steps_.mirror = some("mirror", Scope::kBackend);
    mirrored_ = chance(60);
    if (chance(70)) {
      Step step = asking();
      (step.scope == Scope::kGateway ? steps_.gateway : steps_.first).push_back(std::move(step));
    }
    const auto filters = [drop = chance(50)](routing::Rule& rule, const routing::BackendPlan&) {
      if (drop) rule.requestHeaders.emplace().remove = {"authorization", "x-key-1"};
    };
    firstRule_ = otherRule_ = filters;
    if (!chance(40)) return;
    // The first rule fails over to the Backend of the other one.
    firstRule_ = [this, filters](routing::Rule& rule, const routing::BackendPlan& plan) {
      filters(rule, plan);
      rule.retry->backoff = std::chrono::milliseconds(0);
      rule.backends.emplace_back().backend = planOf(plan, "demo/other", kOtherHost, steps_.otherBackend);
    };
  }
  /// Has the Backends answer 503 once or twice, whichever they are.
  void answerAll(unsigned failures) {
    std::set<std::pair<const BackendPeer*, std::size_t>> answered;
    for (int round = 0; round < 20; ++round) {
      resume();
      while (rig_->backends.size() < rig_->dialled()) accept(rig_->backends.size());
      for (const auto& backend : rig_->backends) {
        for (std::size_t i = 0; i < backend->requests(); ++i) {
          if (backend->request(i).reset || !backend->request(i).ended) continue;
          if (!answered.insert({backend.get(), i}).second) continue;
          const bool mirror = backend->request(i).message.head.authority.starts_with(kMirrorHost);
          backend->respond(i, !mirror && failures > 0 ? 503 : 200, "done");
          if (!mirror && failures > 0) --failures;
        }
      }
      rig_->advance(std::chrono::milliseconds(50));
    }
  }
  /// Checks that the request has no secrets but those of `owners`.
  void expectOnly(std::string_view host, const std::set<std::string>& owners, const std::string& trace) {
    static const std::vector<std::string> kAll = {"gateway",      "first",  "other", "firstBackend",
                                                  "otherBackend", "mirror", "failed"};
    for (const std::string& sent : sentTo(host)) {
      for (const std::string& owner : kAll) {
        if (owners.count(owner) > 0) continue;
        EXPECT_FALSE(has(sent, owner + "-secret-")) << trace << " to " << host << "\n" << sent;
      }
    }
  }

  std::mt19937 random_;
  int count_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, RandomSecrets,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(RandomSecrets, ReachTheOriginsThatTheyAreMeantForAndNoOther) {
  for (unsigned seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SetUp();
    random_.seed(seed);
    drawSteps();
    start();
    const std::size_t index = request({{"authorization", "client"}, {"x-key-1", "client"}}, "/ok?x-key-2=client");
    answerAll(draw(3));
    EXPECT_NE(statusOf(*client_, index), 0) << "seed " << seed;
    ASSERT_EQ(rig_->told.size(), 1U) << "seed " << seed;
    const std::string trace = "seed " + std::to_string(seed);
    // The steps that ran last show which rule the request ended with. Secrets of the two rules never mix.
    expectOnly("backend.test", {"gateway", "first", "firstBackend"}, trace);
    expectOnly(kMirrorHost, {"mirror"}, trace);
    for (const std::string& sent : sentTo(kOtherHost)) {
      EXPECT_FALSE(has(sent, "first-secret-") && has(sent, "other-secret-")) << trace << "\n" << sent;
      EXPECT_FALSE(has(sent, "firstBackend-secret-")) << trace << "\n" << sent;
      EXPECT_FALSE(has(sent, "mirror-secret-")) << trace << "\n" << sent;
      // Only the first rule fails over to it; if the match was changed, nothing of that rule is left.
      const bool matchedAgain = has(sent, "x-model: other");
      EXPECT_FALSE(matchedAgain && has(sent, "first-secret-")) << trace << "\n" << sent;
      EXPECT_FALSE(has(sent, "failed-secret-")) << trace << "\n" << sent;
    }
    forget();
    rig_->close();
    EXPECT_EQ(rig_->worker.chunks().inUse(), 0U) << trace;
  }
}

}  // namespace
}  // namespace sluice::exchange
