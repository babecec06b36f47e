#include "proxy/base/cache.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::base {
namespace {

/// Spells numbers, and counts how often it had to.
class CacheTest : public ::testing::Test {
 protected:
  std::string spell(std::string_view key, int number) {
    const auto holds = [number](const Spelt& spelt) { return spelt.number == number; };
    return cache_.get(key, holds, [&] { return make(number); }).text;
  }

  struct Spelt {
    int number;
    std::string text;
  };
  Spelt make(int number) {
    ++made_;
    return {number, std::to_string(number)};
  }

  Cache<std::string, Spelt> cache_;
  int made_ = 0;
};

TEST_F(CacheTest, DoesNotMakeAnEqualValueTwice) {
  EXPECT_EQ(spell("a", 1), "1");
  EXPECT_EQ(spell("a", 1), "1");
  cache_.sweep();
  EXPECT_EQ(spell("a", 1), "1");
  EXPECT_EQ(made_, 1);
}

TEST_F(CacheTest, RemakesAValueThatIsOutdated) {
  EXPECT_EQ(spell("a", 1), "1");
  EXPECT_EQ(spell("a", 2), "2");
  EXPECT_EQ(spell("a", 1), "1") << "only the last one is kept";
  EXPECT_EQ(made_, 3);
}

TEST_F(CacheTest, KeepsAValueForEachKey) {
  EXPECT_EQ(spell("a", 1), "1");
  EXPECT_EQ(spell("b", 1), "1");
  EXPECT_EQ(made_, 2);
}

TEST_F(CacheTest, FindsEachValueInWhateverOrderItIsAskedFor) {
  for (const std::string key : {"a", "b", "c", "d"}) spell(key, key.front());
  for (const std::string key : {"a", "b", "d", "c", "bb", "c", "d", "a"}) {
    EXPECT_EQ(spell(key, key.front()), std::to_string(int{key.front()})) << key;
  }
  EXPECT_EQ(made_, 5);
}

TEST_F(CacheTest, IsIndependentOfItsCopy) {
  spell("a", 1);
  spell("b", 2);
  spell("a", 1);
  auto copy = cache_;
  cache_ = {};
  EXPECT_EQ(copy.get("b", [] { return Spelt(); }).text, "2");
  EXPECT_EQ(spell("b", 3), "3");
  EXPECT_EQ(copy.get("b", [] { return Spelt(); }).text, "2");
}

TEST_F(CacheTest, DropsValuesThatARoundDidNotAskFor) {
  spell("a", 1);
  spell("b", 2);
  cache_.sweep();
  spell("b", 2);
  cache_.sweep();
  EXPECT_EQ(made_, 2);
  spell("b", 2);
  EXPECT_EQ(made_, 2) << "it was asked for in each round";
  spell("a", 1);
  EXPECT_EQ(made_, 3);
}

TEST_F(CacheTest, KeepsAValueByItsKeyAlone) {
  EXPECT_EQ(cache_.get("a", [this] { return make(1); }).text, "1");
  EXPECT_EQ(cache_.get("a", [this] { return make(2); }).text, "1");
  EXPECT_EQ(made_, 1);
}

TEST_F(CacheTest, DoesNotMoveItsValues) {
  const auto one = [this] { return make(1); };
  const Spelt& first = cache_.get("a", one);
  for (char key = 'b'; key <= 'z'; ++key) cache_.get(std::string(1, key), one);
  EXPECT_EQ(&cache_.get("a", one), &first);
}

}  // namespace
}  // namespace sluice::base
