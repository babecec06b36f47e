#include "proxy/content/schema/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/content/json.h"
#include "proxy/content/schema/schema_bounds.h"
#include "test/content/schema/schema_judge.h"

namespace sluice::content {
namespace {

using test::compileError;
using test::judged;
using ::testing::AllOf;
using ::testing::HasSubstr;
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

std::string configured(std::string_view text) { return judged(kPiiDetector, text); }

TEST(JsonSchema, RefusesAndNamesEachForbiddenField) {
  EXPECT_EQ(configured(R"({"modelRef":"m","confidenceThreshold":1,"maxBodyBytes":0})"), "ok");
  EXPECT_EQ(configured("{}"), "must have the member \"modelRef\"");
  EXPECT_EQ(configured(R"({"modelRef":""})"), "/modelRef: must have at least 1 characters");
  EXPECT_EQ(configured(R"({"modelRef":1})"), "/modelRef: must be a string, but is a number");
  EXPECT_EQ(configured(R"({"modelRef":"m","redactionStyle":"blur"})"),
            R"(/redactionStyle: must be one of "mask", "delete", "hash")");
  EXPECT_EQ(configured(R"({"modelRef":"m","confidenceThreshold":1.01})"), "/confidenceThreshold: must be at most 1");
  EXPECT_EQ(configured(R"({"modelRef":"m","confidenceThreshold":-0.01})"), "/confidenceThreshold: must be at least 0");
  EXPECT_EQ(configured(R"({"modelRef":"m","maxBodyBytes":1.5})"), "/maxBodyBytes: must be a whole number");
  EXPECT_EQ(configured(R"({"modelRef":"m","modelref":"m"})"), "/modelref: is not allowed");
  EXPECT_EQ(configured("[]"), "must be a map, but is a list");
}

TEST(JsonSchema, ReportsAllViolationsAtOnce) {
  const auto value = parseJson(R"({"modelRef":"","maxBodyBytes":-1,"redactionStyle":"x"})");
  EXPECT_THAT(JsonSchema::compile(kPiiDetector)->check(*value), SizeIs(3));
}

TEST(JsonSchema, ReportsEscapedPointersToTheFaultyParts) {
  const std::string schema = R"({"properties":{"a/b":{"items":{"properties":{"c~":{"type":"null"}}}}}})";
  EXPECT_THAT(judged(schema, R"({"a/b":[{},{"c~":1}]})"), StartsWith("/a~1b/1/c~0: "));
}

TEST(JsonSchema, NamesTheRuleThatAValueBreaks) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {R"({"type":["string","null"]})", "1", "must be null or a string, but is a number"},
      {R"({"type":["integer","string"]})", "1.5", "must be a string or a whole number"},
      {R"({"const":{"a":1}})", "{}", R"(must be {"a":1})"},
      {R"({"exclusiveMinimum":1})", "1", "must be greater than 1"},
      {R"({"exclusiveMaximum":1.50})", "1.5", "must be less than 1.50"},
      {R"({"multipleOf":0.1})", "0.25", "must be a multiple of 0.1"},
      {R"({"maxLength":2})", "\"üüü\"", "must have at most 2 characters"},
      {R"({"pattern":"^b"})", "\"ab\"", "does not match the pattern ^b"},
      {R"({"minItems":2})", "[1]", "must have at least 2 elements"},
      {R"({"uniqueItems":true})", "[1,2,1.0]", "must not have the same element twice, but has it at 0 and 2"},
      {R"({"contains":{"const":1}})", "[2]", "must have at least 1 elements that match contains"},
      {R"({"contains":{"const":1},"maxContains":1})", "[1,1]", "must have at most 1 elements that match contains"},
      {R"({"maxProperties":0})", R"({"a":1})", "must have at most 0 members"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", R"(must have the member "b", because it has "a")"},
      {R"({"propertyNames":{"maxLength":1}})", R"({"ab":1})", "must not have a member named \"ab\""},
      {R"({"anyOf":[{"type":"null"},false]})", "1", "matches none of the 2 schemas of anyOf"},
      {R"({"oneOf":[{"type":"null"}]})", "1", "matches none of the 1 schemas of oneOf"},
      {R"({"oneOf":[true,true,false]})", "1", "matches more than one of the 3 schemas of oneOf"},
      {R"({"not":{}})", "1", "must not match the schema of not"},
      {R"({"if":true,"then":{"minimum":5}})", "1", "must be at least 5"},
      {R"({"properties":{"a":true},"unevaluatedProperties":false})", R"({"a":1,"b":1})", "/b: is not allowed"},
      {R"({"prefixItems":[true],"unevaluatedItems":{"type":"null"}})", "[1,1]", "/1: must be null, but is a number"},
  };
  for (const auto& [schema, text, fault] : cases) EXPECT_EQ(judged(schema, text), fault) << schema;
}

TEST(JsonSchema, TreatsFormatAsAnAnnotation) {
  EXPECT_EQ(judged(R"({"format":"regex"})", "\"((\""), "ok");
  EXPECT_EQ(judged(R"({"format":"ipv4"})", "\"x\""), "ok");
}

TEST(JsonSchema, RefusesADocumentThatIsNoSchema) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "the schema: must be a schema"},
      {"[]", "the schema: must be a schema"},
      {"null", "the schema: must be a schema"},
      {R"({"type":"strnig"})", "/type: must be array, boolean"},
      {R"({"type":5})", "/type: must be array, boolean"},
      {R"({"type":[]})", "/type: must be array, boolean"},
      {R"({"type":["null","null"]})", "/type: must be array, boolean"},
      {R"({"required":"a"})", "/required: must be a list of different strings"},
      {R"({"required":["a","a"]})", "/required: must be a list of different strings"},
      {R"({"minLength":-1})", "/minLength: must be a whole number"},
      {R"({"minLength":"1"})", "/minLength: must be a number"},
      {R"({"multipleOf":0})", "/multipleOf: must be greater than 0"},
      {R"({"properties":[]})", "/properties: must be a map"},
      {R"({"enum":1})", "/enum: must be a list"},
      {R"({"properties":{"a":1}})", "/properties/a: must be a schema"},
      {R"({"properties":{"a":{"type":"strnig"}}})", "/properties/a/type: must be"},
      {R"({"$defs":{"a":{"items":[]}}})", "/$defs/a/items: must be a schema"},
      {R"({"allOf":[]})", "/allOf: must be a list of at least one schema"},
      {R"({"allOf":[true,3]})", "/allOf/1: must be a schema"},
      {R"({"a":1,"a":2})", "line 1, column 8: repeats"},
      {R"({"$schema":"http://json-schema.org/draft-07/schema#"})", "/$schema: must be https://json-schema.org/"},
      {R"({"$schema":1})", "/$schema: must be https://json-schema.org/"},
      {R"({"$id":"a#b"})", "/$id: must be a URI without a fragment"},
      {R"({"$anchor":"1"})", "/$anchor: must be a letter"},
      {R"({"$vocabulary":{"a":1}})", "/$vocabulary: must be a map of booleans"},
      {R"({"title":1})", "/title: must be a string"},
      {R"({"deprecated":1})", "/deprecated: must be a boolean"},
      {R"({"dependencies":{"a":1}})", "/dependencies: must be a map"},
      {R"({"pattern":"(a)\\1"})", "/pattern: is not a regular expression of RE2: RE2 has no back-references"},
      {R"({"patternProperties":{"(":true}})", "/patternProperties/(: is not a regular expression of RE2"},
  };
  for (const auto& [schema, fault] : cases) EXPECT_THAT(compileError(schema), StartsWith(fault)) << schema;
}

TEST(JsonSchema, IsBooleanToo) {
  EXPECT_EQ(judged("true", "1"), "ok");
  EXPECT_EQ(judged("false", "1"), "is not allowed");
}

TEST(JsonSchema, SearchesForPatternsAndDoesNotTryThemOnLongValues) {
  const std::string schema = R"({"pattern":"^(a+)+$"})";
  const auto text = [](std::size_t bytes) { return "\"" + std::string(bytes, 'a') + "\""; };
  EXPECT_EQ(judged(schema, text(kMaxPatternedBytes)), "ok");
  EXPECT_THAT(judged(schema, text(kMaxPatternedBytes + 1)), HasSubstr("no pattern is tried"));
  EXPECT_THAT(judged(R"({"not":{"pattern":"b"}})", text(2000)), HasSubstr("no pattern is tried"));
  EXPECT_THAT(judged(R"({"properties":{"a":{"pattern":"b"}}})", "{\"a\":" + text(2000) + "}"), StartsWith("/a: "));
  EXPECT_EQ(judged(R"({"pattern":"b"})", "\"abc\""), "ok");
  EXPECT_EQ(judged(R"({"pattern":"^.$"})", "\"ü\""), "ok");
  EXPECT_EQ(judged(R"({"pattern":"b"})", "1"), "ok");
}

TEST(JsonSchema, DoesNotTryPatternsOnLongNames) {
  const auto map = [](std::size_t bytes) { return "{\"" + std::string(bytes, 'a') + "\":1}"; };
  const std::string named = R"({"patternProperties":{"^a+$":{"type":"number"}},"additionalProperties":false})";
  EXPECT_EQ(judged(named, map(kMaxPatternedBytes)), "ok");
  EXPECT_THAT(judged(named, map(kMaxPatternedBytes + 1)), HasSubstr("no pattern is tried"));
  const std::string names = R"({"propertyNames":{"pattern":"^a+$"}})";
  EXPECT_EQ(judged(names, map(kMaxPatternedBytes)), "ok");
  EXPECT_THAT(judged(names, map(kMaxPatternedBytes + 1)), HasSubstr("no pattern is tried"));
}

TEST(JsonSchema, EvaluatesPatternsInLinearTime) {
  const std::string hostile(1000, 'a');
  EXPECT_THAT(judged(R"({"pattern":"^(a|a)*(a+)+$"})", "\"" + hostile + "!\""), HasSubstr("does not match"));
}

TEST(JsonSchema, WritesPointersAndMessagesOfOneBoundedLine) {
  const std::string longName(5000, 'y');
  for (const std::string& fault :
       {judged(R"({"enum":["a\nb"]})", "\"x\\n" + longName + "\""),
        judged(R"({"additionalProperties":false})", "{\"x\\n" + longName + "\":1}"),
        judged(R"({"const":")" + longName + "\"}", "1"), judged(R"({"required":["\n)" + longName + "\"]}", "{}")}) {
    EXPECT_LT(fault.size(), 700u);
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
    EXPECT_NE(fault, "ok");
  }
  EXPECT_LT(compileError("{\"properties\":{\"" + longName + "\":1}}").size(), 700u);
}

TEST(JsonSchema, AcceptsNumbersInTheSpellingsOfYaml) {
  Value value;
  value.kind = Value::Kind::kNumber;
  for (const auto& [text, fine] :
       {std::pair{"0x1F", true}, {"0x20", false}, {"+7", true}, {"007", true}, {".5", false}}) {
    value.text = text;
    EXPECT_EQ(judged(R"({"type":"integer","maximum":31})", value) == "ok", fine) << text;
  }
}

TEST(JsonSchema, ComparesNumbersOfAnySizeExactly) {
  const std::string schema = R"({"type":"integer","maximum":123456789012345678901234567890})";
  EXPECT_EQ(judged(schema, "123456789012345678901234567890"), "ok");
  EXPECT_THAT(judged(schema, "123456789012345678901234567891"), StartsWith("must be at most"));
  EXPECT_EQ(judged(schema, "1.0"), "ok");
  EXPECT_EQ(judged(schema, "1e1"), "ok");
  EXPECT_EQ(judged(R"({"enum":[1]})", "1.00"), "ok");
  EXPECT_NE(judged(R"({"enum":[18446744073709551616]})", "18446744073709551617"), "ok");
  EXPECT_EQ(judged(R"({"const":{"a":[1,2],"b":null}})", R"({"b":null,"a":[1.0,2e0]})"), "ok");
}

}  // namespace
}  // namespace sluice::content
