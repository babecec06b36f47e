#include "proxy/server/commands/version_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/server/commands/build_facts.h"
#include "test/server/parsed_arguments.h"

namespace sluice::server {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

TEST(VersionCommand, TellsEveryLibraryWithItsVersion) {
  const auto document = content::parseJson(content::outputJson(versionOutput().value));
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->find("version")->text, SLUICE_VERSION);
  EXPECT_EQ(document->find("commit")->text, buildCommit());
  EXPECT_EQ(document->find("buildType")->text, buildType());
  EXPECT_THAT(document->find("compiler")->text, MatchesRegex("(GCC|.*[Cc]lang) [0-9]+\\..*"));
  std::vector<std::string> names;
  for (const content::Value& library : document->find("libraries")->items) {
    names.push_back(library.find("name")->text);
    EXPECT_THAT(library.find("version")->text, MatchesRegex("[0-9]+(\\.[0-9]+)*.*")) << names.back();
    EXPECT_NE(library.find("version")->text, "0.0.0") << names.back();
  }
  for (const char* name : {"glibc", "libuv", "c-ares", "OpenSSL", "libxcrypt", "nghttp2", "yaml-cpp", "RE2", "zlib",
                           "brotli", "zstd", "spdlog", "CLI11"}) {
    EXPECT_THAT(names, testing::Contains(name));
  }
}

TEST(VersionCommand, TellsTheSameToPeople) {
  const std::string text = versionOutput().text;
  EXPECT_THAT(text, StartsWith("PART"));
  EXPECT_THAT(text, HasSubstr("\nnghttp2 "));
  EXPECT_THAT(text, HasSubstr(std::string(buildCommit())));
}

TEST(VersionCommand, TakesAFormat) {
  const ParsedArguments parsed = parse({"version", "-o", "yaml"});
  ASSERT_TRUE(parsed.line.options);
  EXPECT_EQ(parsed.line.options->command, Command::kVersion);
  EXPECT_EQ(parsed.line.options->output, OutputFormat::kYaml);
}

}  // namespace
}  // namespace sluice::server
