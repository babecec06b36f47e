// Tests which expressions are refused, and the bounds of their source and of their evaluation on both sides.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "filters/expression/expression.h"
#include "filters/expression/parser.h"
#include "test/filters/expression/expression_rig.h"

namespace sluice::filters {
namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(ExpressionBounds, RefuseWithAPosition) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "at character 1: a value is missing"},
      {"1 +", "at character 4: a value is missing"},
      {"1 2", "at character 3: nothing more was expected here"},
      {"(1", "at character 3: \")\" is missing"},
      {"[1, 2", "at character 6: \"]\" is missing"},
      {"size(1,)", "at character 8: a value is missing"},
      {"'a", "at character 1: the string has no end"},
      {"'a\nb'", "at character 3: a string in single quotes spans lines"},
      {R"('a\q')", "at character 3: there is no such escape"},
      {R"('\u12')", "at character 2: an escape has too few digits"},
      {R"('\ud800')", "at character 2: the escape is no character of Unicode"},
      {R"('\400')", "at character 2: there is no such escape"},
      {"b'a'", "at character 1: literals of bytes are not supported"},
      {"1u", "at character 1: unsigned integers are not supported"},
      {"1a", "at character 1: a number ends in a letter"},
      {"1e", "at character 1: the exponent of a number has no digits"},
      {"0x", "at character 1: a number has no digits"},
      {"9223372036854775808", "at character 1: a number is out of range"},
      {"99999999999999999999", "at character 1: a number is out of range"},
      {"1e999", "at character 1: a number is out of range"},
      {"a = 1", "at character 3: \"=\" is no operator"},
      {"1 # 2", "at character 3: \"#\" is not part of any token"},
      {"!-1", "at character 2: \"!\" and \"-\" do not follow each other"},
      {"for", "at character 1: \"for\" is a reserved word"},
      {"{'a': 1}", "at character 1: literals of maps are not supported"},
      {".a", "at character 1: names that begin with a dot are not supported"},
      {"google.Any{}", "at character 11: messages are not supported"},
      {"request.headers.in", "at character 17: \"in\" cannot be a name"},
      {"request.?a", "at character 9: optional values are not supported"},
      {"request", "at character 1: \"request\" alone is not supported"},
      {"request.time", "at character 9: there is no attribute \"request.time\""},
      {"source", "at character 1: \"source\" alone is not supported"},
      {"source.port", "at character 8: there is no attribute \"source.port\""},
      {"x", "at character 1: there is no variable \"x\""},
      {"response.code", "at character 10: response.code is not known while the request is edited"},
      {"[1].all(x, x > 0)", "at character 5: all() is not supported"},
      {"timestamp('')", "at character 1: timestamp() is not supported"},
      {"lower('a')", "at character 1: lower() is no function"},
      {"startsWith('a', 'b')", "at character 1: the function is written text.startsWith(prefix)"},
      {"'a'.json()", "at character 5: the function is written json(text)"},
      {"'a'.startsWith()", "at character 5: startsWith() has another number of arguments"},
      {"size(1, 2)", "at character 1: size() has another number of arguments"},
      {"'a'.matches(request.path)", "at character 21: the pattern of matches() must be a literal"},
      {"'a'.matches('(')", "at character 13: the pattern is no regular expression of RE2: missing )"},
      {"'a'.matches('(?!b)')", "at character 13: the pattern is no regular expression of RE2: RE2 has no look-ahead"},
      {"has(request.path)", "at character 13: has() takes a field of headers or of a JSON text"},
      {"has(request.headers['a'])", "at character 20: has() takes a name behind a dot"},
      {"\x01", "at character 1: the text is no UTF-8, or has a control character"},
      {"'\xFF'", "at character 2: the text is no UTF-8, or has a control character"},
  };
  for (const auto& [source, expected] : rows) {
    EXPECT_TRUE(test::ExpressionRig::refusal(source).starts_with(expected))
        << source << " -> " << test::ExpressionRig::refusal(source);
  }
  EXPECT_EQ(test::ExpressionRig::refusal("request.body", MessageSide::kResponse),
            "at character 9: request.body is not kept until the response is edited");
}

TEST(ExpressionBounds, BoundTheSource) {
  const std::string longest = "'" + std::string(kMostExpressionBytes - 2, 'a') + "'";
  EXPECT_EQ(test::ExpressionRig::refusal(longest), "");
  EXPECT_EQ(test::ExpressionRig::refusal(longest + " "), "at character 4097: the expression is longer than 4096 bytes");
}

TEST(ExpressionBounds, BoundTheNesting) {
  const auto bracketed = [](std::size_t depth) { return times(depth, "(") + "1" + times(depth, ")"); };
  EXPECT_EQ(test::ExpressionRig::refusal(bracketed(kMostExpressionDepth - 1)), "");
  EXPECT_TRUE(test::ExpressionRig::refusal(bracketed(kMostExpressionDepth)).ends_with("is nested too deeply"));
  const auto chained = [](std::size_t depth) { return "1" + times(depth - 1, "+1"); };
  EXPECT_EQ(test::ExpressionRig::refusal(chained(kMostExpressionDepth)), "");
  EXPECT_TRUE(test::ExpressionRig::refusal(chained(kMostExpressionDepth + 1)).ends_with("is nested too deeply"));
  const auto negated = [](std::size_t depth) { return times(depth, "!") + "true"; };
  EXPECT_EQ(test::ExpressionRig::refusal(negated(kMostExpressionDepth - 1)), "");
  EXPECT_TRUE(test::ExpressionRig::refusal(negated(kMostExpressionDepth)).ends_with("is nested too deeply"));
  EXPECT_TRUE(test::ExpressionRig::refusal(times(4000, "[")).ends_with("is nested too deeply"));
  EXPECT_TRUE(test::ExpressionRig::refusal("request" + times(1000, ".a")).ends_with("is nested too deeply"));
}

TEST(ExpressionBounds, BoundTheNodes) {
  const auto list = [](std::size_t nodes) { return "[" + times(nodes - 1, "1,") + "]"; };
  EXPECT_EQ(test::ExpressionRig::refusal(list(kMostExpressionNodes)), "");
  EXPECT_TRUE(test::ExpressionRig::refusal(list(kMostExpressionNodes + 1)).ends_with("has too many parts"));
}

TEST(ExpressionBounds, BoundTheFieldsThatAreRead) {
  const auto fields = [](std::size_t count) {
    std::string source = "[";
    for (std::size_t i = 0; i < count; ++i) source += "json(request.body).f" + std::to_string(i) + ",";
    return source + "]";
  };
  EXPECT_EQ(test::ExpressionRig::refusal(fields(BodyReads::kMostPaths)), "");
  EXPECT_TRUE(test::ExpressionRig::refusal(fields(BodyReads::kMostPaths + 1))
                  .ends_with("more than 64 fields of the body are read"));
}

TEST(ExpressionBounds, BoundTheResult) {
  test::ExpressionRig rig;
  rig.body = std::string(Expression::kMostResultBytes, 'a');
  EXPECT_EQ(rig("request.body").size(), Expression::kMostResultBytes + 2);
  rig.body += 'a';
  EXPECT_EQ(rig("request.body"), "error: the value is too long");
  EXPECT_EQ(rig("size(request.body)"), std::to_string(Expression::kMostResultBytes + 1));
}

TEST(ExpressionBounds, BoundTheBytesThatAreMade) {
  test::ExpressionRig rig;
  rig.body = std::string(Meter::kMostMadeBytes / 2, 'a');
  EXPECT_EQ(rig("size(request.body + request.body)"), std::to_string(Meter::kMostMadeBytes));
  rig.body += 'a';
  EXPECT_EQ(rig("size(request.body + request.body)"), "error: the evaluation takes too many steps or too much memory");
  EXPECT_EQ(rig("true || size(request.body + request.body) == 0"), "true");
  EXPECT_EQ(rig("size(request.body + request.body) == 0 || true"),
            "error: the evaluation takes too many steps or too much memory");
  rig.body = std::string(60000, ',');
  EXPECT_EQ(rig("size(request.body.split(','))"), "error: the evaluation takes too many steps or too much memory");
  rig.body = std::string(10000, ',');
  EXPECT_EQ(rig("size(request.body.split(','))"), "10001");
  EXPECT_EQ(rig("request.body.replace(',', request.body)"), "error: a value is too long");
}

TEST(ExpressionBounds, BoundTheSteps) {
  test::ExpressionRig rig;
  rig.body = "[" + times(1000000, "1,") + "1]";
  // Each walk over the list costs a step for 4 bytes of it.
  const auto walks = [](std::size_t count) { return "size([" + times(count, "size(json(request.body)),") + "])"; };
  EXPECT_EQ(rig(walks(3)), "3");
  EXPECT_EQ(rig("[" + times(10, "1000001 in json(request.body), ") + "]"),
            "error: the evaluation takes too many steps or too much memory");
}

TEST(ExpressionBounds, BoundTheWorkOfARequest) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  ExpressionWork work;
  EXPECT_TRUE(Meter(arena, work, 1000).spend(1000));
  EXPECT_FALSE(Meter(arena, work, 1000).isSpent());
  Meter another(arena, work, 1000);
  EXPECT_FALSE(another.step()) << "the next evaluation goes on counting";
  EXPECT_TRUE(another.isSpent());
  work = {};
  for (int i = 0; i < 4; ++i) EXPECT_NE(Meter(arena, work, 1000).bytes(Meter::kMostMadeBytes), nullptr);
  Meter last(arena, work, 1000);
  EXPECT_FALSE(last.isSpent());
  EXPECT_EQ(last.bytes(1), nullptr);
  EXPECT_TRUE(last.isSpent());
}

TEST(ExpressionBounds, CountTheOccurrencesThatAreReplacedOrCutAt) {
  test::ExpressionRig rig;
  rig.body = std::string(10000, ',');
  for (const char* source : {"size(request.body.replace(',', '.'))", "size(request.body.split(','))"}) {
    rig.mostSteps = 100'000;
    EXPECT_TRUE(rig(source).starts_with("1000")) << source;
    rig.mostSteps = 60'000;
    EXPECT_EQ(rig(source), "error: the evaluation takes too many steps or too much memory") << source;
  }
}

TEST(ExpressionBounds, RefusePatternsThatMayTakeTooLongInAHead) {
  const auto refusal = [](const std::string& pattern) {
    return test::ExpressionRig::refusal("request.path.matches('" + pattern + "')");
  };
  EXPECT_EQ(refusal("a{100}"), "");
  EXPECT_EQ(refusal("^https://([^/]+)\\\\.example\\\\.com/(v[0-9]+)/.*$"), "");
  EXPECT_EQ(refusal("(?i)(mozilla|chrome|safari|bot|crawler|spider|curl|wget)"), "");
  for (const char* slow : {"a{200}", "(?:[ab]*a[ab]{300}c)+",
                           "(?:a[ab]{500}c|b[ab]{400}c|a?a?a?a?a?a?a?a?a?a?[ab]{300}c)", "(?:(?:[ab]?){100}a){10}c"}) {
    EXPECT_TRUE(refusal(slow).starts_with("at character 22: the pattern has ")) << slow << refusal(slow);
    EXPECT_TRUE(
        refusal(slow).ends_with(" instructions of RE2, and 128 may look at a head of 65536 bytes (limits.stepWork)"))
        << slow << refusal(slow);
  }
}

TEST(ExpressionBounds, BoundThePatternsOfAUse) {
  ExpressionPatterns patterns({});
  for (std::size_t i = 0; i < ExpressionPatterns::kMost; ++i) {
    EXPECT_TRUE(patterns.compile("a" + std::to_string(i)).ok());
  }
  EXPECT_TRUE(patterns.compile("a1").ok()) << "it is there already";
  EXPECT_EQ(patterns.compile("b").error().detail, "is one of more than 64 different ones of the use");
  ExpressionPatterns narrow({1000, 100});
  EXPECT_TRUE(narrow.compile("abc").ok());
  EXPECT_FALSE(narrow.compile("abcdefghijklm").ok());
}

TEST(ExpressionBounds, BoundASearchByThePatternAndTheText) {
  test::ExpressionRig rig;
  // Without a period in the text, RE2 has no memory for the states of its automaton.
  for (std::uint32_t i = 0, random = 1; i < 40'000; ++i) {
    random = random * 1103515245 + 12345;
    rig.body += (random & 0x10000) != 0 ? 'a' : 'b';
  }
  const std::string source = "request.body.matches('(?:[ab]*a[ab]{40}c)+')";
  EXPECT_EQ(rig(source), "false");
  rig.mostSteps = 1'000'000;
  EXPECT_EQ(rig(source), "error: the evaluation takes too many steps or too much memory");
  EXPECT_EQ(rig(source + " || true"), "error: the evaluation takes too many steps or too much memory");
}

TEST(ExpressionBounds, HoldForTextsInWhichASearchIsSlow) {
  test::ExpressionRig rig;
  rig.body = std::string(2 * 1024 * 1024, 'a');
  EXPECT_EQ(rig("request.body.contains('" + std::string(4000, 'a') + "b')"), "false");
}

}  // namespace
}  // namespace sluice::filters
