#include "proxy/content/json_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/content/json.h"

namespace sluice::content {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

JsonEdit setting(std::string_view pointer, std::string_view json) {
  return {*JsonPointer::parse(pointer), *parseJson(json)};
}

JsonEdit removing(std::string_view pointer) { return {*JsonPointer::parse(pointer), std::nullopt}; }

/// Returns the document after the edits, or "error: ...".
std::string after(std::string_view document, const std::vector<JsonEdit>& edits) {
  auto result = editJson(document, edits);
  return result ? std::move(result).value() : "error: " + result.error().detail;
}

std::string set(std::string_view document, std::string_view pointer, std::string_view json) {
  return after(document, {setting(pointer, json)});
}

std::string removed(std::string_view document, std::string_view pointer) {
  return after(document, {removing(pointer)});
}

TEST(JsonEdit, ReplacesAValueAndNoOtherByte) {
  const std::string before = " {\r\n\t\"unknown\" : [ 1e5 , 0.10, {\"x\":null} ] ,\"model\"  :  ";
  const std::string behind = "  , \"\\u00e9\\/\": \"\\ud83d\\ude00\"\n}\n";
  for (const char* old : {"\"old\"", "1.50e+7", "true", "null", "{\"a\" : [ ]}", "[[], {} ]", "\"\\\"]}\""}) {
    EXPECT_EQ(set(before + old + behind, "/model", "\"new\""), before + "\"new\"" + behind) << old;
  }
}

TEST(JsonEdit, FindsEscapedNames) {
  EXPECT_EQ(set(R"({"\u006dodel":1})", "/model", "2"), R"({"\u006dodel":2})");
  EXPECT_EQ(set(R"({"a\/b":1,"m~n":2})", "/a~1b", "3"), R"({"a\/b":3,"m~n":2})");
  EXPECT_EQ(set(R"({"\ud83d\ude00":1})", "/\xF0\x9F\x98\x80", "2"), R"({"\ud83d\ude00":2})");
  EXPECT_EQ(set(R"({"\u00E9":1,"\u20ac":1})", "/\xC3\xA9", "2"), R"({"\u00E9":2,"\u20ac":1})");
  EXPECT_EQ(set(R"({"\ud83d":1})", "/x", "2"), R"({"\ud83d":1,"x":2})") << "half of a pair is no other name";
  EXPECT_EQ(set(R"({"Model":1})", "/model", "2"), R"({"Model":1,"model":2})") << "case counts";
}

TEST(JsonEdit, WalksThroughMapsAndLists) {
  const std::string document = R"({"messages": [{"role": "user"}, {"role": "x", "content": [1, [2, 3]]}]})";
  EXPECT_EQ(set(document, "/messages/1/content/1/0", "{}"),
            R"({"messages": [{"role": "user"}, {"role": "x", "content": [1, [{}, 3]]}]})");
  EXPECT_EQ(set("[1,2]", "/0", "3"), "[3,2]");
  EXPECT_EQ(set(R"({"0": 1})", "/0", "2"), R"({"0": 2})");
}

TEST(JsonEdit, AddsAMissingValue) {
  EXPECT_EQ(set(R"({"a": 1 })", "/b", "2"), R"({"a": 1,"b":2 })");
  EXPECT_EQ(set("{ }", "/b", "2"), R"({"b":2 })");
  EXPECT_EQ(set(R"({"a": {}})", "/a/b/c~1d/\"", "[null]"), R"({"a": {"b":{"c/d":{"\"":[null]}}}})");
  EXPECT_EQ(set("[ ]", "/-", "1"), "[1 ]");
  EXPECT_EQ(set("[1]", "/-", "2"), "[1,2]");
  EXPECT_EQ(set("[1]", "/1", "2"), "[1,2]");
  EXPECT_EQ(set("[1]", "/-/a", "2"), R"([1,{"a":2}])");
  EXPECT_EQ(set("{}", "/a/0", "1"), R"({"a":{"0":1}})") << "lists are not made";
}

TEST(JsonEdit, RefusesToSetAValueWithoutAPlace) {
  EXPECT_THAT(set("[1]", "/2", "2"), StartsWith("error: \"/2\" leads nowhere: its step 1"));
  for (const char* pointer : {"/a", "/00", "/-1", "/01"}) EXPECT_THAT(set("[1]", pointer, "2"), StartsWith("error: "));
  EXPECT_THAT(set(R"({"a": 1})", "/a/b", "2"), StartsWith("error: \"/a/b\" leads nowhere: its step 2"));
  EXPECT_THAT(set("null", "/a", "2"), StartsWith("error: "));
}

TEST(JsonEdit, ReplacesTheWholeDocumentButDoesNotRemoveIt) {
  EXPECT_EQ(set(" [1] \n", "", "{}"), " {} \n");
  EXPECT_THAT(removed("[1]", ""), StartsWith("error: "));
}

TEST(JsonEdit, RemovesAMemberWithOneComma) {
  const std::string document = R"({ "a": 1 , "b": 2 , "c": 3 })";
  EXPECT_EQ(removed(document, "/a"), R"({ "b": 2 , "c": 3 })");
  EXPECT_EQ(removed(document, "/b"), R"({ "a": 1 , "c": 3 })");
  EXPECT_EQ(removed(document, "/c"), R"({ "a": 1 , "b": 2 })");
  EXPECT_EQ(removed(R"({ "a": 1 })", "/a"), "{  }");
  EXPECT_EQ(removed("[1,[2],3]", "/1"), "[1,3]");
  EXPECT_EQ(removed("[1,[2],3]", "/1/0"), "[1,[],3]");
  EXPECT_EQ(removed("[1,[2],3]", "/0"), "[[2],3]");
}

TEST(JsonEdit, ChangesNothingWhenItRemovesAMissingValue) {
  const std::string document = R"({"a": [1], "b": {"c": 2}})";
  for (const char* pointer : {"/x", "/a/1", "/a/-", "/a/x", "/b/c/d", "/b/x/y", "/a/0/0"}) {
    EXPECT_EQ(removed(document, pointer), document) << pointer;
  }
}

TEST(JsonEdit, MakesOneEditAfterTheOther) {
  EXPECT_EQ(after("{}", {setting("/a", "[]"), setting("/a/-", "1"), setting("/a/-", "2"), removing("/a/0")}),
            R"({"a":[2]})");
  EXPECT_EQ(after("anything at all", {}), "anything at all") << "none";
  EXPECT_THAT(after("{}", {setting("/a", "1"), setting("/a/b", "1")}), StartsWith("error: "));
}

TEST(JsonEdit, WritesWellFormedStrings) {
  Value text;
  text.kind = Value::Kind::kString;
  text.text = "\"},\n\\\x01";
  EXPECT_EQ(after(R"({"a":0})", {{*JsonPointer::parse("/a"), text}}), R"({"a":"\"},\n\\\u0001"})");
}

TEST(JsonEdit, RefusesToWriteAValueThatIsNoJson) {
  const auto setTo = [](Value::Kind kind, std::string text) {
    Value value;
    value.kind = kind;
    value.text = std::move(text);
    return after("{}", {{*JsonPointer::parse("/a"), value}});
  };
  EXPECT_EQ(setTo(Value::Kind::kNumber, "-1.5e3"), R"({"a":-1.5e3})");
  EXPECT_THAT(setTo(Value::Kind::kNumber, "1,\"b\":2"), HasSubstr("no JSON"));
  EXPECT_THAT(setTo(Value::Kind::kNumber, "nan"), HasSubstr("no JSON"));
  EXPECT_THAT(setTo(Value::Kind::kBool, ""), HasSubstr("no JSON"));
  EXPECT_THAT(setTo(Value::Kind::kString, "\xff"), HasSubstr("no JSON"));
  EXPECT_THAT(set("{}", "/\xff", "1"), HasSubstr("no JSON"));
}

TEST(JsonEdit, RefusesDuplicateNamesOnTheWay) {
  for (const char* twice : {R"({"a":1,"a":2})", R"({"a":1,"b":2,"\u0061":3})", R"({"b":1,"b":1,"a":2})"}) {
    EXPECT_THAT(set(twice, "/a", "0"), HasSubstr("has a name twice")) << twice;
    EXPECT_THAT(removed(twice, "/x"), HasSubstr("has a name twice")) << twice;
  }
  EXPECT_EQ(set(R"({"x":{"b":1,"b":2},"a":1})", "/a", "0"), R"({"x":{"b":1,"b":2},"a":0})") << "off the way they stay";
}

TEST(JsonEdit, RefusesADocumentThatIsNoJsonAnywhere) {
  for (const char* bad : {"",
                          " ",
                          "{",
                          "[",
                          "{\"a\":1",
                          "{\"a\":1,}",
                          "{\"a\" 1}",
                          "{a:1}",
                          "{\"a\":1}}",
                          "{\"a\":1} x",
                          "{\"a\":01}",
                          "{\"a\":1.}",
                          "{\"a\":.5}",
                          "{\"a\":1e}",
                          "{\"a\":+1}",
                          "{\"a\":-}",
                          "{\"a\":tru}",
                          "{\"a\":NaN}",
                          "{\"a\":'x'}",
                          "{\"a\":\"\n\"}",
                          "{\"a\":\"\\x\"}",
                          "{\"a\":\"\\u12g4\"}",
                          "{\"a\":\"\\u12\"}",
                          "{\"a\":\"x}",
                          "[1,]",
                          "[,]",
                          "[1 2]",
                          "{\"a\":1,,\"b\":2}",
                          "/* */{}",
                          "{\"b\":[1,2}",
                          "{\"a\":\"\\"}) {
    EXPECT_THAT(set(bad, "/a", "0"), StartsWith("error: byte ")) << bad;
    EXPECT_THAT(removed(bad, "/x/y"), StartsWith("error: byte ")) << bad;
  }
}

TEST(JsonEdit, IsBoundedInDepth) {
  const auto deep = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_THAT(set(deep(64), "/a", "0"), HasSubstr("\"a\":0"));
  EXPECT_THAT(set(deep(65), "/a", "0"), StartsWith("error: byte 68"));
  std::string path;
  for (int i = 0; i < 64; ++i) path += "/x";
  EXPECT_THAT(set("{}", path, "0"), StartsWith("{\"x\":{"));
  EXPECT_THAT(set("{}", path + "/x", "0"), HasSubstr("is too deep"));
}

TEST(JsonEdit, PreservesAByteOrderMarkAndTextThatIsNoUtf8) {
  EXPECT_EQ(set("\xEF\xBB\xBF{\"a\":\"\xff\"}", "/b", "1"), "\xEF\xBB\xBF{\"a\":\"\xff\",\"b\":1}");
}

TEST(JsonEdit, DoesNotQuoteTheDocumentInItsErrors) {
  EXPECT_EQ(set(R"({"secret": "hunter2", "secret": 1})", "/a", "1").find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace sluice::content
