// Tests how values for programs are made and printed, and the lines for people.
#include "proxy/content/output/output.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/content/output/fact_lines.h"
#include "proxy/content/output/make_value.h"

namespace sluice::content {
namespace {

TEST(Output, IsJsonOfEveryKindOfValue) {
  Value map = makeMap({{"text", "a"}, {"texts", std::vector<std::string>{"b", "c"}}});
  const Value inner = makeMap({{"flag", true}, {"number", std::int64_t{-7}}, {"none", Value()}});
  addMembers(map, {{"codes", std::vector<std::uint16_t>{500}}, {"map", inner}, {"no", std::vector<std::string>()}});
  EXPECT_EQ(outputJson(map),
            R"({"text":"a","texts":["b","c"],"codes":[500],"map":{"flag":true,"number":-7,"none":null},"no":[]})");
  EXPECT_EQ(outputJson(makeMap({})), "{}");
}

TEST(Output, MovesNoTerminal) {
  EXPECT_EQ(outputJson(makeValue("\x1b[2J\xe2\x80\xae\x80\"")), "\"\\u001b[2J\\u202e\xEF\xBF\xBD\\\"\"");
}

TEST(Output, LeavesOutMembersThatAreNotThere) {
  const std::optional<int> none;
  const Value map = makeMap({{"a", ifAny("")}, {"b", none}, {"c", ifAny("x")}, {"d", std::optional<int>(0)}});
  EXPECT_EQ(outputJson(map), R"({"c":"x","d":0})");
  const auto twice = [](int number) { return makeValue(2 * number); };
  EXPECT_EQ(outputJson(makeOrNull(std::optional<int>(4), twice)), "8");
  EXPECT_EQ(outputJson(makeOrNull(none, twice)), "null");
}

TEST(FactLines, AlignFactsBehindTheirWords) {
  FactLines lines(6);
  lines.add("word", "fact").add("a long word", "another").add("none", "");
  EXPECT_EQ(lines.take(), "word  fact\na long word another\nnone  \n");
}

}  // namespace
}  // namespace sluice::content
