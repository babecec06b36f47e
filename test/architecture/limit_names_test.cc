// Callers name the limits that they count. Each of these names must be in the list from which metrics start at zero,
// and so must each limit and timeout of settings.yaml that can be hit.
#include "proxy/observe/limit_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "proxy/http/limits.h"
#include "test/architecture/tree.h"
#include "test/support/reference_page.h"

namespace sluice::test {
namespace {

bool isListed(std::string_view name) {
  return std::find(observe::kLimitNames.begin(), observe::kLimitNames.end(), name) != observe::kLimitNames.end();
}

TEST(LimitNames, AreAllListed) {
  const std::regex named(R"x((?:onLimit|ofLimit|onTimeout|timedOut|kLimitHits>)\(\s*"([A-Za-z]+)")x");
  std::set<std::string> told;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct()) continue;
    for (std::sregex_iterator at(file.text.begin(), file.text.end(), named), end; at != end; ++at) {
      told.insert((*at)[1]);
    }
  }
  EXPECT_GT(told.size(), 20U);
  for (const std::string& name : told) EXPECT_TRUE(isListed(name)) << name;
  for (int i = 0; i <= static_cast<int>(http::Limit::kControlFramesPerMinute); ++i) {
    EXPECT_TRUE(isListed(http::limitName(static_cast<http::Limit>(i))));
  }
}

/// Returns the keys of a section of settings.yaml in the reference ("limits:").
std::vector<std::string> keysOf(const std::string& section) {
  std::istringstream lines(yamlBlocks(referencePage("settings.md")).at(0));
  std::string line;
  while (std::getline(lines, line) && line != section) continue;
  std::vector<std::string> keys;
  while (std::getline(lines, line) && line.starts_with(' ')) {
    const std::size_t colon = line.find(':');
    const bool isKey = line[2] != ' ' && line[2] != '#' && colon != std::string::npos;
    if (isKey) keys.push_back(line.substr(2, colon - 2));
  }
  return keys;
}

/// Returns the limits that have no counter, by the sentences of the reference behind the name of the metric.
TEST(LimitNames, HaveEveryLimitAndTimeoutOfTheSettings) {
  const std::string page = referencePage("settings.md");
  const std::size_t begin = page.find("- `sluice_limit_hits_total");
  ASSERT_NE(begin, std::string::npos);
  const std::vector<std::string> exempt = quotedWords(page.substr(begin, page.find("\n- ", begin) - begin));
  std::vector<std::string> missing;
  for (const char* section : {"timeouts:", "limits:"}) {
    const std::vector<std::string> keys = keysOf(section);
    EXPECT_GT(keys.size(), 10U) << section;
    for (const std::string& key : keys) {
      if (!isListed(key)) missing.push_back(key);
    }
  }
  EXPECT_THAT(missing,
              testing::UnorderedElementsAre("streamWindow", "connectionWindow", "responseRate", "processorContext",
                                            "luaScriptBytes", "matches", "configBytes", "references"));
  for (const std::string& key : missing) EXPECT_THAT(exempt, testing::Contains(key));
}

}  // namespace
}  // namespace sluice::test
