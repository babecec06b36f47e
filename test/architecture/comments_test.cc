// Comments are whole sentences in plain words.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

/// Returns whether the comment opens with a word that leaves the reader to guess the subject.
bool isFragment(const std::string& comment) {
  static const std::regex kOpening(R"((Of|Those|Whose|What|Who|The same|Likewise)\b.*)");
  return std::regex_match(comment, kOpening);
}

TEST(Comments, OpenWithTheirSubject) {
  std::size_t count = 0;
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isCpp()) continue;
    for (const Comment& comment : commentsOf(file.text)) {
      ++count;
      if (!isFragment(comment.text)) continue;
      findings.push_back(file.path + ":" + std::to_string(comment.line) + ": " + comment.text.substr(0, 80));
    }
  }
  ASSERT_GT(count, 1000u);
  EXPECT_LE(findings.size() * 100, count) << "more than 1 % of " << count << " comments:" << listed(findings);
}

TEST(Comments, AndMessagesSayCannotInOneWord) {
  const std::string apart = std::string("can") + " not";
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    const std::size_t at = file.text.find(apart);
    if (at == std::string::npos) continue;
    const auto line = 1 + std::count(file.text.begin(), file.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    findings.push_back(file.path + ":" + std::to_string(line));
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Comments, AreFragmentsIfTheyOpenWithoutASubject) {
  EXPECT_TRUE(isFragment("Of the last attempt."));
  EXPECT_TRUE(isFragment("The same for responses."));
  EXPECT_TRUE(isFragment("Whose turn it is."));
  EXPECT_FALSE(isFragment("Whatever follows is read later."));
  EXPECT_FALSE(isFragment("The samer of two."));
  EXPECT_FALSE(isFragment("Returns what is left."));
  EXPECT_FALSE(isFragment(""));
}

}  // namespace
}  // namespace sluice::test
