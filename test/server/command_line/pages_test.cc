// The pages that are made of the command line's table: completions for shells, and the manual.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/server/command_line/command_shape.h"
#include "proxy/server/command_line/completion.h"
#include "proxy/server/command_line/help_text.h"
#include "proxy/server/command_line/manual_page.h"
#include "test/server/parsed_arguments.h"
#include "test/support/reference_page.h"

namespace sluice::server {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string pageOf(std::vector<const char*> arguments) {
  const ParsedArguments parsed = parse(std::move(arguments));
  EXPECT_EQ(parsed.line.exitCode, 0);
  EXPECT_EQ(parsed.err, "");
  EXPECT_FALSE(parsed.line.options);
  return parsed.out;
}

/// A program whose texts contain special characters of shells and roff.
CommandShape strangeProgram() {
  const ArgumentShape it{{"-i", "--it's"}, "it's [a] `text`: \\x, ${y}; and more", "NAME: 'x'", false, true};
  const CommandShape command{"sluice go", "go", "don't: $(stop)", "", {it}, {{{"WHERE"}, "-here", "", true, false}},
                             {}};
  return {"sluice", "sluice", ".the 'whole'", "", {}, {}, {command}};
}

TEST(TablePages, NameEveryFlagAndCommandOfTheReference) {
  const std::string page = test::referencePage("commands.md");
  const std::string bash = pageOf({"completion", "bash"});
  const std::string zsh = pageOf({"completion", "zsh"});
  const std::string fish = pageOf({"completion", "fish"});
  const std::string manual = pageOf({"man"});
  for (const std::string& flag : test::firstWords(test::pageTable(page, "| flag | of | meaning |"))) {
    std::string roff;
    for (const char c : flag) roff += c == '-' ? "\\-" : std::string(1, c);
    EXPECT_THAT(bash, HasSubstr(flag));
    EXPECT_THAT(zsh, HasSubstr(flag));
    EXPECT_THAT(fish, HasSubstr("-l " + flag.substr(2) + " "));
    EXPECT_THAT(manual, HasSubstr("\\fB" + roff + "\\fR"));
  }
  for (const std::string& command : test::firstWords(test::pageTable(page, "| command | what it does | exit code |"))) {
    for (const std::string* script : {&bash, &zsh, &fish}) EXPECT_THAT(*script, HasSubstr("'" + command + "'"));
    EXPECT_THAT(manual, HasSubstr(".SS \"" + command));
  }
}

TEST(TablePages, QuoteTextsForShells) {
  EXPECT_THAT(bashCompletion(strangeProgram()), HasSubstr(R"('sluice go -i'|'sluice go --it'\''s')"));
  const std::string zsh = zshCompletion(strangeProgram());
  EXPECT_THAT(zsh, HasSubstr(R"('go:don'\''t: $(stop)')"));
  EXPECT_THAT(zsh, HasSubstr(R"('*--it'\''s=[it'\''s \[a\] `text`\: \\x, ${y}]:NAME\: '\''x'\'':')"));
  EXPECT_THAT(zsh, HasSubstr("':WHERE:()'"));
  const std::string fish = fishCompletion(strangeProgram());
  EXPECT_THAT(fish, HasSubstr(R"(-a go -d 'don\'t: $(stop)')"));
  EXPECT_THAT(fish, HasSubstr(R"(-d 'it\'s [a] `text`: \\x, ${y}')"));
}

TEST(TablePages, QuoteTextsForRoff) {
  const HelpSection sections[] = {{"Notes", "One.\n  an example\n  .another\nTwo."}};
  const std::string page = manualPage(strangeProgram(), sections);
  EXPECT_THAT(page, HasSubstr(".SH DESCRIPTION\n\\&.the \\(aqwhole\\(aq\n"));
  EXPECT_THAT(page, HasSubstr(".SS \"sluice go [\\fIOPTIONS\\fP] \\fIWHERE\\fP\"\ndon\\(aqt: $(stop)\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fIWHERE\\fR\n\\-here\n"));
  EXPECT_THAT(page, HasSubstr("\\fINAME: \\(aqx\\(aq\\fR\nit\\(aqs [a] \\(gatext\\(ga: \\ex, ${y}; and more\n"));
  EXPECT_THAT(page, HasSubstr(".SH \"NOTES\"\nOne.\n.PP\n.nf\n.RS 4\nan example\n\\&.another\n.RE\n.fi\n.PP\nTwo.\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n.PP\n.PP")));
}

TEST(HelpText, IsBrokenAtBlanks) {
  EXPECT_EQ(wrapped("one two three", 0, 7), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 2, 7), "  one\n  two\n  three\n");
  EXPECT_EQ(wrapped("enormous words", 0, 4), "enormous\nwords\n");
  EXPECT_EQ(wrapped("one two\n\n  as it is\nthree", 0, 3), "one\ntwo\n\n  as it is\nthree\n");
  EXPECT_EQ(wrapped("", 2), "");
}

TEST(HelpText, FitsIntoATerminal) {
  const std::vector<std::vector<const char*>> kCommands = {{"run"}, {"explain"}, {"diff"}, {"check", "egress"}};
  for (std::vector<const char*> command : kCommands) {
    command.push_back("--help");
    std::istringstream lines(pageOf(command));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kHelpWidth) << line;
  }
}

}  // namespace
}  // namespace sluice::server
