// Shows the manual page with a real roff, and installs the program with all that belongs to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

TEST(Manual, IsShownWithoutAWarning) {
  const TempDir folder;
  const std::string page = folder.write("sluice.1", sluice({"man"}).output);
  // -c: bold text is bold by escapes, which -P-b and -P-u leave out, and not by letters that are written twice.
  const ProgramOutcome shown = run({"groff", "-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", page});
  EXPECT_EQ(shown.exitCode, 0);
  EXPECT_EQ(shown.errors, "");
  EXPECT_THAT(shown.output, HasSubstr("\n       sluice - an egress gateway\n"));
  EXPECT_THAT(shown.output, HasSubstr("\n   sluice revisions clear [OPTIONS] HASH\n"));
  EXPECT_THAT(shown.output, HasSubstr("\n       --print-config\n"));
  EXPECT_THAT(shown.output,
              HasSubstr("\n           sluice run --listen 127.0.0.1:8080 --to https://api.example.com\n"));
}

TEST(Installation, HasTheProgramItsManualAndItsCompletions) {
  const TempDir folder;
  const std::string build = std::filesystem::path(programPath("sluice")).parent_path();
  const ProgramOutcome installed = run({"cmake", "--install", build, "--prefix", folder.path()});
  ASSERT_EQ(installed.exitCode, 0) << installed.errors;
  EXPECT_EQ(run({folder.path() + "/bin/sluice", "--version"}).output, sluice({"--version"}).output);
  const std::string share = folder.path() + "/share/";
  EXPECT_EQ(readFile(share + "man/man1/sluice.1"), sluice({"man"}).output);
  EXPECT_EQ(readFile(share + "bash-completion/completions/sluice"), sluice({"completion", "bash"}).output);
  EXPECT_EQ(readFile(share + "zsh/site-functions/_sluice"), sluice({"completion", "zsh"}).output);
  EXPECT_EQ(readFile(share + "fish/vendor_completions.d/sluice.fish"), sluice({"completion", "fish"}).output);
}

}  // namespace
}  // namespace sluice::test
