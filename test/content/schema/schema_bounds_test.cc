// Each bound of a schema and of a check, from both sides.
#include "proxy/content/schema/schema_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/content/schema/schema_judge.h"

namespace sluice::content {
namespace {

using test::applied;
using test::compileError;
using test::judged;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Returns `begin`, then what `each` returns for 0, 1, ... with commas between, and `end`.
template <typename Each>
std::string joinedParts(const std::string& begin, std::size_t count, Each each, const std::string& end) {
  std::string text = begin;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::string(each(i));
  return text + end;
}

std::string listOf(std::size_t count, const std::string& element) {
  return joinedParts(
      "[", count, [&](std::size_t) { return element; }, "]");
}

std::string enumOf(std::size_t values) {
  return joinedParts(
      "{\"enum\":[", values, [](std::size_t i) { return std::to_string(i); }, "]}");
}

std::string nestedSchema(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += "{\"items\":";
  return text + "true" + std::string(depth, '}');
}

/// Returns a schema that leads through so many others before it accepts everything.
std::string chainOf(std::size_t schemas) {
  const auto link = [&](std::size_t i) {
    const std::string target = i + 1 == schemas ? "{}" : R"({"$ref":"#/$defs/a)" + std::to_string(i + 1) + "\"}";
    return "\"a" + std::to_string(i) + "\":" + target;
  };
  return joinedParts(R"({"$ref":"#/$defs/a0","$defs":{)", schemas, link, "}}");
}

TEST(SchemaBounds, HoldForTheDocument) {
  EXPECT_EQ(compileError(enumOf(kMaxSchemaNodes - 2)), "none");
  EXPECT_EQ(compileError(enumOf(kMaxSchemaNodes - 1)), "the schema: has more than 20000 values");
  EXPECT_EQ(compileError(nestedSchema(kMaxSchemaDepth)), "none");
  EXPECT_NE(compileError(nestedSchema(kMaxSchemaDepth + 1)), "none");
  const auto titled = [](std::size_t bytes) { return "{\"title\":\"" + std::string(bytes - 12, 'x') + "\"}"; };
  EXPECT_EQ(compileError(titled(kMaxSchemaBytes)), "none");
  EXPECT_THAT(compileError(titled(kMaxSchemaBytes + 1)), HasSubstr("longer than"));
}

TEST(SchemaBounds, HoldForIdentifiers) {
  const auto identified = [](std::size_t bytes) {
    return R"({"$id":"http://a.test/","$defs":{"a":{"$id":")" + std::string(bytes - 14, 'x') + "\"}}}";
  };
  EXPECT_EQ(compileError(identified(kMaxSchemaUriBytes)), "none");
  EXPECT_EQ(compileError(identified(kMaxSchemaUriBytes + 1)),
            "/$defs/a/$id: must not lead to a URI of more than 1024 bytes");
}

TEST(SchemaBounds, HoldForPatterns) {
  const auto patterns = [](std::size_t count) {
    return joinedParts(
        "{\"patternProperties\":{", count, [](std::size_t i) { return "\"a" + std::to_string(i) + "\":{}"; }, "}}");
  };
  EXPECT_EQ(compileError(patterns(kMaxSchemaPatterns)), "none");
  EXPECT_EQ(compileError(patterns(kMaxSchemaPatterns + 1)), "the schema: has more than 256 different patterns");
  const auto same = [](std::size_t count) {
    return joinedParts(
        "{\"allOf\":[", count, [](std::size_t) { return R"({"pattern":"a"})"; }, "]}");
  };
  EXPECT_EQ(compileError(same(1000)), "none");
}

TEST(SchemaBounds, GiveManyPatternsLessMemoryEach) {
  const auto patterns = [](std::size_t count) {
    return joinedParts(
        "{\"patternProperties\":{", count,
        [](std::size_t i) { return "\"^(.{1,30}){1,30}" + std::to_string(i) + "$\":{}"; }, "}}");
  };
  EXPECT_EQ(compileError(patterns(kSchemaPatternMemory / kMaxPatternMemory)), "none");
  EXPECT_THAT(compileError(patterns(kMaxSchemaPatterns)), HasSubstr("pattern too large"));
}

TEST(SchemaBounds, HoldForDivisors) {
  const auto divisor = [](std::size_t digits) { return "{\"multipleOf\":1" + std::string(digits - 2, '0') + "1}"; };
  EXPECT_EQ(compileError(divisor(kMaxDivisorDigits)), "none");
  EXPECT_EQ(compileError(divisor(kMaxDivisorDigits + 1)), "/multipleOf: must not have more than 18 digits");
  EXPECT_EQ(compileError(R"({"multipleOf":1e300})"), "none");
}

TEST(SchemaBounds, HoldForTheStepsOfACheck) {
  // The list takes a step, and each element ten.
  const std::string schema = joinedParts(R"({"items":{"allOf":[)", 9, [](std::size_t) { return "true"; }, "]}}");
  constexpr std::size_t kFit = (kMaxSchemaSteps - 1) / 10;
  EXPECT_EQ(judged(schema, listOf(kFit, "1")), "ok");
  EXPECT_EQ(judged(schema, listOf(kFit + 1, "1")), "the check needs more than 1000000 steps");
  const std::string inverted = R"({"not":)" + schema + "}";
  EXPECT_EQ(judged(inverted, listOf(kFit + 1, "1")), "the check needs more than 1000000 steps");
}

TEST(SchemaBounds, HoldForTheDepthOfACheck) {
  EXPECT_EQ(judged(chainOf(kMaxCheckDepth - 1), "1"), "ok");
  EXPECT_EQ(judged(chainOf(kMaxCheckDepth), "1"), "the check needs more than 1000 schemas inside each other");
  EXPECT_EQ(judged(chainOf(5000), "1"), "the check needs more than 1000 schemas inside each other");
}

TEST(SchemaBounds, HoldForViolations) {
  const auto compiled = JsonSchema::compile(R"({"items":{"type":"string"}})");
  EXPECT_THAT(compiled->check(*parseJson(listOf(kMaxViolations - 1, "1"))), SizeIs(kMaxViolations - 1));
  EXPECT_THAT(compiled->check(*parseJson(listOf(kMaxViolations + 1, "1"))), SizeIs(kMaxViolations));
}

TEST(SchemaBounds, HoldForFilledValues) {
  const std::string schema = R"({"items":{"properties":{"a":{"default":1}}}})";
  EXPECT_THAT(applied(schema, listOf(kMaxFilledValues, "{}")), StartsWith("ok"));
  EXPECT_EQ(applied(schema, listOf(kMaxFilledValues + 1, "{}")), "its defaults need more than 2000 values");
}

TEST(SchemaBounds, HoldForFilledBytes) {
  const std::string schema = R"({"items":{"properties":{"a":{"default":")" + std::string(1023, 'x') + "\"}}}}";
  EXPECT_THAT(applied(schema, listOf(kMaxFilledBytes / 1024, "{}")), StartsWith("ok"));
  EXPECT_EQ(applied(schema, listOf(kMaxFilledBytes / 1024 + 1, "{}")), "its defaults need more than 131072 bytes");
}

TEST(SchemaBounds, HoldForFilledDepth) {
  const std::string schema = R"({"items":{"$ref":"#"},"properties":{"a":{"default":1}}})";
  const auto nested = [](std::size_t lists) { return std::string(lists, '[') + "{}" + std::string(lists, ']'); };
  EXPECT_THAT(applied(schema, nested(kMaxFilledDepth - 1)), StartsWith("ok"));
  EXPECT_EQ(applied(schema, nested(kMaxFilledDepth)), "its defaults need more than 64 levels");
}

/// Returns a value that has the same member so many times inside each other.
std::string towerOf(std::size_t levels) {
  std::string text;
  for (std::size_t i = 0; i < levels; ++i) text += "{\"a\":";
  return text + "1" + std::string(levels, '}');
}

TEST(SchemaBounds, EndChecksThatDoubleAtEveryLevel) {
  const std::string next = R"({"type":"object","additionalProperties":{"$ref":"#"}})";
  for (const std::string& schema :
       {std::string(R"({"allOf":[{"additionalProperties":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]})"),
        "{\"anyOf\":[" + next + "," + next + "]}", "{\"not\":{\"oneOf\":[" + next + "," + next + "]}}",
        std::string(R"({"properties":{"a":{"$ref":"#"}},"patternProperties":{"a":{"$ref":"#"}}})"),
        std::string(R"({"if":{"properties":{"a":{"$ref":"#"}}},"then":{"properties":{"a":{"$ref":"#"}}}})")}) {
    EXPECT_EQ(judged(schema, towerOf(40)), "the check needs more than 1000000 steps") << schema;
  }
}

TEST(SchemaBounds, EndChecksOfReferencesThatFanOut) {
  std::string laughs = R"({"$ref":"#/$defs/l0","$defs":{"l20":{"type":"string"})";
  for (int i = 0; i < 20; ++i) {
    const std::string next = R"({"$ref":"#/$defs/l)" + std::to_string(i + 1) + "\"}";
    laughs += ",\"l" + std::to_string(i) + "\":{\"allOf\":[" + next + "," + next + "]}";
  }
  EXPECT_EQ(judged(laughs + "}}", "\"a\""), "the check needs more than 1000000 steps");
}

TEST(SchemaBounds, CountWhatIsComparedInSteps) {
  const std::string big = "\"" + std::string(500'000, 'x') + "\"";
  const std::string many = joinedParts(R"({"allOf":[)", 1000, [](std::size_t) { return R"({"enum":[1]})"; }, "]}");
  EXPECT_THAT(judged(many, big), HasSubstr("the check needs more than 1000000 steps"));
  const std::string lengthy =
      joinedParts(R"({"anyOf":[)", 1000, [](std::size_t) { return R"({"minLength":1e9})"; }, "]}");
  EXPECT_THAT(judged(lengthy, big), HasSubstr("the check needs more than 1000000 steps"));
  const std::string unique =
      joinedParts(R"({"allOf":[)", 1000, [](std::size_t) { return R"({"uniqueItems":true})"; }, "]}");
  EXPECT_THAT(judged(unique, "[" + big + "]"), HasSubstr("the check needs more than 1000000 steps"));
}

TEST(SchemaBounds, LetLargeListsBeComparedByTheirElements) {
  const std::string different = joinedParts(
      "[", 20'000, [](std::size_t i) { return std::to_string(i); }, "]");
  EXPECT_EQ(judged(R"({"uniqueItems":true})", different), "ok");
  EXPECT_EQ(judged(R"({"uniqueItems":true})", different.substr(0, different.size() - 1) + ",77]"),
            "must not have the same element twice, but has it at 77 and 20000");
  EXPECT_EQ(judged("{\"items\":" + enumOf(2000) + "}", listOf(2000, "1999")), "ok");
  EXPECT_EQ(judged(R"({"contains":{"const":7},"unevaluatedItems":{"type":"number"}})", different), "ok");
}

}  // namespace
}  // namespace sluice::content
