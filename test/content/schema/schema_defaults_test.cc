#include "proxy/content/schema/schema_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/content/schema/schema_judge.h"

namespace sluice::content {
namespace {

using test::applied;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Returns the fault of the schema's defaults, or "none".
std::string defaultFault(std::string_view schema) {
  const auto compiled = JsonSchema::compile(schema);
  if (!compiled) return "no schema: " + compiled.error().detail;
  const auto checked = compiled->checkDefaults();
  return checked ? "none" : checked.error().detail;
}

TEST(SchemaDefaults, AreFilledInInTheOrderOfTheSchema) {
  const std::string schema = R"({"properties":{"c":{"default":"mask"},"a":{"default":0.6},"b":{"default":1048576}}})";
  EXPECT_EQ(applied(schema, R"({"x":1})"), R"(ok {"x":1,"c":"mask","a":0.6,"b":1048576})");
  EXPECT_EQ(applied(schema, R"({"b":0,"c":"hash","a":null})"), R"(ok {"b":0,"c":"hash","a":null})");
}

TEST(SchemaDefaults, AreFilledInWhenTheValueHasBeenChecked) {
  EXPECT_EQ(applied(R"({"properties":{"a":{"default":1}},"required":["a"]})", "{}"), "must have the member \"a\"");
  EXPECT_EQ(applied(R"({"properties":{"a":{"default":1}},"minProperties":1})", "{}"), "must have at least 1 members");
  EXPECT_EQ(applied(R"({"properties":{"a":{"default":1}},"dependentRequired":{"a":["b"]}})", "{}"), R"(ok {"a":1})");
}

TEST(SchemaDefaults, AreFilledIntoMapsInsideMaps) {
  const std::string inner = R"({"type":"object","properties":{"x":{"default":1},"y":{"default":[]}})";
  const std::string schema = R"({"properties":{"plain":)" + inner + R"(},"given":)" + inner +
                             R"(,"default":{"y":2}},"list":{"items":)" + inner + "}}}}";
  EXPECT_EQ(applied(schema, R"({"plain":{},"list":[{"x":5}]})"),
            R"(ok {"plain":{"x":1,"y":[]},"list":[{"x":5,"y":[]}],"given":{"y":2,"x":1}})");
  EXPECT_EQ(applied(schema, "{}"), R"(ok {"given":{"y":2,"x":1}})");
}

TEST(SchemaDefaults, AreFilledInByAllKeywordsThatApplyToEveryValue) {
  const std::string given = R"({"properties":{"d":{"default":1}}})";
  EXPECT_EQ(applied(R"({"additionalProperties":)" + given + "}", R"({"a":{}})"), R"(ok {"a":{"d":1}})");
  EXPECT_EQ(applied(R"({"patternProperties":{"^a":)" + given + "}}", R"({"a":{},"b":{}})"),
            R"(ok {"a":{"d":1},"b":{}})");
  EXPECT_EQ(applied(R"({"prefixItems":[)" + given + R"(],"items":{}})", "[{},{}]"), R"(ok [{"d":1},{}])");
  EXPECT_EQ(applied(R"({"allOf":[)" + given + R"(],"properties":{"d":{"default":2}}})", "{}"), R"(ok {"d":1})");
}

TEST(SchemaDefaults, OfReferencesAreFollowed) {
  EXPECT_EQ(applied(R"({"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"integer","default":7}}})", "{}"),
            R"(ok {"a":7})");
  EXPECT_EQ(applied(R"({"properties":{"a":{"$ref":"#/$defs/d","default":6}},"$defs":{"d":{"default":7}}})", "{}"),
            R"(ok {"a":6})");
}

TEST(SchemaDefaults, OfChoicesAreNotFilledIn) {
  const std::string schema = R"({"anyOf":[{"properties":{"a":{"default":1}},"required":["a"]},{"required":["b"]}]})";
  EXPECT_EQ(applied(schema, R"({"b":0})"), R"(ok {"b":0})");
}

TEST(SchemaDefaults, GetThePositionOfTheirConfig) {
  Value value = *parseJson("\n  {}");
  EXPECT_THAT(JsonSchema::compile(R"({"properties":{"a":{"default":{"b":1}}}})")->apply(value), IsEmpty());
  EXPECT_EQ(value.find("a")->find("b")->position.line, 2u);
}

TEST(SchemaDefaults, MustBeAcceptedByTheirOwnSchemas) {
  EXPECT_EQ(defaultFault(R"({"properties":{"a":{"type":"string","default":1}}})"),
            "/properties/a/default: as a default, must be a string, but is a number");
  EXPECT_EQ(defaultFault(R"({"properties":{"a":{"properties":{"b":{"maximum":3}},"default":{"b":5}}}})"),
            "/properties/a/default/b: as a default, must be at most 3");
  EXPECT_THAT(defaultFault(R"({"$defs":{"a":{"type":"null"},"b":{"$ref":"#/$defs/a","default":1}}})"),
              StartsWith("/$defs/b/default: "));
  EXPECT_THAT(defaultFault(R"({"properties":{"a":{"required":["b"],"default":{}}}})"),
              HasSubstr("must have the member \"b\""));
  EXPECT_EQ(defaultFault(R"({"properties":{"a":{"type":"string","default":""}},"required":["a"]})"), "none");
  EXPECT_EQ(defaultFault(R"({"const":{"type":"string","default":1}})"), "none");
}

TEST(SchemaDefaults, ThatTheirOwnSchemasRefuseAreNoFaultOfAValue) {
  EXPECT_EQ(applied(R"({"properties":{"a":{"type":"string","default":1}}})", "{}"), R"(ok {"a":1})");
}

TEST(SchemaDefaults, OfASchemaInsideItselfEnd) {
  EXPECT_THAT(applied(R"({"properties":{"a":{"$ref":"#","default":{}}}})", "{}"), HasSubstr("more than 64 levels"));
  EXPECT_THAT(applied(R"({"properties":{"a":{"$ref":"#","default":{}},"b":{"$ref":"#","default":{}}}})", "{}"),
              HasSubstr("its defaults need more than"));
  EXPECT_EQ(applied(R"({"properties":{"a":{"$ref":"#"},"b":{"default":1}}})", R"({"a":{}})"),
            R"(ok {"a":{"b":1},"b":1})");
}

}  // namespace
}  // namespace sluice::content
