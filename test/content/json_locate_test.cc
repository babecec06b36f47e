#include "proxy/content/json_locate.h"

#include <gtest/gtest.h>

#include "proxy/content/json_scan.h"
#include "test/support/json_scan_oracle.h"
#include "test/support/random_json.h"

namespace sluice::content {
namespace {

/// Returns the texts of the values at the paths with a bar behind each; "broken" if the text is no JSON.
std::string located(std::string_view text, const std::vector<JsonPath>& paths) {
  std::vector<std::string_view> found(paths.size(), "before");
  if (!locateJson(text, paths, found)) return "broken";
  std::string all;
  for (const std::string_view each : found) all += std::string(each) + "|";
  return all;
}

const JsonPath kLocatedModel{{"model", {}}};

std::string nestedLists(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonLocate, FindsTheTextsOfSeveralValuesAtOnce) {
  const std::vector<JsonPath> paths{{},          {{"a", {}}}, {{"a", {}}, {{}, 1}}, {{"a", {}}, {{}, 1}, {"b", {}}},
                                    {{"c", {}}}, {{"\n", {}}}};
  EXPECT_EQ(located(R"( {"a" : [ 0 , {"b":"x y"} ] , "\u000a": -1.5e3 } )", paths),
            R"({"a" : [ 0 , {"b":"x y"} ] , "\u000a": -1.5e3 }|[ 0 , {"b":"x y"} ]|{"b":"x y"}|"x y"||-1.5e3|)");
  EXPECT_EQ(located("\xEF\xBB\xBF [1] ", paths), "[1]||||||");
}

TEST(JsonLocate, GoesIntoMapsByNameAndIntoListsByIndex) {
  const JsonPath either{{"0", 0}};
  EXPECT_EQ(located(R"({"0":"named"})", {either}), "\"named\"|");
  EXPECT_EQ(located(R"(["counted"])", {either}), "\"counted\"|");
  EXPECT_EQ(located("[1]", {{{{}, -1}}}), "|");
}

TEST(JsonLocate, RefusesFaultsBehindTheValuesToo) {
  for (const char* rest : {"", ",", "}}", "} x", ",\"model\":1}", ",\"a\":01}", ",\"a\":\"\\ud800\"}", ",\"a\":-}",
                           ",\"a\":1.}", ",\"a\":1e+}", ",\"a\":\"\\u12", ",\"a\":\"\xC3\"}", ",\"a\":\"\xE2\x82",
                           ",\"a\":\"\n\"}", ",\"a\":tru}", ",}", ",\"b\":{\"c\":1,\"\\u0063\":2}}"}) {
    EXPECT_EQ(located("{\"model\":\"m\"" + std::string(rest), {kLocatedModel}), "broken") << rest;
  }
}

TEST(JsonLocate, IsBoundedInDepth) {
  EXPECT_EQ(located(nestedLists(JsonScan::kMostDepth), {kLocatedModel}), "|");
  EXPECT_EQ(located(nestedLists(JsonScan::kMostDepth + 1), {kLocatedModel}), "broken");
  EXPECT_EQ(located(nestedLists(1 << 20), {kLocatedModel}), "broken");
}

TEST(JsonLocate, AgreesWithTheParserOnRandomTexts) {
  test::RandomJson texts(11);
  const auto paths = test::scannedPaths();
  for (int i = 0; i < 40000; ++i) {
    const std::string text = texts.next();
    ASSERT_EQ(test::differenceOfLocated(text, paths), "") << text;
  }
}

}  // namespace
}  // namespace sluice::content
