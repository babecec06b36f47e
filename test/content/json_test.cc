#include "proxy/content/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::content {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string again(std::string_view text) {
  const auto value = parseJson(text);
  return value ? writeJson(*value) : "error: " + value.error().detail;
}

std::string errorOf(std::string_view text, const JsonLimits& limits = {}) {
  const auto value = parseJson(text, limits);
  return value ? "none" : value.error().detail;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, ReadsWhatItWrites) {
  for (const char* text : {R"({"b":[1,"x",true,false,null,{}],"a":{"c":[]}})", "\"\"", "0", "null", "[[[]]]",
                           R"("\"\\\b\f\n\r\t\u0001 ü")"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again(" {\"a\" : [ 1 ,\n2 ] } \n"), R"({"a":[1,2]})");
  EXPECT_EQ(again(R"("\u00fc\/\ud83d\ude00")"), "\"ü/😀\"");
}

TEST(Json, KeepsNumbersAsTheyWereWritten) {
  for (const char* text : {"-0", "1.0", "1.10", "1e2", "1E+2", "0.1e-7", "123456789012345678901234567890",
                           "-123456789012345678901234567890", "18446744073709551615", "1e999"}) {
    EXPECT_EQ(again(text), text);
    EXPECT_EQ(again("[" + std::string(text) + "]"), "[" + std::string(text) + "]");
    EXPECT_EQ(again("{\"a\": " + std::string(text) + " }"), "{\"a\":" + std::string(text) + "}");
  }
}

TEST(Json, GivesValuesTheirPositions) {
  const auto value = parseJson("{\n  \"a\": [1,\n    \"x\"]\n}");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->position.line, 1u);
  const Member& member = value->members.at(0);
  EXPECT_EQ(member.position.line, 2u);
  EXPECT_EQ(member.position.column, 3u);
  EXPECT_EQ(member.value.position.column, 8u);
  EXPECT_EQ(member.value.items.at(0).position.column, 9u);
  EXPECT_EQ(member.value.items.at(1).position.line, 3u);
  EXPECT_EQ(member.value.items.at(1).position.column, 5u);
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "[1] x",
                           "{} {}",
                           "// a\n1",
                           "/* a */ 1",
                           "'a'",
                           "{a:1}",
                           "01",
                           "+1",
                           ".5",
                           "1.",
                           "1e",
                           "NaN",
                           "Infinity",
                           "0x1F",
                           "tru",
                           "\"a\nb\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\udc00\"",
                           "\"\\udc00\\ud800\"",
                           "{\"\\udc00model\":1}",
                           "\"\xff\"",
                           "1,",
                           "\xef\xbb\xbf \n",
                           "-1e5 ,\n",
                           "\"\xc3\"",
                           "[1 2]",
                           "{\"a\" 1}",
                           "nullx",
                           "]"}) {
    EXPECT_FALSE(parseJson(text)) << text;
  }
  EXPECT_THAT(errorOf("{\"a\":\n  tru}"), StartsWith("line 2, column "));
}

TEST(Json, ReportsThePositionOfHalfASurrogatePair) {
  EXPECT_EQ(errorOf("[\"\\\\\",\n \"\\udbff\\udfff\\udc00\"]"), "line 2, column 15: Half of a surrogate pair");
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> faults[] = {
      {"", "line 1, column 1: has no value"},
      {" \n ", "line 2, column 2: has no value"},
      {"[1,", "line 1, column 4: a value is expected"},
      {"[1 2]", "line 1, column 4: a comma or the end of the list is expected"},
      {"{\"a\" 1}", "line 1, column 6: a colon is expected"},
      {"{\"a\":1 \"b\":2}", "line 1, column 8: a comma or the end of the map is expected"},
      {"{a:1}", "line 1, column 2: a name in quotes is expected"},
      {"[nul]", "line 1, column 2: a value is expected"},
      {"-", "line 1, column 2: a digit is expected"},
      {"1.e5", "line 1, column 3: a digit is expected"},
      {"01", "line 1, column 2: more follows behind the value"},
      {"\"a", "line 1, column 3: the end of the string is missing"},
      {"\"a\tb\"", "line 1, column 3: a control character is not escaped"},
      {"\"\\x\"", "line 1, column 2: no such escape"},
      {"\"\\u12\"", "line 1, column 2: no such escape"},
      {"\"\xc3\"", "line 1, column 2: a string is not UTF-8"},
  };
  for (const auto& [text, fault] : faults) EXPECT_EQ(errorOf(text), fault) << text;
  EXPECT_EQ(errorOf(std::string(65, '[')), "line 1, column 65: nesting exceeds 64 lists and maps");
  EXPECT_TRUE(parseJson(std::string(64, '[') + std::string(64, ']')));
}

TEST(Json, DoesNotCountAByteOrderMarkInPositions) {
  EXPECT_EQ(again("\xEF\xBB\xBF[1,2,345]"), "[1,2,345]");
  EXPECT_FALSE(parseJson("\xEF\xBB\xBF\xEF\xBB\xBF[]"));
}

TEST(Json, RefusesARepeatedNameAndReportsItsPosition) {
  EXPECT_EQ(errorOf("{\"a\":1,\n \"b\":2, \"a\":3}"), "line 2, column 9: repeats \"a\"");
  EXPECT_EQ(errorOf("[{\"x\":{\"a\":1,\"\\u0061\":2}}]"), "line 1, column 14: repeats \"a\"");
  EXPECT_EQ(errorOf("[{\"a\":1},{\"a\":1}]"), "none");
}

TEST(Json, IsBoundedInBytesAndDepth) {
  EXPECT_EQ(errorOf("[1,2]", {5, 64}), "none");
  EXPECT_THAT(errorOf("[1,2]", {4, 64}), HasSubstr("longer than 4 bytes"));
  EXPECT_EQ(errorOf(nested(3), {100, 3}), "none");
  EXPECT_NE(errorOf(nested(4), {100, 3}), "none");
  EXPECT_EQ(errorOf(nested(64)), "none");
  EXPECT_NE(errorOf(nested(65)), "none");
  EXPECT_NE(errorOf(std::string(1000000, '[')), "none");
}

TEST(Json, WritesYamlNumbersInJsonsSpelling) {
  EXPECT_EQ(jsonNumber("0x1F"), "31");
  EXPECT_EQ(jsonNumber("0o17"), "15");
  EXPECT_EQ(jsonNumber("+1"), "1");
  EXPECT_EQ(jsonNumber(".5"), "0.5");
  EXPECT_EQ(jsonNumber("-.5"), "-0.5");
  EXPECT_EQ(jsonNumber("5."), "5.0");
  EXPECT_EQ(jsonNumber("5.e3"), "5.0e3");
  EXPECT_EQ(jsonNumber("007"), "7");
  EXPECT_EQ(jsonNumber("-00.5"), "-0.5");
  EXPECT_EQ(jsonNumber("0"), "0");
  EXPECT_EQ(jsonNumber("1.50e-3"), "1.50e-3");
}

}  // namespace
}  // namespace sluice::content
