// Tests that examples/identity shows what its texts promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

TEST(IdentityExample, IsAValidConfiguration) {
  const ProgramOutcome got =
      run({programPath("sluice"), "validate", "--config", SLUICE_SOURCE_DIR "/examples/identity"});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(IdentityExample, ShowsBudgetsAndARefusal) {
  const ExampleCopy example("identity", {"10743", "10780", "10781", "10701", "10702"});
  const ProgramOutcome got = run(example.command());
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_THAT(got.output, HasSubstr("      the origin saw: \"x-caller: shop/cart\"\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- 200 200 200 200 429 429\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- 200 200 429 429\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- 403\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- 000\n"));
  EXPECT_THAT(got.output, HasSubstr("\"serviceAccount\":\"debug\""));
}

}  // namespace
}  // namespace sluice::test
