#include "proxy/content/json_scan.h"

#include <gtest/gtest.h>

#include "test/support/json_scan_oracle.h"
#include "test/support/random_json.h"

namespace sluice::content {
namespace {

using Path = std::vector<JsonStep>;

const Path kModel{{"model", {}}};

/// Returns the value that the scan finds when it is fed byte by byte; "none", or "broken".
std::string scanned(std::string_view text, const Path& path = kModel, std::size_t mostText = 256) {
  JsonScan scan(path, mostText);
  for (const char byte : text) {
    if (!scan.feed({&byte, 1})) return "broken";
  }
  if (!scan.end()) return "broken";
  if (scan.found() == nullptr) return "none";
  const std::string kind(describe(scan.found()->kind));
  return kind + (scan.found()->text.empty() ? "" : " " + scan.found()->text) + (scan.found()->isCut ? "..." : "");
}

std::string nestedTo(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonScan, FindsAMemberWhereverItStands) {
  EXPECT_EQ(scanned(R"({"messages": [{"model": "no"}], "model": "gpt-4o", "n": 1})"), "a string gpt-4o");
  EXPECT_EQ(scanned(R"({"mode":1,"modelx":2,"mod\u0065l":"\u00fc\ud83d\ude00\n"})"), "a string ü😀\n");
  EXPECT_EQ(scanned(R"({"model":-1.50E+3})"), "a number -1.50E+3");
  EXPECT_EQ(scanned(R"({"model":null})"), "null");
  EXPECT_EQ(scanned(R"({"model":true})"), "a boolean true");
  EXPECT_EQ(scanned(R"({"model":{"model":"no"}})"), "a map");
  EXPECT_EQ(scanned(R"({"model":["no"]})"), "a list");
  EXPECT_EQ(scanned(R"({"a":{"model":"no"}})"), "none");
  EXPECT_EQ(scanned(R"([{"model":"no"}])"), "none");
  EXPECT_EQ(scanned(R"({"Model":1,"MODEL":2})"), "none");
  EXPECT_EQ(scanned(R"({"Model":"no","model":"m","MODEL":"no"})"), "a string m");
  EXPECT_EQ(scanned("\xEF\xBB\xBF{\"model\":\"marked\"}"), "a string marked");
}

TEST(JsonScan, GoesThroughListsFromBothEnds) {
  const Path second{{"a", {}}, {{}, 1}};
  EXPECT_EQ(scanned(R"({"a":[1,[2],3]})", second), "a list");
  EXPECT_EQ(scanned(R"({"a":[1]})", second), "none");
  const Path last{{"a", {}}, {{}, -1}, {"b", {}}};
  EXPECT_EQ(scanned(R"({"a":[{"b":1},{"b":2}]})", last), "a number 2");
  EXPECT_EQ(scanned(R"({"a":[{"b":1},{"c":2}]})", last), "none");
  const Path beforeLast{{{}, -2}, {{}, -2}};
  EXPECT_EQ(scanned("[[1,2,3],[4,5,6],[7]]", beforeLast), "a number 5");
  EXPECT_EQ(scanned("[[1,2,3]]", beforeLast), "none");
  const Path either{{"0", 0}};
  EXPECT_EQ(scanned(R"({"0":"named"})", either), "a string named");
  EXPECT_EQ(scanned(R"(["counted"])", either), "a string counted");
}

TEST(JsonScan, FindsTheWholeValueWithoutSteps) {
  EXPECT_EQ(scanned(" 12 ", {}), "a number 12");
  EXPECT_EQ(scanned("{}", {}), "a map");
}

TEST(JsonScan, KeepsOnlyTheRequestedBytesOfAValue) {
  EXPECT_EQ(scanned(R"({"model":"12345678"})", kModel, 8), "a string 12345678");
  EXPECT_EQ(scanned(R"({"model":"123456789"})", kModel, 8), "a string 12345678...");
  EXPECT_EQ(scanned(R"({"model":123456789})", kModel, 8), "a number 12345678...");
}

TEST(JsonScan, RefusesFaultsBehindTheValueToo) {
  for (const char* rest : {"", ",", "}}", "} x", ",\"model\":1}", ",\"a\":01}", ",\"a\":\"\\ud800\"}",
                           ",\"a\":\"\xC3\"}", ",\"a\":\"\n\"}", ",}", ",\"b\":{\"c\":1,\"\\u0063\":2}}"}) {
    EXPECT_EQ(scanned("{\"model\":\"m\"" + std::string(rest)), "broken") << rest;
  }
}

TEST(JsonScan, IsBoundedInDepth) {
  EXPECT_EQ(scanned(nestedTo(JsonScan::kMostDepth)), "none");
  EXPECT_EQ(scanned(nestedTo(JsonScan::kMostDepth + 1)), "broken");
}

TEST(JsonScan, NeedsMemoryOnlyForTheNamesOfOpenMaps) {
  JsonScan scan(kModel, 256);
  const std::string value = "[\"" + std::string(1 << 16, 'x') + "\",{\"a\":1,\"b\":{}}]";
  ASSERT_TRUE(scan.feed("["));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(scan.feed(value + ","));
  EXPECT_LE(scan.memory(), 1024u);
  ASSERT_TRUE(scan.feed("{"));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(scan.feed("\"" + std::to_string(i) + "\":0,"));
  EXPECT_GE(scan.memory(), 16000u);
  EXPECT_LE(scan.memory(), 64000u);
}

TEST(JsonScan, AgreesWithTheParserOnRandomTexts) {
  test::RandomJson texts(7);
  const auto paths = test::scannedPaths();
  std::size_t good = 0;
  for (int i = 0; i < 40000; ++i) {
    const std::string text = texts.next();
    const auto& path = paths[texts.below(paths.size())];
    const std::size_t most = 1 + texts.below(40);
    ASSERT_EQ(test::differenceOf(text, path, [&] { return 1 + texts.below(most); }), "") << text;
    good += parseJson(text).ok();
  }
  EXPECT_GT(good, 4000u);
  EXPECT_LT(good, 36000u);
}

}  // namespace
}  // namespace sluice::content
