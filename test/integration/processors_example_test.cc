// examples/processors runs as its reader would run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test/integration/support/gateway.h"
#include "test/integration/support/processors.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kExample = SLUICE_SOURCE_DIR "/examples/processors";

TEST(ProcessorsExample, IsAValidConfiguration) {
  const Outcome got = run({programPath("sluice"), "validate", "--config", kExample});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(ProcessorsExample, ShowsWhatTheGatewayPutsInAndWhomItLetsThrough) {
  const std::string programs = std::filesystem::path(programPath("sluice")).parent_path();
  const Outcome got = run({"env", "SLUICE_PROGRAMS=" + programs, "bash", std::string(kExample) + "/run.sh"});
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"authorization: Bearer demo-only-key\""), 2U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"authorization: Bearer of-the-client\""), 0U) << got.output;
  EXPECT_EQ(countOf(got.output, "<- 200"), 5U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-tenant: a\""), 2U) << got.output;
  EXPECT_THAT(got.output, HasSubstr("<- 429, retry-after: 30\n      the gateway says: \"code\":\"rate_limited\""));
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-tenant: b\""), 1U) << got.output;
}

}  // namespace
}  // namespace sluice::test
