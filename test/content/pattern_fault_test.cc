#include "proxy/content/pattern_fault.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>

namespace sluice::content {
namespace {

std::string patternFaultOf(const char* pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 compiled(pattern, options);
  EXPECT_FALSE(compiled.ok()) << pattern;
  return patternFault(compiled);
}

TEST(PatternFault, NamesTheFeatureThatRe2DoesNotHave) {
  EXPECT_EQ(patternFaultOf("^(?!admin)"), "RE2 has no look-ahead: (?!");
  EXPECT_EQ(patternFaultOf("a(?=b)"), "RE2 has no look-ahead: (?=");
  EXPECT_EQ(patternFaultOf("(?<=a)b").substr(0, 23), "RE2 has no look-behind:");
  EXPECT_EQ(patternFaultOf("(?<!a)b").substr(0, 23), "RE2 has no look-behind:");
  EXPECT_EQ(patternFaultOf(R"((a)\1)"), R"(RE2 has no back-references: \1)");
}

TEST(PatternFault, IsRe2sOwnMessageForEverythingElse) {
  EXPECT_EQ(patternFaultOf("("), "missing ): (");
  EXPECT_EQ(patternFaultOf("[b-a]"), "invalid character class range: b-a");
  EXPECT_EQ(patternFaultOf(R"(\q)"), R"(invalid escape sequence: \q)");
}

}  // namespace
}  // namespace sluice::content
