// Callers name the limits that they count. Each of these names must be in the list from which metrics start at zero.
#include "proxy/observe/limit_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "proxy/http/limits.h"
#include "test/architecture/tree.h"

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

}  // namespace
}  // namespace sluice::test
