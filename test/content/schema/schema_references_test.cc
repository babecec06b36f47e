// References, identifiers and anchors of JSON Schemas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "test/content/schema/schema_judge.h"

namespace sluice::content {
namespace {

using test::compileError;
using test::judged;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kMeta = R"({"$ref":"https://json-schema.org/draft/2020-12/schema"})";

TEST(SchemaReferences, LeadNowhereOutsideTheDocument) {
  for (const char* ref : {"http://127.0.0.1:1/", "file:///etc/passwd", "other.json", "/etc/passwd", "other.json#/a",
                          "http://json-schema.org/draft-07/schema#", "//a.test/b"}) {
    for (const char* keyword : {"$ref", "$dynamicRef"}) {
      const std::string schema =
          R"({"properties":{"a":{")" + std::string(keyword) + R"(":")" + std::string(ref) + "\"}}}";
      EXPECT_THAT(compileError(schema),
                  StartsWith("/properties/a/" + std::string(keyword) + ": must refer to this document"))
          << ref;
    }
  }
  EXPECT_THAT(compileError(R"({"$ref":"#/$defs/a"})"), StartsWith("/$ref: refers to nothing"));
  EXPECT_THAT(compileError(R"({"$ref":"#a"})"), HasSubstr("refers to nothing"));
  EXPECT_THAT(compileError(R"({"$ref":"#/%zz"})"), HasSubstr("refers to nothing"));
  EXPECT_THAT(compileError(R"({"$ref":"#/title","title":"a"})"), StartsWith("/title: must be a schema"));
  // A member that only looks like a reference is none.
  EXPECT_EQ(compileError(R"({"properties":{"$ref":{"type":"string"}},"default":{"$ref":"http://a.test/"}})"), "none");
}

TEST(SchemaReferences, OfUnusedSchemasAreCheckedToo) {
  EXPECT_THAT(compileError(R"({"$defs":{"a":{"$ref":"#/$defs/b"}}})"), StartsWith("/$defs/a/$ref: refers to nothing"));
  EXPECT_THAT(compileError(R"({"$defs":{"a":{"pattern":"("}}})"), StartsWith("/$defs/a/pattern: "));
}

TEST(SchemaReferences, LeadToPointersAndAnchors) {
  const std::string defs = R"("$defs":{"a b%":{"type":"null"},"c":{"$anchor":"x","type":"string"}},)";
  EXPECT_EQ(judged("{" + defs + R"("$ref":"#/$defs/a%20b%25"})", "null"), "ok");
  EXPECT_NE(judged("{" + defs + R"("$ref":"#/$defs/a%20b%25"})", "1"), "ok");
  EXPECT_EQ(judged("{" + defs + R"("$ref":"#x"})", "\"\""), "ok");
  EXPECT_NE(judged("{" + defs + R"("$ref":"#x"})", "1"), "ok");
  EXPECT_NE(judged(R"({"items":{"$ref":"#/made/up"},"made":{"up":{"type":"null"}}})", "[1]"), "ok");
  EXPECT_EQ(judged(R"({"properties":{"a":{"$ref":""}},"additionalProperties":false})", R"({"a":{"a":{}}})"), "ok");
  EXPECT_EQ(judged(R"({"properties":{"a":{"$ref":""}},"additionalProperties":false})", R"({"a":{"b":{}}})"),
            "/a/b: is not allowed");
}

TEST(SchemaReferences, AreRelativeToTheNearestIdentifier) {
  const std::string schema = R"({"$id":"http://a.test/b/root.json","$ref":"sub/item.json#n","$defs":{
    "one":{"$id":"sub/item.json","$defs":{"n":{"$anchor":"n","$ref":"#/$defs/m"},"m":{"type":"null"}}},
    "m":{"type":"string"}}})";
  EXPECT_EQ(judged(schema, "null"), "ok");
  EXPECT_NE(judged(schema, "\"\""), "ok");
  EXPECT_EQ(judged(R"({"$id":"urn:x:y","$ref":"urn:x:y#/$defs/a","$defs":{"a":{"const":1}}})", "1"), "ok");
}

TEST(SchemaReferences, NeedIdentifiersAndAnchorsThatAreUnique) {
  EXPECT_THAT(compileError(R"({"$defs":{"a":{"$id":"http://a.test/"},"b":{"$id":"http://a.test/"}}})"),
              StartsWith("/$defs/b/$id: is the URI of another schema"));
  EXPECT_THAT(compileError(R"({"$anchor":"x","$defs":{"b":{"$dynamicAnchor":"x"}}})"),
              StartsWith("/$defs/b/$dynamicAnchor: is the name of another anchor"));
  EXPECT_EQ(compileError(R"({"$anchor":"x","$dynamicAnchor":"x"})"), "none");
  EXPECT_EQ(compileError(R"({"$anchor":"x","$defs":{"b":{"$id":"http://a.test/","$anchor":"x"}}})"), "none");
}

TEST(SchemaReferences, ThatAreDynamicLeadToTheOutermostSchemaInScope) {
  const std::string tree = R"({"$id":"http://a.test/tree","$dynamicAnchor":"node","type":"object",
      "properties":{"data":true,"children":{"items":{"$dynamicRef":"#node"}}}})";
  const std::string strict = R"({"$id":"http://a.test/strict","$dynamicAnchor":"node","$ref":"tree",
      "unevaluatedProperties":false,"$defs":{"tree":)" +
                             tree + "}}";
  constexpr std::string_view kMisspelled = R"({"children":[{"daat":1}]})";
  EXPECT_EQ(judged(tree, kMisspelled), "ok");
  EXPECT_NE(judged(strict, kMisspelled), "ok");
  EXPECT_EQ(judged(strict, R"({"children":[{"data":1}]})"), "ok");
}

TEST(SchemaReferences, ThatAreDynamicNeedADynamicAnchorAtTheirFirstTarget) {
  const auto with = [](const std::string& anchor) {
    return R"({"$id":"http://a.test/","$ref":"list","$defs":{"own":{"$dynamicAnchor":"x","type":"string"},
      "list":{"$id":"list","items":{"$dynamicRef":"#x"},"$defs":{"d":{")" +
           anchor + R"(":"x","type":"number"}}}}})";
  };
  EXPECT_EQ(judged(with("$dynamicAnchor"), R"(["a"])"), "ok");
  EXPECT_NE(judged(with("$dynamicAnchor"), "[1]"), "ok");
  EXPECT_EQ(judged(with("$anchor"), "[1]"), "ok");
  EXPECT_NE(judged(with("$anchor"), R"(["a"])"), "ok");
}

TEST(SchemaReferences, ReachTheMetaSchemasOfTheDialect) {
  EXPECT_EQ(judged(kMeta, R"({"type":"object","properties":{"a":{"minLength":1}}})"), "ok");
  EXPECT_EQ(judged(kMeta, R"({"properties":{"a":{"minLength":-1}}})"), "/properties/a/minLength: must be at least 0");
  EXPECT_NE(judged(kMeta, R"({"$defs":{"a":{"items":{"type":"strnig"}}}})"), "ok");
  const std::string part = R"({"$ref":"https://json-schema.org/draft/2020-12/meta/validation#/$defs/stringArray"})";
  EXPECT_EQ(judged(part, R"(["a","b"])"), "ok");
  EXPECT_NE(judged(part, R"(["a","a"])"), "ok");
  EXPECT_EQ(judged(R"({"$ref":"https://json-schema.org/draft/2020-12/meta/format-assertion"})", "{}"), "ok");
}

TEST(SchemaReferences, CannotLeadBackWithoutAStepIntoTheValue) {
  for (const char* schema :
       {R"({"$ref":"#"})", R"({"$dynamicRef":"#"})",
        R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}})",
        R"({"if":{"anyOf":[{"oneOf":[{"$ref":"#"}]}]}})", R"({"if":true,"then":{"allOf":[{"$ref":"#"}]}})",
        R"({"dependentSchemas":{"a":{"$ref":"#"}}})"}) {
    EXPECT_THAT(compileError(schema), HasSubstr("refers to itself")) << schema;
  }
  const std::string tree = R"({"type":"object","additionalProperties":{"$ref":"#"}})";
  EXPECT_EQ(judged(tree, R"({"a":{"b":{}}})"), "ok");
  EXPECT_EQ(judged(tree, R"({"a":{"b":1}})"), "/a/b: must be a map, but is a number");
}

TEST(SchemaReferences, ThatAreDynamicAndLeadBackEndTheCheck) {
  EXPECT_THAT(judged(R"({"$dynamicAnchor":"x","$dynamicRef":"#x"})", "1"), HasSubstr("inside each other"));
  EXPECT_THAT(judged(R"({"$dynamicAnchor":"x","not":{"$dynamicRef":"#x"}})", "1"), HasSubstr("inside each other"));
}

/// Returns the words of a text.
std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// The keywords are checked by hand when a schema is compiled, and the meta-schema gives the same result.
TEST(SchemaReferences, ToTheMetaSchemaAcceptWhatIsCompiled) {
  const auto meta = JsonSchema::compile(kMeta);
  ASSERT_TRUE(meta);
  const auto keywords = wordsOf(
      "$anchor $comment $defs $dynamicAnchor $recursiveAnchor $vocabulary additionalProperties allOf const contains "
      "contentEncoding contentMediaType contentSchema default definitions dependencies dependentRequired "
      "dependentSchemas deprecated description else enum examples exclusiveMaximum exclusiveMinimum format if items "
      "maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties minimum "
      "multipleOf not oneOf patternProperties prefixItems properties propertyNames readOnly required then title type "
      "unevaluatedItems unevaluatedProperties uniqueItems writeOnly");
  const auto values = wordsOf(
      R"(null true 1 -1 1.5 2.0 0 "" "a" "#" "null" [] [1] ["a"] ["a","a"] ["null"] ["null","null"] [true] [{}] {})"
      R"( {"a":1} {"a":true} {"a":{}} {"a":[]} {"a":["b"]} {"a":["b","b"]})");
  for (const std::string& keyword : keywords) {
    for (const std::string& value : values) {
      const std::string text = "{\"" + keyword + "\":" + value + "}";
      const bool compiles = compileError(text) == "none";
      EXPECT_EQ(compiles, meta->check(*parseJson(text)).empty()) << text << ": " << compileError(text);
    }
  }
}

}  // namespace
}  // namespace sluice::content
