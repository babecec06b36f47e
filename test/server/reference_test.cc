// The user's reference must name every command, flag, page, event and thing that a request may wait for, and no
// others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "proxy/exchange/exchange_wait.h"
#include "proxy/server/page/page_files.h"
#include "test/support/reference_page.h"

namespace sluice::server {
namespace {

using testing::UnorderedElementsAreArray;

std::string sourceText(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the first group of each match, each once.
std::set<std::string> groupsIn(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> groups;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), regex); match != std::sregex_iterator(); ++match) {
    groups.insert((*match)[1].str());
  }
  return groups;
}

std::vector<std::string> listed(const std::string& page, const std::string& head) {
  return test::firstWords(test::pageTable(test::referencePage(page), head));
}

TEST(CommandsPage, HasEveryCommandAndFlag) {
  std::string source = sourceText(SLUICE_SOURCE_DIR "/proxy/server/cli.cc");
  for (const auto& each : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/proxy/server/command_line")) {
    if (each.path().string().ends_with("_flags.cc")) source += sourceText(each.path());
  }
  std::set<std::string> commands;
  for (const std::string& name : groupsIn(source, R"re(Command::k\w+,\s*"(\w+)")re")) commands.insert("sluice " + name);
  for (const std::string& name : groupsIn(source, R"re(app\.add_subcommand\("(\w+)")re"))
    commands.insert("sluice " + name);
  // A variable of cli.cc has the name of the command that it holds. One that needs a command below it does nothing
  // alone.
  for (const std::string& group : groupsIn(source, R"re((\w+)->add_subcommand\()re")) {
    for (const std::string& name : groupsIn(source, group + R"re(->add_subcommand\(\s*"(\w+)")re")) {
      commands.insert("sluice " + group + " " + name);
    }
  }
  for (const std::string& name : groupsIn(source, R"re((\w+)->require_subcommand\(1\))re")) {
    EXPECT_EQ(commands.erase("sluice " + name), 1u) << name;
  }
  EXPECT_THAT(listed("commands.md", "| command | what it does | exit code |"), UnorderedElementsAreArray(commands));
  EXPECT_THAT(listed("commands.md", "| flag | of | meaning |"),
              UnorderedElementsAreArray(groupsIn(source, R"re("(?:-\w,)?(--[a-z-]+)(?:,--[a-z-]+)?")re")));
}

TEST(AdminPage, HasEveryPageOfTheAdminAndHealthPorts) {
  const std::string source = sourceText(SLUICE_SOURCE_DIR "/proxy/server/process.cc");
  const auto rows = test::pageTable(test::referencePage("admin.md"), "| page | port | what it shows |");
  std::set<std::string> pages = groupsIn(source, R"re((?:Pages|Actions)_\["([^"]+)"\])re");
  std::set<std::string> files;
  for (const PageFile& file : pageFiles()) files.emplace(file.path);
  pages.insert(files.begin(), files.end());
  EXPECT_THAT(test::firstWords(rows), UnorderedElementsAreArray(pages));
  for (const test::PageRow& row : rows) {
    for (const std::string port : {"admin", "health"}) {
      const std::string name = test::quotedWords(row[0]).at(0);
      const bool served = std::regex_search(source, std::regex(port + R"re((?:Pages|Actions)_\[")re" + name + "\"")) ||
                          (port == "admin" && files.contains(name));
      EXPECT_EQ(row[1].find(port) != std::string::npos, served) << name << " at the " << port << " port";
    }
  }
}

TEST(AdminPage, HasEverythingThatRequestsWaitFor) {
  EXPECT_THAT(listed("admin.md", "| `waitingFor` | the request waits for |"),
              testing::ElementsAreArray(exchange::kWaitNames));
}

TEST(AdminPage, HasEveryEvent) {
  std::string sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SLUICE_SOURCE_DIR "/proxy")) {
    if (entry.path().extension() == ".cc" || entry.path().extension() == ".h") sources += sourceText(entry.path());
  }
  const std::vector<std::string> events = listed("admin.md", "| event | meaning |");
  std::set<std::string> told = groupsIn(sources, R"re(EventType::k\w+,\s*"(\w+)")re");
  // One of two events, by a condition.
  told.merge(groupsIn(sources, R"re(EventType::k\w+,\s*[^",;]*\? "(\w+)" : "\w+")re"));
  told.merge(groupsIn(sources, R"re(EventType::k\w+,\s*[^",;]*\? "\w+" : "(\w+)")re"));
  for (const std::string& event : told) EXPECT_THAT(events, testing::Contains(event));
  for (const std::string& event : events) {
    EXPECT_NE(sources.find("\"" + event + "\""), std::string::npos) << event << " does not exist";
  }
}

}  // namespace
}  // namespace sluice::server
