#include "proxy/content/schema/pattern_spelling.h"

#include <gtest/gtest.h>

#include "test/content/schema/schema_judge.h"

namespace sluice::content {
namespace {

TEST(PatternSpelling, ChangesWhatRe2SpellsDifferently) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"^a+$", "^a+$"},
      {R"(\u00fc\u{1F600})", R"(\x{00fc}\x{1F600})"},
      {R"([\u0041-\u005A])", R"([\x{0041}-\x{005A}])"},
      {R"(^\p{Letter}\P{Decimal_Number}$)", R"(^\p{L}\P{Nd}$)"},
      {R"(\p{Lu}\pL\p{Greek})", R"(\p{Lu}\pL\p{Greek})"},
      {R"(\\u0041\\p{Letter})", R"(\\u0041\\p{Letter})"},
      {R"(\u12\u{}\u{x}\p{Nothing}\p{Letter)", R"(\u12\u{}\u{x}\p{Nothing}\p{Letter)"},
      {R"(\d\.\/)", R"(\d\.\/)"},
      {"a\\", "a\\"},
      {R"(\u)", R"(\u)"},
  };
  for (const auto& [pattern, spelled] : cases) EXPECT_EQ(spelledForRe2(pattern), spelled);
}

TEST(PatternSpelling, IsThatOfSchemas) {
  EXPECT_EQ(test::judged(R"({"pattern":"^\\p{Letter}+$"})", "\"πé\""), "ok");
  EXPECT_NE(test::judged(R"({"pattern":"^\\p{Letter}+$"})", "\"p1\""), "ok");
  EXPECT_EQ(test::judged(R"({"pattern":"^\\u00fc$"})", "\"ü\""), "ok");
  EXPECT_EQ(test::judged(R"({"patternProperties":{"^\\p{Letter}+$":false}})", R"({"1":1})"), "ok");
  EXPECT_EQ(test::judged(R"({"patternProperties":{"^\\p{Letter}+$":false}})", R"({"π":1})"), "/π: is not allowed");
}

}  // namespace
}  // namespace sluice::content
