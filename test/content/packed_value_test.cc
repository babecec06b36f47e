// Tests that a packed value is the same value, and small.
#include "proxy/content/packed_value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/content/json.h"
#include "test/support/live_bytes.h"

namespace sluice::content {
namespace {

Value valueOf(const std::string& json) { return parseJson(json, {.bytes = std::size_t{8} * 1024 * 1024}).value(); }

TEST(PackedValue, IsTheSameValueWhenItIsUnpacked) {
  const std::string longText(300, 'x');
  for (const std::string& json :
       {std::string("null"), std::string("true"), std::string("-1.50e3"), std::string("\"\""), std::string("[]"),
        std::string("{}"), "\"" + longText + "\"", "{\"" + longText + "\":[\"" + longText + "\",1]}",
        std::string(R"({"b":{"a":[null,false,"\u0000\n"]},"a":[[],{}],"":0})"),
        "[" + std::string(R"({"k":"0123456789012345678901234567890"},)") +
            std::string(R"("0123456789012345678901234567890123456789"])")}) {
    const PackedValue packed = valueOf(json);
    EXPECT_EQ(writeJson(packed.unpacked()), writeJson(valueOf(json)));
    EXPECT_EQ(packed.kind(), valueOf(json).kind) << json;
    EXPECT_LE(packed.size(), json.size() + json.size() / 64 + 1) << json;
  }
  EXPECT_TRUE(PackedValue().isNull());
  EXPECT_TRUE(PackedValue().unpacked().isNull());
}

TEST(PackedValue, KeepsLengthsOfEachForm) {
  for (const std::size_t length : {0, 30, 31, 32, 158, 159, 16000, 17000, 3000000}) {
    Value text;
    text.kind = Value::Kind::kString;
    text.text.assign(length, 'x');
    EXPECT_EQ(PackedValue(text).unpacked().text, text.text);
    Value list;
    list.kind = Value::Kind::kList;
    list.items.resize(length / 100);
    EXPECT_EQ(PackedValue(list).unpacked().items.size(), length / 100);
  }
}

TEST(PackedValue, UnpacksOneMember) {
  const PackedValue packed = valueOf(R"({"a":[1,{"b":2}],"b":{"c":"d"},"e":null})");
  EXPECT_EQ(writeJson(*packed.find("b")), R"({"c":"d"})");
  EXPECT_TRUE(packed.find("e")->isNull());
  EXPECT_FALSE(packed.find("c"));
  EXPECT_FALSE(PackedValue(valueOf("[1]")).find("a"));
  EXPECT_FALSE(PackedValue().find("a"));
}

TEST(PackedValue, IsEqualWhereverItWasWritten) {
  EXPECT_EQ(PackedValue(valueOf("[1,2]")), PackedValue(valueOf("[1,\n\n2]")));
  EXPECT_FALSE(PackedValue(valueOf("[1,2]")) == PackedValue(valueOf("[12]")));
  EXPECT_FALSE(PackedValue(valueOf("\"1\"")) == PackedValue(valueOf("1")));
  EXPECT_FALSE(PackedValue(valueOf("[[],1]")) == PackedValue(valueOf("[[1]]")));
  EXPECT_TRUE(PackedValue() == Value());
  const char* const texts[] = {"null",  "1",  "\"1\"",      "[]",         "[[],1]",
                               "[[1]]", "{}", R"({"a":1})", R"({"a":2})", R"({"b":1})"};
  for (const char* one : texts) {
    for (const char* other : texts) {
      EXPECT_EQ(PackedValue(valueOf(one)) == valueOf(other), std::string(one) == other) << one << " " << other;
    }
  }
}

/// Gives each part another place, and returns them all.
std::string placed(Value& value, const std::shared_ptr<const std::string>& file, std::uint32_t& count) {
  ++count;
  value.position = {file, 1000 + (count % 3) * 7 - count % 5, count * 100};
  value.blockColumn = count % 4 == 0 ? count : 0;
  std::string places = std::to_string(value.position.line) + ":" + std::to_string(value.position.column) + ":" +
                       std::to_string(value.blockColumn) + " ";
  for (Value& item : value.items) places += placed(item, file, count);
  for (Member& member : value.members) {
    member.position = {file, 5 + count, 1};
    places += std::to_string(member.position.line) + " " + placed(member.value, file, count);
  }
  return places;
}

std::string placesOf(const Value& value) {
  std::string places = std::to_string(value.position.line) + ":" + std::to_string(value.position.column) + ":" +
                       std::to_string(value.blockColumn) + " ";
  for (const Value& item : value.items) places += placesOf(item);
  for (const Member& member : value.members) {
    places += std::to_string(member.position.line) + " " + placesOf(member.value);
  }
  return places;
}

TEST(PackedValue, KeepsThePlacesOfAllPartsInAFile) {
  Value value = valueOf(R"({"a":[1,{"b":[2,[3]]}],"b":{"c":"d"},"e":null})");
  const auto file = std::make_shared<const std::string>("a.yaml");
  std::uint32_t count = 0;
  const std::string places = placed(value, file, count);
  const PackedValue packed = value;
  EXPECT_EQ(placesOf(packed.unpacked()), places);
  EXPECT_EQ(placesOf(*packed.find("b")), placesOf(*value.find("b")));
  EXPECT_EQ(packed.find("e")->position.line, value.find("e")->position.line);
  EXPECT_EQ(packed.find("b")->members[0].value.position.file, file);
  EXPECT_EQ(packed, valueOf(R"({"a":[1,{"b":[2,[3]]}],"b":{"c":"d"},"e":null})"));
}

TEST(PackedValue, TakesHardlyMoreThanItsText) {
  std::string json = "[1";
  while (json.size() < std::size_t{256} * 1024) json += ",1";
  json += "]";
  const std::size_t before = test::liveBytes();
  const PackedValue packed = valueOf(json);
  EXPECT_LT(test::liveBytes() - before, json.size() + json.size() / 8);
  EXPECT_EQ(packed.unpacked().items.size(), json.size() / 2);
}

}  // namespace
}  // namespace sluice::content
