// Tests that examples/processors runs the way its README tells a reader to run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kExampleFolder = SLUICE_SOURCE_DIR "/examples/processors";

TEST(ProcessorsExample, IsAValidConfiguration) {
  const ProgramOutcome got = run({programPath("sluice"), "validate", "--config", kExampleFolder});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

/// Copies the example, and the files of its neighbour that it needs, into a folder of the test's own, with free ports
/// in the place of the example's.
void copyWithFreePorts(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string root = fs::path(kExampleFolder).parent_path();
  fs::create_directories(folder + "/examples/quickstart");
  fs::copy(root + "/quickstart/origin", folder + "/examples/quickstart/origin");
  fs::copy(kExampleFolder, folder + "/examples/processors", fs::copy_options::recursive);
  std::string edits;
  for (const char* port : {"10180", "10543", "9911", "9912"}) {
    edits += std::string("s/\\b") + port + "\\b/" + std::to_string(freePort()) + "/g;";
  }
  const std::string copy = folder + "/examples/processors";
  EXPECT_EQ(run({"sed", "-i", edits, copy + "/backend.yaml", copy + "/gateway.yaml", copy + "/run.sh"}).exitCode, 0);
}

TEST(ProcessorsExample, ShowsInjectedFieldsAndRateLimits) {
  const std::string programs = std::filesystem::absolute(programPath("sluice")).parent_path();
  const TempDir folder;
  copyWithFreePorts(folder.path());
  const ProgramOutcome got =
      run({"env", "SLUICE_PROGRAMS=" + programs, "bash", folder.path() + "/examples/processors/run.sh"});
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"authorization: Bearer demo-only-key\""), 3U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"authorization: Bearer of-the-client\""), 0U) << got.output;
  EXPECT_EQ(countOf(got.output, "<- 200"), 7U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-tenant: a\""), 2U) << got.output;
  EXPECT_THAT(got.output, HasSubstr("<- 429, retry-after: 30\n      the gateway says: \"code\":\"rate_limited\""));
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-tenant: b\""), 1U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-backend: small-models\""), 1U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-gateway-model-name: large\""), 1U) << got.output;
}

}  // namespace
}  // namespace sluice::test
