// Tests that examples/traffic-policy shows what its texts promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(TrafficPolicyExample, IsAValidConfiguration) {
  const ProgramOutcome got =
      run({programPath("sluice"), "validate", "--config", SLUICE_SOURCE_DIR "/examples/traffic-policy"});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(TrafficPolicyExample, ShowsFailOverRetriesAndHealthChecksWithoutAFailedRequest) {
  const ExampleCopy example("traffic-policy", {"10480", "10443", "10444", "10401", "10402"});
  const ProgramOutcome got = run(example.command());
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  const std::size_t gone = got.output.find("2. ");
  const std::size_t unhealthy = got.output.find("3. ");
  const std::size_t back = got.output.find("4. ");
  ASSERT_TRUE(gone < unhealthy && unhealthy < back && back != std::string::npos) << got.output;
  const auto all = [](const std::string& provider) {
    return HasSubstr("20 requests reached the " + provider + "\n     20 answers with 200\n");
  };
  EXPECT_THAT(got.output.substr(0, gone), all("local"));
  EXPECT_THAT(got.output.substr(gone, unhealthy - gone), AllOf(all("provider"), HasSubstr(" of them after a retry\n")));
  EXPECT_THAT(got.output, Not(HasSubstr(" 0 of them after a retry")));
  EXPECT_THAT(got.output.substr(unhealthy, back - unhealthy),
              AllOf(HasSubstr("      the local is unhealthy\n"), HasSubstr("      the provider is healthy\n")));
  EXPECT_THAT(got.output.substr(back), all("local"));
  EXPECT_THAT(got.output, Not(HasSubstr("answers with 5")));
}

}  // namespace
}  // namespace sluice::test
