#include "proxy/content/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "proxy/content/json.h"
#include "proxy/content/schema_document.h"

namespace sluice::content {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// A schema with the keywords that processor types use.
constexpr std::string_view kPiiDetector = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "PIIDetector",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "modelRef": {"type": "string", "minLength": 1},
    "redactionStyle": {"type": "string", "enum": ["mask", "delete", "hash"], "default": "mask"},
    "confidenceThreshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.6},
    "maxBodyBytes": {"type": "integer", "minimum": 0, "default": 1048576}
  },
  "required": ["modelRef"]
})";

std::string compileError(std::string_view schema) {
  const auto compiled = JsonSchema::compile(schema);
  return compiled ? "none" : compiled.error().detail;
}

/// Returns "ok" and the value with its defaults, or the faults.
std::string applied(std::string_view schema, std::string_view text) {
  const auto compiled = JsonSchema::compile(schema);
  if (!compiled) return "no schema: " + compiled.error().detail;
  auto value = parseJson(text);
  const auto violations = compiled->apply(*value);
  return violations.empty() ? "ok " + writeJson(*value) : describe(violations);
}

std::string judged(std::string_view text) { return applied(kPiiDetector, text); }

TEST(JsonSchema, FillsInDefaultsThatAConfigOmits) {
  EXPECT_EQ(judged(R"({"modelRef":"m"})"),
            R"(ok {"modelRef":"m","redactionStyle":"mask","confidenceThreshold":0.6,"maxBodyBytes":1048576})");
  EXPECT_EQ(judged(R"({"maxBodyBytes":0,"modelRef":"m","redactionStyle":"hash","confidenceThreshold":1})"),
            R"(ok {"maxBodyBytes":0,"modelRef":"m","redactionStyle":"hash","confidenceThreshold":1})");
}

TEST(JsonSchema, RefusesAndNamesEachForbiddenField) {
  EXPECT_THAT(judged("{}"), AllOf(HasSubstr("modelRef")));
  EXPECT_THAT(judged(R"({"modelRef":""})"), StartsWith("/modelRef: "));
  EXPECT_THAT(judged(R"({"modelRef":1})"), StartsWith("/modelRef: "));
  EXPECT_THAT(judged(R"({"modelRef":"m","redactionStyle":"blur"})"), StartsWith("/redactionStyle: "));
  EXPECT_THAT(judged(R"({"modelRef":"m","confidenceThreshold":1.01})"), StartsWith("/confidenceThreshold: "));
  EXPECT_THAT(judged(R"({"modelRef":"m","confidenceThreshold":-0.01})"), StartsWith("/confidenceThreshold: "));
  EXPECT_THAT(judged(R"({"modelRef":"m","maxBodyBytes":-1})"), StartsWith("/maxBodyBytes: "));
  EXPECT_THAT(judged(R"({"modelRef":"m","maxBodyBytes":1.5})"), StartsWith("/maxBodyBytes: "));
  EXPECT_THAT(judged(R"({"modelRef":"m","modelref":"m"})"), HasSubstr("modelref"));
  EXPECT_THAT(judged("[]"), Not(StartsWith("ok")));
}

TEST(JsonSchema, ReportsAllViolationsAtOnce) {
  auto value = parseJson(R"({"modelRef":"","maxBodyBytes":-1,"redactionStyle":"x"})");
  EXPECT_THAT(JsonSchema::compile(kPiiDetector)->apply(*value), SizeIs(3));
  std::string many = "[";
  for (int i = 0; i < 100; ++i) many += i == 0 ? "1" : ",1";
  auto list = parseJson(many + "]");
  EXPECT_THAT(JsonSchema::compile(R"({"items":{"type":"string"}})")->apply(*list), SizeIs(JsonSchema::kMaxViolations));
}

TEST(JsonSchema, ReportsEscapedPointersToTheFaultyParts) {
  const std::string schema = R"({"properties":{"a/b":{"items":{"properties":{"c~":{"type":"null"}}}}}})";
  EXPECT_THAT(applied(schema, R"({"a/b":[{},{"c~":1}]})"), StartsWith("/a~1b/1/c~0: "));
}

TEST(JsonSchema, FillsDefaultsOfMapsInsideMaps) {
  const std::string inner = R"({"type":"object","properties":{"x":{"default":1},"y":{"default":[]}})";
  const std::string schema = R"({"properties":{"plain":)" + inner + R"(},"given":)" + inner +
                             R"(,"default":{"y":2}},"list":{"items":)" + inner + "}}}}";
  EXPECT_EQ(applied(schema, R"({"plain":{},"list":[{"x":5}]})"),
            R"(ok {"plain":{"x":1,"y":[]},"list":[{"x":5,"y":[]}],"given":{"y":2,"x":1}})");
  EXPECT_EQ(applied(schema, "{}"), R"(ok {"given":{"y":2,"x":1}})");
}

TEST(JsonSchema, FollowsReferencesForDefaults) {
  EXPECT_EQ(applied(R"({"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"integer","default":7}}})", "{}"),
            R"(ok {"a":7})");
  EXPECT_EQ(applied(R"({"allOf":[{"properties":{"a":{"default":1}}}],"properties":{"a":{"default":2}}})", "{}"),
            R"(ok {"a":1})");
}

TEST(JsonSchema, FillsInNoDefaultsOfChoices) {
  const std::string schema = R"({"anyOf":[{"properties":{"a":{"default":1}},"required":["a"]},{"required":["b"]}]})";
  EXPECT_EQ(applied(schema, R"({"b":0})"), R"(ok {"b":0})");
}

TEST(JsonSchema, RefusesDefaultsThatViolateTheSchema) {
  EXPECT_THAT(applied(R"({"properties":{"a":{"type":"string","default":1}}})", "{}"), StartsWith("/a: "));
}

TEST(JsonSchema, GivesADefaultThePositionOfItsConfig) {
  Value value = *parseJson("\n  {}");
  EXPECT_THAT(JsonSchema::compile(R"({"properties":{"a":{"default":{"b":1}}}})")->apply(value), IsEmpty());
  EXPECT_EQ(value.find("a")->find("b")->position.line, 2u);
}

TEST(JsonSchema, SupportsTheOtherKeywordsOfTheDialect) {
  EXPECT_THAT(applied(R"({"oneOf":[{"type":"string"},{"const":1}]})", "1"), StartsWith("ok"));
  EXPECT_THAT(applied(R"({"oneOf":[{"type":"integer"},{"const":1}]})", "1"), Not(StartsWith("ok")));
  EXPECT_THAT(applied(R"({"not":{"type":"string"}})", "\"a\""), Not(StartsWith("ok")));
  EXPECT_THAT(applied(R"({"if":{"const":1},"then":{"minimum":5}})", "1"), Not(StartsWith("ok")));
  EXPECT_THAT(applied(R"({"prefixItems":[true],"items":false})", "[1,2]"), Not(StartsWith("ok")));
  EXPECT_THAT(applied(R"({"uniqueItems":true})", "[1,1]"), Not(StartsWith("ok")));
  EXPECT_THAT(applied(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"), Not(StartsWith("ok")));
  EXPECT_THAT(applied(R"({"properties":{"a":true},"unevaluatedProperties":false})", R"({"b":1})"),
              Not(StartsWith("ok")));
  EXPECT_THAT(applied("true", "1"), StartsWith("ok"));
  EXPECT_THAT(applied("false", "1"), Not(StartsWith("ok")));
}

TEST(JsonSchema, TreatsFormatAsAnAnnotation) {
  EXPECT_THAT(applied(R"({"format":"regex"})", "\"((\""), StartsWith("ok"));
  EXPECT_THAT(applied(R"({"format":"ipv4"})", "\"x\""), StartsWith("ok"));
}

TEST(JsonSchema, RefusesADocumentThatIsNoSchema) {
  for (const char* text :
       {"", "1", "[]", "null", R"({"type":"strnig"})", R"({"type":5})", R"({"required":"a"})", R"({"minLength":-1})",
        R"({"minLength":"1"})", R"({"properties":[]})", R"({"enum":1})", R"({"properties":{"a":1}})", R"({"allOf":[]})",
        R"({"a":1,"a":2})", R"({"$schema":"http://json-schema.org/draft-07/schema#"})", R"({"$schema":1})"}) {
    EXPECT_NE(compileError(text), "none") << text;
  }
  EXPECT_THAT(compileError(R"({"properties":{"a":{"type":"strnig"}}})"), HasSubstr("/properties: "));
}

TEST(JsonSchema, RefusesReferencesOutsideTheDocument) {
  for (const char* ref : {"http://127.0.0.1:1/", "file:///etc/passwd", "other.json", "/etc/passwd", "other.json#/a",
                          "https://json-schema.org/draft/2020-12/schema", ""}) {
    const std::string schema = R"({"properties":{"a":{"$ref":")" + std::string(ref) + "\"}}}";
    EXPECT_THAT(compileError(schema), HasSubstr("/properties/a/$ref: must refer to this document")) << ref;
  }
  EXPECT_THAT(compileError(R"({"$ref":"#/$defs/a"})"), HasSubstr("refers to nothing"));
  EXPECT_THAT(compileError(R"({"$id":"https://a.test/","properties":{"a":{"$id":"b"}}})"),
              HasSubstr("at the top only"));
  EXPECT_THAT(compileError(R"({"$dynamicRef":"#a"})"), HasSubstr("not supported"));
  // A member that only looks like a reference is none.
  EXPECT_EQ(compileError(R"({"properties":{"$ref":{"type":"string"}},"default":{"$ref":"http://a.test/"}})"), "none");
}

TEST(JsonSchema, RefusesCircularReferencesWithoutAStepIntoTheValue) {
  EXPECT_THAT(compileError(R"({"$ref":"#"})"), HasSubstr("refers to itself"));
  EXPECT_THAT(compileError(R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}})"),
              HasSubstr("refers to itself"));
  const std::string tree = R"({"type":"object","additionalProperties":{"$ref":"#"}})";
  EXPECT_EQ(applied(tree, R"({"a":{"b":{}}})"), R"(ok {"a":{"b":{}}})");
  EXPECT_THAT(applied(tree, R"({"a":{"b":1}})"), HasSubstr("found but was invalid"));
  // Filling in the defaults of a recursive schema ends.
  EXPECT_NE(applied(R"({"properties":{"a":{"$ref":"#","default":{}}}})", "{}"), "");
}

TEST(JsonSchema, RefusesSchemasWithTooMuchFanOut) {
  std::string laughs = R"({"$ref":"#/$defs/l0","$defs":{"l20":{"type":"string"})";
  for (int i = 0; i < 20; ++i) {
    const std::string next = R"({"$ref":"#/$defs/l)" + std::to_string(i + 1) + "\"}";
    laughs += ",\"l" + std::to_string(i) + "\":{\"allOf\":[" + next + "," + next + "]}";
  }
  EXPECT_THAT(compileError(laughs + "}}"), HasSubstr("more than 1000 schemas"));
}

std::string enumOf(std::size_t values) {
  std::string text = "{\"enum\":[0";
  for (std::size_t i = 1; i < values; ++i) text += "," + std::to_string(i);
  return text + "]}";
}

std::string nestedSchema(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += "{\"items\":";
  return text + "true" + std::string(depth, '}');
}

TEST(JsonSchema, IsBoundedInSizeAndDepth) {
  EXPECT_EQ(compileError(enumOf(kMaxSchemaNodes - 2)), "none");
  EXPECT_THAT(compileError(enumOf(kMaxSchemaNodes - 1)), HasSubstr("more than 20000 values"));
  EXPECT_EQ(compileError(nestedSchema(kMaxSchemaDepth)), "none");
  EXPECT_NE(compileError(nestedSchema(kMaxSchemaDepth + 1)), "none");
  const auto titled = [](std::size_t bytes) { return "{\"title\":\"" + std::string(bytes - 12, 'x') + "\"}"; };
  EXPECT_EQ(compileError(titled(JsonSchema::kMaxTextBytes)), "none");
  EXPECT_THAT(compileError(titled(JsonSchema::kMaxTextBytes + 1)), HasSubstr("longer than"));
}

TEST(JsonSchema, SearchesForPatternsAndDoesNotTryThemOnLongValues) {
  const std::string schema = R"({"pattern":"^(a+)+$"})";
  const auto text = [](std::size_t bytes) { return "\"" + std::string(bytes, 'a') + "\""; };
  EXPECT_THAT(applied(schema, text(JsonSchema::kMaxPatternedBytes)), StartsWith("ok"));
  EXPECT_THAT(applied(schema, text(JsonSchema::kMaxPatternedBytes + 1)), HasSubstr("no pattern is tried"));
  EXPECT_THAT(applied(R"({"not":{"pattern":"b"}})", text(2000)), HasSubstr("no pattern is tried"));
  EXPECT_THAT(applied(R"({"properties":{"a":{"pattern":"b"}}})", "{\"a\":" + text(2000) + "}"), StartsWith("/a: "));
  EXPECT_THAT(applied(R"({"pattern":"b"})", "\"abc\""), StartsWith("ok"));
  EXPECT_THAT(applied(R"({"pattern":"^b"})", "\"abc\""), HasSubstr("does not match"));
  EXPECT_THAT(applied(R"({"pattern":"^.$"})", "\"ü\""), StartsWith("ok"));
  EXPECT_THAT(applied(R"({"pattern":"b"})", "1"), StartsWith("ok"));
}

TEST(JsonSchema, EvaluatesPatternsInLinearTime) {
  std::string hostile(1000, 'a');
  EXPECT_THAT(applied(R"({"pattern":"^(a|a)*(a+)+$"})", "\"" + hostile + "!\""), HasSubstr("does not match"));
  EXPECT_THAT(compileError(R"({"pattern":"(a)\\1"})"), HasSubstr("RE2"));
  EXPECT_THAT(compileError(R"({"pattern":"("})"), HasSubstr("RE2"));
  EXPECT_THAT(compileError(R"({"patternProperties":{"^a":true}})"), HasSubstr("/patternProperties: is not supported"));
}

TEST(JsonSchema, WritesMessagesOfOneBoundedLine) {
  const std::string message = applied(R"({"enum":["a"]})", "\"x\\n" + std::string(5000, 'y') + "\"");
  EXPECT_LT(message.size(), 400u);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(JsonSchema, AcceptsNumbersInTheSpellingsOfYaml) {
  Value value;
  value.kind = Value::Kind::kNumber;
  const auto schema = JsonSchema::compile(R"({"type":"integer","maximum":31})");
  for (const auto& [text, fine] :
       {std::pair{"0x1F", true}, {"0x20", false}, {"+7", true}, {"007", true}, {".5", false}}) {
    value.text = text;
    EXPECT_EQ(schema->apply(value).empty(), fine) << text;
  }
}

}  // namespace
}  // namespace sluice::content
