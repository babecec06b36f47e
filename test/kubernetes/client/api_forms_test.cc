#include "proxy/kubernetes/client/api_forms.h"

#include <gtest/gtest.h>

#include "proxy/content/json.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

using namespace std::chrono_literals;

TEST(ApiForms, WriteTimesWithoutFractionsOrInMicroseconds) {
  EXPECT_EQ(apiTime(base::someTime()), "2026-01-31T23:59:58Z");
  EXPECT_EQ(apiTime(base::someTime(999999999ns)), "2026-01-31T23:59:58Z");
  EXPECT_EQ(apiMicroTime(base::someTime()), "2026-01-31T23:59:58.000000Z");
  EXPECT_EQ(apiMicroTime(base::someTime(123456789ns)), "2026-01-31T23:59:58.123456Z");
  EXPECT_EQ(apiMicroTime(base::someTime(2s - 1ns)), "2026-01-31T23:59:59.999999Z");
  EXPECT_EQ(apiMicroTime(base::WallTime(-1us)), "1969-12-31T23:59:59.999999Z");
}

TEST(ApiForms, LeaveTextsAsTheyAreUpToTheBound) {
  EXPECT_EQ(boundedText("", 3), "");
  EXPECT_EQ(boundedText("abcd", 4), "abcd");
  EXPECT_EQ(boundedText("a\xc3\xa4z", 4), "a\xc3\xa4z");
}

TEST(ApiForms, CutTextsAtACharacter) {
  EXPECT_EQ(boundedText("abcde", 4), "a\xe2\x80\xa6");
  EXPECT_EQ(boundedText("\xc3\xa4\xc3\xa4\xc3\xa4", 5), "\xc3\xa4\xe2\x80\xa6");
  EXPECT_EQ(boundedText("\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xe2\x80\xa6");
  EXPECT_EQ(boundedText(std::string(5000, 'a'), 1024).size(), 1024u);
}

TEST(ApiForms, ReplaceBytesThatAreNoTextBeforeTheyCut) {
  EXPECT_EQ(boundedText("a\xff", 4), "a\xef\xbf\xbd");
  EXPECT_EQ(boundedText("\xff\xff\xff", 7), "\xef\xbf\xbd\xe2\x80\xa6");
}

TEST(ApiForms, ReadMembersOfTheRightKindOnly) {
  const base::Result<content::Value> map = content::parseJson(R"({"t":"x","n":15,"f":1.5,"z":null,"l":[]})");
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(textIn(&*map, "t"), "x");
  EXPECT_EQ(textIn(&*map, "n"), "");
  EXPECT_EQ(textIn(nullptr, "t"), "");
  EXPECT_EQ(numberIn(&*map, "n"), 15);
  EXPECT_EQ(numberIn(&*map, "f"), std::nullopt);
  EXPECT_EQ(numberIn(&*map, "t"), std::nullopt);
  EXPECT_EQ(numberIn(nullptr, "n"), std::nullopt);
  EXPECT_EQ(valueIn(&*map, "z"), nullptr);
  EXPECT_NE(valueIn(&*map, "l"), nullptr);
}

TEST(ApiForms, KnowAListFromWhatIsNone) {
  const auto itemsIn = [](const std::string& text) -> std::optional<std::size_t> {
    const base::Result<content::Value> value = content::parseJson(text);
    const content::Value* items = value.ok() ? itemsOf(*value) : nullptr;
    return items == nullptr ? std::nullopt : std::optional(items->items.size());
  };
  EXPECT_EQ(itemsIn(R"({"items":[{},{}]})"), 2u);
  EXPECT_EQ(itemsIn(R"({"items":[]})"), 0u);
  EXPECT_EQ(itemsIn(R"({"items":null})"), 0u) << "a server may write an empty list so";
  for (const char* none : {"{}", "null", "[]", R"({"items":{}})", R"({"kind":"Status"})"}) {
    EXPECT_EQ(itemsIn(none), std::nullopt) << none;
  }
}

TEST(ApiForms, BoundNamesAndKeepThemApart) {
  EXPECT_EQ(boundedName("short", 30), "short");
  const std::string one = boundedName(std::string(40, 'a') + "1", 30);
  EXPECT_EQ(one.size(), 30u);
  EXPECT_NE(one, boundedName(std::string(40, 'a') + "2", 30));
  EXPECT_EQ(boundedName("ab..............................", 20).substr(0, 3), "ab-");
}

}  // namespace
}  // namespace sluice::kubernetes
