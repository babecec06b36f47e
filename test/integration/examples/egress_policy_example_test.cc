// Tests that examples/egress-policy shows what its texts promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

TEST(EgressPolicyExample, IsAValidConfiguration) {
  const ProgramOutcome got =
      run({programPath("sluice"), "validate", "--config", SLUICE_SOURCE_DIR "/examples/egress-policy"});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(EgressPolicyExample, ShowsWhatIsAllowedDeniedAndAudited) {
  const ExampleCopy example("egress-policy", {"10580", "10581", "10501", "10502"});
  const ProgramOutcome got = run(example.command());
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_THAT(got.output, HasSubstr("   <- 200\n      audited by the rule default of demo/tried-out\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- 403\n      denied by the rule no-deletion of demo/team\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- 403\n      denied by the rule no-pastebins of demo/platform\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- 403\n      denied by the rule default of demo/platform\n"));
  EXPECT_THAT(got.output, HasSubstr("policy=\"demo/platform\",rule=\"models\",decision=\"allowed\"} 1\n"));
}

}  // namespace
}  // namespace sluice::test
