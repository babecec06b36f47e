// Tests closestWord() against the plain form of the distance that it computes in part.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/text.h"

namespace sluice::base {
namespace {

/// The optimal string alignment distance, all of it.
std::size_t wholeDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cells(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cells[i][j] = i + j;
        continue;
      }
      const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      cells[i][j] = std::min({cells[i - 1][j] + 1, cells[i][j - 1] + 1, cells[i - 1][j - 1] + differs});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cells[i][j] = std::min(cells[i][j], cells[i - 2][j - 2] + 1);
    }
  }
  return cells[a.size()][b.size()];
}

bool isClose(const std::string& word, std::string_view candidate) {
  const std::string_view candidates[] = {candidate};
  return !closestWord(word, candidates).empty();
}

TEST(ClosestWord, IsOneWithFewTypingErrors) {
  std::mt19937 random(7);
  const auto letter = [&] { return static_cast<char>('a' + random() % 3); };
  std::size_t close = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string word;
    for (std::size_t i = random() % 12; i > 0; --i) word += letter();
    std::string other = word;
    for (std::size_t edits = random() % 5; edits > 0; --edits) {
      const std::size_t at = other.empty() ? 0 : random() % other.size();
      switch (random() % 4) {
        case 0:
          other.insert(at, 1, letter());
          break;
        case 1:
          if (!other.empty()) other.erase(at, 1);
          break;
        case 2:
          if (!other.empty()) other[at] = letter();
          break;
        default:
          if (at + 1 < other.size()) std::swap(other[at], other[at + 1]);
      }
    }
    const std::size_t limit = word.size() <= 1 ? 0 : word.size() <= 3 ? 1 : 2;
    const bool expected = wholeDistance(word, other) <= limit && !other.empty();
    close += expected ? 1 : 0;
    ASSERT_EQ(isClose(word, other), expected) << word << " " << other;
  }
  EXPECT_GT(close, 1000u);
}

TEST(ClosestWord, HasABoundOnItsLength) {
  const std::string longest(64, 'a');
  EXPECT_TRUE(isClose(longest, longest + "bb"));
  EXPECT_TRUE(isClose(longest, longest.substr(2)));
  EXPECT_FALSE(isClose(longest, longest + "bbb"));
  EXPECT_FALSE(isClose(longest + "a", longest));
}

TEST(ClosestWord, IsTheFirstOfTheNearest) {
  const std::string_view candidates[] = {"worker", "workers", "Workers", "wrkers"};
  EXPECT_EQ(closestWord("workers", candidates), "workers");
  EXPECT_EQ(closestWord("wrokers", candidates), "workers");
  EXPECT_EQ(closestWord("nothing", candidates), "");
}

}  // namespace
}  // namespace sluice::base
