// Each example runs as its reader would run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "test/integration/support/gateway.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kQuickstart = SLUICE_SOURCE_DIR "/examples/quickstart";

TEST(Quickstart, IsAValidConfiguration) {
  const Outcome got = run({programPath("sluice"), "validate", "--config", kQuickstart});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(Quickstart, AMisspeltFieldIsNamedByFileLineAndField) {
  const TempDir folder;
  for (const auto& entry : std::filesystem::directory_iterator(kQuickstart)) {
    if (entry.path().extension() == ".yaml") std::filesystem::copy(entry.path(), folder.path());
  }
  const std::string path = folder.path() + "/backend.yaml";
  std::ifstream in(path);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t at = text.find("hostname:");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 9, "hostnaem:");
  folder.write("backend.yaml", text);
  const auto lineNumber = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const Outcome got = run({programPath("sluice"), "validate", "--config", folder.path()});
  EXPECT_EQ(got.exitCode, 1);
  EXPECT_THAT(got.output + got.errors, HasSubstr("backend.yaml:" + std::to_string(lineNumber)));
  EXPECT_THAT(got.output + got.errors, HasSubstr("hostnaem"));
}

TEST(Quickstart, RunsAndSaysWhatTheOriginSawInUnder25Lines) {
  if (!std::filesystem::exists(SLUICE_SOURCE_DIR "/build/release/sluice"))
    GTEST_SKIP() << "build the preset release first";
  const Outcome got = run({"bash", std::string(kQuickstart) + "/run.sh"}, std::chrono::seconds(110));
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_LT(std::count(got.output.begin(), got.output.end(), '\n'), 25);
  EXPECT_THAT(got.output, HasSubstr("<- 200, HTTP/1.1"));
  EXPECT_THAT(got.output, HasSubstr("<- 200, HTTP/2"));
  EXPECT_THAT(got.output, HasSubstr("\"sni\": \"origin.example.test\""));
}

}  // namespace
}  // namespace sluice::test
