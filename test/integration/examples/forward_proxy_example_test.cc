// Tests that examples/forward-proxy shows what its texts promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

TEST(ForwardProxyExample, IsAValidConfiguration) {
  const ProgramOutcome got =
      run({programPath("sluice"), "validate", "--config", SLUICE_SOURCE_DIR "/examples/forward-proxy"});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(ForwardProxyExample, ShowsRequestsTunnelsAndRefusals) {
  const ExampleCopy example("forward-proxy", {"10680", "10681", "10682", "10643", "10601", "10602"});
  const ProgramOutcome got = run(example.command());
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_THAT(got.output, HasSubstr("   <- CONNECT 000, request 200\n      the origin saw: \"via: 1.1 sluice"));
  EXPECT_THAT(got.output, HasSubstr("      allowed by the rule docs of demo/platform\n"));
  EXPECT_THAT(got.output, HasSubstr("   <- CONNECT 000, request 403\n"));
  EXPECT_THAT(got.output,
              HasSubstr("   <- CONNECT 200, request 200\n      allowed by the rule origin of demo/platform\n"));
  EXPECT_THAT(got.output,
              HasSubstr("   <- CONNECT 403, request 000\n      denied by the rule default of demo/platform\n"));
  EXPECT_THAT(
      got.output,
      HasSubstr("   <- CONNECT 000, request 407\n      the gateway says: \"detail\":\"the request has no credentials"));
  EXPECT_THAT(got.output, HasSubstr("      the origin saw: \"authorization: Bearer demo-only\"\n"));
}

}  // namespace
}  // namespace sluice::test
