// Each command that an example prints can be pasted into another shell, in any folder, while the example runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

/// An example, the ports that it uses, and the number of commands that it prints.
struct PrintingExample {
  const char* name;
  std::vector<std::string> ports;
  std::size_t commands;
};

class PastedCommands : public testing::TestWithParam<PrintingExample> {};

INSTANTIATE_TEST_SUITE_P(Examples, PastedCommands,
                         testing::Values(PrintingExample{"quickstart", {"10080", "10443", "9901", "9902"}, 5},
                                         PrintingExample{"processors", {"10180", "10543", "9911", "9912"}, 14},
                                         PrintingExample{
                                             "processors/ext-proc", {"10380", "10343", "10303", "10301", "10302"}, 5},
                                         PrintingExample{"rollback", {"10280", "10243", "10201", "10202"}, 8}),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::erase_if(name, [](char c) { return c == '/' || c == '-'; });
                           return name;
                         });

/// Returns the lines that are commands: they begin with a program.
std::vector<std::string> commandsIn(const std::string& output) {
  std::vector<std::string> commands;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || begin == 0) continue;
    const std::string program = line.substr(begin, line.find(' ', begin) - begin);
    if (program == "curl" || program.ends_with("/sluice")) commands.push_back(line);
  }
  return commands;
}

TEST_P(PastedCommands, RunInAnotherShell) {
  const ExampleCopy example(GetParam().name, GetParam().ports);
  std::vector<std::string> command = example.command();
  command.push_back("--keep");
  ChildProcess shell(command);
  ASSERT_TRUE(shell.waitForLine("Running until Ctrl-C")) << shell.output() << shell.errors();
  const std::size_t printed = GetParam().commands;
  std::vector<std::string> commands;
  EXPECT_TRUE(eventually([&] { return (commands = commandsIn(shell.output())).size() >= printed; })) << shell.output();
  EXPECT_EQ(commands.size(), printed) << shell.output();
  for (const std::string& each : commands) {
    const ProgramOutcome got = run({"bash", "-c", "cd / && set -u -o pipefail\n" + each + "\n"});
    EXPECT_EQ(got.exitCode, 0) << each << "\n" << got.output << got.errors;
    EXPECT_NE(got.output, "") << each;
  }
  shell.signal(SIGTERM);
  EXPECT_EQ(shell.wait(), 130) << shell.errors();
}

}  // namespace
}  // namespace sluice::test
