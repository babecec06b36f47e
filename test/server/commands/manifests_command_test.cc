#include "proxy/server/commands/manifests_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "test/server/parsed_arguments.h"

namespace sluice::server {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns the files of a kustomization, as kubectl reads them, one behind the other.
std::string kustomizationText(const std::filesystem::path& folder) {
  std::ifstream lines(folder / "kustomization.yaml");
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  - ")) continue;
    const std::filesystem::path resource = folder / line.substr(4);
    std::ifstream file(resource);
    text += (text.empty() ? "" : "---\n") + (std::filesystem::is_directory(resource)
                                                 ? kustomizationText(resource)
                                                 : std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return text;
}

std::size_t occurrencesOf(const std::string& word, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(ManifestsCommand, PrintsTheFilesOfTheKustomization) {
  const std::string text = manifestsText({});
  EXPECT_EQ(text, kustomizationText(SLUICE_SOURCE_DIR "/config/kustomize/default"));
  EXPECT_THAT(text, HasSubstr("\nkind: CustomResourceDefinition\n"));
  EXPECT_THAT(text, HasSubstr("\n          image: sluice:" SLUICE_VERSION "\n"));
}

TEST(ManifestsCommand, PutsAnotherNamespaceEverywhere) {
  const std::string text = manifestsText({"egress-ops", ""});
  EXPECT_THAT(text, Not(HasSubstr("sluice-system")));
  EXPECT_EQ(occurrencesOf("egress-ops", text), occurrencesOf("sluice-system", manifestsText({})));
  EXPECT_EQ(occurrencesOf("sluice:" SLUICE_VERSION, text), 2u);
}

TEST(ManifestsCommand, PutsAnotherImageIntoThePodsOfTheControllerAndOfGateways) {
  const std::string text = manifestsText({"egress-ops", "registry.example.com/sluice-system/sluice:2"});
  EXPECT_EQ(occurrencesOf("image: registry.example.com/sluice-system/sluice:2\n", text), 1u);
  EXPECT_EQ(occurrencesOf("--image, \"registry.example.com/sluice-system/sluice:2\"]\n", text), 1u);
  EXPECT_THAT(text, Not(HasSubstr("sluice:" SLUICE_VERSION)));
  EXPECT_EQ(occurrencesOf("sluice-system", text), 2u);
}

TEST(ManifestsCommand, TakesANamespaceAndAnImage) {
  const ParsedArguments parsed = parse({"manifests", "--namespace", "ops", "--image", "a.example/b@sha256:0"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  EXPECT_EQ(parsed.line.options->command, Command::kManifests);
  EXPECT_EQ(parsed.line.options->manifests.nameSpace, "ops");
  EXPECT_EQ(parsed.line.options->manifests.image, "a.example/b@sha256:0");
  EXPECT_EQ(parse({"manifests", "--namespace", "No"}).line.exitCode, 2);
  EXPECT_EQ(parse({"manifests", "--image", "a\nb"}).line.exitCode, 2);
  EXPECT_EQ(parse({"manifests", "--image", "a #b"}).line.exitCode, 2);
  EXPECT_EQ(parse({"manifests", "--image", ""}).line.exitCode, 2);
}

}  // namespace
}  // namespace sluice::server
