// The subject of a commit fits into the 72 characters that tools show of it. Commits that are older than this rule are
// left as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "test/architecture/command.h"
#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;

constexpr std::ptrdiff_t kMostCharacters = 72;

/// Returns the lines of more than kMostCharacters characters of UTF-8.
std::vector<std::string> longSubjects(std::string_view subjects) {
  std::vector<std::string> found;
  for (const std::string_view subject : splitLines(subjects)) {
    const auto characters = std::count_if(subject.begin(), subject.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // not a byte that continues a character
    });
    if (characters > kMostCharacters) found.emplace_back(subject);
  }
  return found;
}

/// Runs git on the repository of the tree itself, not on one that the tree may lie in.
std::string git(const std::string& arguments) {
  return outputOf("GIT_CEILING_DIRECTORIES=\"${PWD%/*}\" git " + arguments + " 2>/dev/null");
}

TEST(Commits, HaveSubjectsThatFit72Characters) {
  if (git("rev-parse HEAD").empty()) GTEST_SKIP() << "there are no commits here: the tree was not checked out by git";
  const std::string added = git("log --diff-filter=A --format=%H -- test/architecture/commits_test.cc");
  if (added.empty()) GTEST_SKIP() << "this rule is not committed yet";
  const std::string first = added.substr(0, added.find('\n'));
  const std::string subjects = git("log --format=%s HEAD --not " + first + "^@");
  ASSERT_NE(subjects, "");
  const std::vector<std::string> found = longSubjects(subjects);
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Commits, AreCountedInCharacters) {
  const std::string fits(72, 'a');
  std::string accented = fits;
  accented.replace(0, 1, "\xc3\xa9");
  EXPECT_THAT(longSubjects(fits + "\n" + accented + "\n" + fits + "b\nshort\n"), ElementsAre(fits + "b"));
}

}  // namespace
}  // namespace sluice::test
