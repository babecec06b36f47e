// Tests the message for a word that is no command or option, and its suggestion.
#include "proxy/server/command_line/mistake.h"

#include <gtest/gtest.h>

#include "test/server/parsed_arguments.h"

namespace sluice::server {
namespace {

std::string refusal(const std::vector<const char*>& arguments) {
  const ParsedArguments parsed = parse(arguments);
  EXPECT_EQ(parsed.line.exitCode, 2);
  EXPECT_EQ(parsed.out, "");
  return parsed.err;
}

TEST(Mistake, AtAnArgumentThatHasAFlagTooNamesTheFlag) {
  EXPECT_EQ(
      refusal({"validate", "--confg", "a"}),
      "error: there is no option --confg of 'sluice validate'; did you mean --config?\ntry 'sluice validate --help'\n");
}

TEST(Mistake, NamesAnUnknownCommandAndTheNearestThatExists) {
  EXPECT_EQ(refusal({"vaildate"}),
            "error: there is no command 'vaildate'; did you mean 'validate'?\ntry 'sluice --help'\n");
  EXPECT_EQ(refusal({"revisions", "claer"}),
            "error: there is no command 'claer' of 'sluice revisions'; did you mean 'clear'?\n"
            "try 'sluice revisions --help'\n");
  EXPECT_EQ(refusal({"revisions", "drop"}),
            "error: there is no command 'drop' of 'sluice revisions', only clear or rollback\ntry 'sluice revisions "
            "--help'\n");
}

TEST(Mistake, NamesAnUnknownOptionAndTheNearestThatExists) {
  const std::string expected =
      "error: there is no option --worker of 'sluice run'; did you mean --workers?\ntry 'sluice run --help'\n";
  EXPECT_EQ(refusal({"run", "--worker", "2"}), expected);
  EXPECT_EQ(refusal({"run", "--worker=2"}), expected);
  EXPECT_EQ(refusal({"run", "--config", "a", "--worker", "2"}), expected);
  EXPECT_EQ(refusal({"revisions", "clear", "--amdin", "1", "a"}),
            "error: there is no option --amdin of 'sluice revisions clear'; did you mean --admin?\n"
            "try 'sluice revisions clear --help'\n");
  EXPECT_EQ(refusal({"--versoin"}),
            "error: there is no option --versoin of 'sluice'; did you mean --version?\ntry 'sluice --help'\n");
}

TEST(Mistake, SuggestsNothingThatIsFarAway) {
  EXPECT_EQ(refusal({"run", "--nonsense"}),
            "error: there is no option --nonsense of 'sluice run'\ntry 'sluice run --help'\n");
}

TEST(Mistake, NamesAWordThatNoCommandTakes) {
  EXPECT_EQ(refusal({"run", "validate", "--config", "a"}),
            "error: 'sluice run' takes no argument 'validate'\ntry 'sluice run --help'\n");
}

TEST(Mistake, ComesBeforeWhateverElseIsWrong) {
  EXPECT_EQ(refusal({"run", "--admn", "nonsense", "--workers", "many"}),
            "error: there is no option --admn of 'sluice run'; did you mean --admin?\ntry 'sluice run --help'\n");
}

TEST(Mistake, ListsTheCommandsIfThereIsNone) {
  EXPECT_TRUE(refusal({}).starts_with("error: a command is missing: run, controller, validate, "));
}

}  // namespace
}  // namespace sluice::server
