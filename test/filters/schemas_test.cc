// Tests of the schemas that are compiled in.
#include <gtest/gtest.h>

#include "filters/header_modifier.h"
#include "proxy/content/json.h"
#include "proxy/content/schema/json_schema.h"

namespace sluice::filters {
namespace {

/// Returns the fault of a config of the type.
std::string faultOf(const processing::BuiltinType& type, std::string_view config) {
  const auto schema = content::JsonSchema::compile(type.schema);
  if (!schema) return "no schema: " + schema.error().detail;
  auto value = content::parseJson(config);
  return content::describe(schema->apply(*value));
}

TEST(Schemas, AcceptOnlyTheContractOfHeaderModifier) {
  EXPECT_EQ(faultOf(headerModifier(), R"({"set":[{"name":"a","value":"b"}],"add":[],"remove":["c"]})"), "");
  EXPECT_EQ(faultOf(headerModifier(), "{}"), "");
  for (const char* config : {R"({"set":{"a":"b"}})", R"({"set":[{"name":"","value":"b"}]})",
                             R"({"set":[{"name":"a"}]})", R"({"remove":[1]})", R"({"delete":["a"]})"}) {
    EXPECT_NE(faultOf(headerModifier(), config), "") << config;
  }
}

}  // namespace
}  // namespace sluice::filters
