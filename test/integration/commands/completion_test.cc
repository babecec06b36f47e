// Completes command lines in real shells, by the scripts that the program prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> splitOutput(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> printedBy(const std::vector<std::string>& argv) {
  const ProgramOutcome outcome = run(argv);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  return splitOutput(outcome.output);
}

/// Returns the completions that bash offers for the last of the words.
std::vector<std::string> bashOffers(const std::string& words) {
  return printedBy({"bash", "-c",
                    "source <(" + programPath("sluice") + " completion bash)\nCOMP_WORDS=(" + words +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_sluice\n"
                        "if ((${#COMPREPLY[@]})); then printf '%s\\n' \"${COMPREPLY[@]}\"; fi"});
}

/// Returns the completions that fish offers for the end of the line, without their descriptions.
std::vector<std::string> fishOffers(const std::string& line) {
  std::vector<std::string> offers = printedBy(
      {"fish", "--no-config", "-c", programPath("sluice") + " completion fish | source; complete -C '" + line + "'"});
  for (std::string& offer : offers) offer = offer.substr(0, offer.find('\t'));
  return offers;
}

TEST(Completion, WorksInBash) {
  const TempDir folder;
  const std::string file = folder.write("gateway.yaml", "");
  EXPECT_THAT(bashOffers("sluice val"), ElementsAre("validate"));
  EXPECT_THAT(bashOffers("sluice run --state"), ElementsAre("--state-dir"));
  EXPECT_THAT(bashOffers("sluice run --log-level ''"), ElementsAre("trace", "debug", "info", "warn", "error", "off"));
  EXPECT_THAT(bashOffers("sluice run --log-level = de"), ElementsAre("debug")) << "bash divides --log-level=de";
  EXPECT_THAT(bashOffers("sluice run --config " + folder.path() + "/g"), ElementsAre(file));
  EXPECT_THAT(bashOffers("sluice run --admin ''"), IsEmpty());
  EXPECT_THAT(bashOffers("sluice revisions cl"), ElementsAre("clear"));
  EXPECT_THAT(bashOffers("sluice revisions clear --a"), ElementsAre("--admin"));
  EXPECT_THAT(bashOffers("sluice revisions clear ''"), IsEmpty());
  EXPECT_THAT(bashOffers("sluice check ''"), testing::Contains("egress"));
  EXPECT_THAT(bashOffers("sluice check egress --ta"), ElementsAre("--target"));
  EXPECT_THAT(bashOffers("sluice diff " + file + " " + folder.path() + "/g"), ElementsAre(file));
  EXPECT_THAT(bashOffers("sluice completion ''"), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(bashOffers("sluice explain --method run --re"), ElementsAre("--resolve")) << "run is no command here";
}

TEST(Completion, WorksInFish) {
  const TempDir folder;
  const std::string file = folder.write("gateway.yaml", "");
  EXPECT_THAT(fishOffers("sluice val"), ElementsAre("validate"));
  EXPECT_THAT(fishOffers("sluice run --state"), ElementsAre("--state-dir"));
  EXPECT_THAT(fishOffers("sluice run --log-level "),
              UnorderedElementsAre("trace", "debug", "info", "warn", "error", "off"));
  EXPECT_THAT(fishOffers("sluice run --config " + folder.path() + "/g"), ElementsAre(file));
  EXPECT_THAT(fishOffers("sluice run --admin "), IsEmpty());
  EXPECT_THAT(fishOffers("sluice revisions cl"), ElementsAre("clear"));
  EXPECT_THAT(fishOffers("sluice revisions clear --a"), ElementsAre("--admin"));
  EXPECT_THAT(fishOffers("sluice diff " + file + " " + folder.path() + "/g"), ElementsAre(file));
  EXPECT_THAT(fishOffers("sluice completion "), UnorderedElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(fishOffers("sluice explain --method run --re"), ElementsAre("--resolve"));
}

TEST(Completion, WorksInZsh) {
  const TempDir folder;
  const std::string file = folder.write("gateway.yaml", "");
  const std::string begun = folder.path() + "/g";
  EXPECT_THAT(
      printedBy({"zsh", "-f", SLUICE_SOURCE_DIR "/test/integration/commands/complete.zsh", programPath("sluice"),
                 "sluice val", "sluice run --state", "sluice run --log-level de", "sluice run --log-level=de",
                 "sluice run --config " + begun, "sluice run --config " + file + " --wor", "sluice revisions cl",
                 "sluice revisions --admin 127.0.0.1:1 cl", "sluice revisions clear --a",
                 "sluice diff " + file + " " + begun, "sluice completion f", "sluice explain --method run --re"}),
      ElementsAre("sluice validate ", "sluice run --state-dir=", "sluice run --log-level debug ",
                  "sluice run --log-level=debug ", "sluice run --config " + file + " ",
                  "sluice run --config " + file + " --workers=", "sluice revisions clear ",
                  "sluice revisions --admin 127.0.0.1:1 clear ",
                  "sluice revisions clear --admin=", "sluice diff " + file + " " + file + " ",
                  "sluice completion fish ", "sluice explain --method run --resolve "));
}

}  // namespace
}  // namespace sluice::test
