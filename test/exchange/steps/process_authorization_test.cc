// These tests check when steps run that decide whether a client may make its request.
#include <limits>

#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

constexpr std::int32_t kVeryLate = std::numeric_limits<std::int32_t>::max();

class AuthorizingSteps : public ProcessorSteps {
 protected:
  static Step authorizing(const std::string& name, Phase phase, Work work, Scope scope = Scope::kRoute) {
    Step made = step(name, phase, std::move(work), kReadsWhole, kVeryLate, scope);
    made.authorizes = true;
    return made;
  }
  static Step preAuth(const std::string& name, Phase phase) {
    Step made = step(name, phase, goesOn(), kReadsWhole);
    made.preAuth = true;
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, AuthorizingSteps,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(AuthorizingSteps, RunBetweenTheRoundsWhateverTheirPriorityAndPhase) {
  Rig& rig = with({step("limits", Phase::kRequestHeaders, goesOn(), -1000),
                   step("reads", Phase::kRequestBody, goesOn(), kReadsWhole, -1000),
                   authorizing("auth body", Phase::kRequestBody, goesOn()),
                   authorizing("auth head", Phase::kRequestHeaders, goesOn()),
                   preAuth("early body", Phase::kRequestBody), preAuth("early head", Phase::kRequestHeaders)});
  const std::size_t index = post("hello");
  respond(accept(0), 200, "welcome");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.steps,
            (std::vector<std::string>{"early head", "early body", "auth head", "auth body", "limits", "reads"}));
}

TEST_P(AuthorizingSteps, OfAGatewayAndARouteRunBeforeBothLimitRates) {
  Rig& rig = with({step("gateway limits", Phase::kRequestHeaders, goesOn(), -5, Scope::kGateway),
                   authorizing("route auth", Phase::kRequestBody, goesOn()),
                   authorizing("gateway auth", Phase::kRequestBody, goesOn(), Scope::kGateway)});
  const std::size_t index = post("hello");
  respond(accept(0), 200, "welcome");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"gateway auth", "route auth", "gateway limits"}));
}

TEST_P(AuthorizingSteps, OfABackendRunBeforeItsOtherSteps) {
  Rig& rig = with({}, {step("own", Phase::kRequestHeaders, goesOn(), -1000, Scope::kBackend),
                       authorizing("auth", Phase::kRequestBody, goesOn(), Scope::kBackend)});
  const std::size_t index = post("hello");
  respond(accept(0), 200, "welcome");
  EXPECT_EQ(status(index), 200);
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"auth", "own"}));
}

TEST_P(AuthorizingSteps, KeepARequestThatTheyRefuseFromAllOtherSteps) {
  Rig& rig = with({step("limits", Phase::kRequestHeaders, goesOn(), -1000),
                   authorizing("auth", Phase::kRequestBody, replies(403))});
  const std::size_t index = post("hello");
  EXPECT_EQ(status(index), 403);
  EXPECT_EQ(rig.dialled(), 0U);
  EXPECT_EQ(rig.steps, std::vector<std::string>{"auth"});
}

}  // namespace
}  // namespace sluice::exchange
