#include "proxy/routing/table/regex.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::routing {
namespace {

TEST(Regex, MatchesTheWholeText) {
  Regex::Room room;
  const auto made = Regex::compile("a.c", room);
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made->matches("abc"));
  EXPECT_FALSE(made->matches("xabc"));
  EXPECT_FALSE(made->matches("abcx"));
}

TEST(Regex, TellsWhyItIsRefused) {
  Regex::Room room;
  const auto made = Regex::compile("(", room);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().detail, "not a regular expression: missing ): (");
  EXPECT_EQ(room.left, Regex::kMostInstructions) << "an expression that is none takes no room";
  EXPECT_EQ(Regex::compile("^/(?!admin)", room).error().detail, "not a regular expression: RE2 has no look-ahead: (?!");
}

TEST(Regex, TakesRoomAsLargeAsItsProgram) {
  Regex::Room room;
  ASSERT_TRUE(Regex::compile("/v[0-9]+/users/[^/]+/orders", room).ok());
  const std::size_t taken = Regex::kMostInstructions - room.left;
  EXPECT_GT(taken, 10u);
  EXPECT_LT(taken, 100u);
  ASSERT_TRUE(Regex::compile("a{1000}", room).ok());
  EXPECT_LT(room.left, Regex::kMostInstructions - 1000);
}

TEST(Regex, RefusesOneThatIsTooLargeAndAllAfterIt) {
  Regex::Room room;
  std::string huge;
  for (int i = 0; i < 17; ++i) huge += "a{1000}";
  const auto made = Regex::compile(huge, room);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().detail.find("too large"), std::string::npos) << made.error().detail;
  EXPECT_FALSE(Regex::compile("a", room).ok());
  Regex::Room another;
  EXPECT_TRUE(Regex::compile("a", another).ok());
}

TEST(Regex, RefusesManyThatAreTooLargeTogether) {
  Regex::Room room;
  int taken = 0;
  while (taken < 1000 && Regex::compile("a{1000}", room).ok()) ++taken;
  EXPECT_EQ(taken, 16);
}

// An engine that backtracks would need ages for the texts that do not match: it tries every way to divide them.
TEST(Regex, IsLinearForPatternsThatOthersBacktrackIn) {
  const std::string text(50'000, 'a');
  for (const char* pattern :
       {"(a+)+b", "(a|a)*b", "(.*)*b", "(a|aa)+b", "([a-z]+)*b", "(a?){30}a{30}a*b", "(.*a){12}b", "^(([a-z])+.)+b$"}) {
    Regex::Room room;
    const auto made = Regex::compile(pattern, room);
    ASSERT_TRUE(made.ok()) << pattern;
    EXPECT_FALSE(made->matches(text)) << pattern;
    EXPECT_FALSE(made->matches(text + "!")) << pattern;
    EXPECT_TRUE(made->matches(text + "b")) << pattern;
  }
}

}  // namespace
}  // namespace sluice::routing
