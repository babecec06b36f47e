// Tests of the schemas that are compiled in.
#include <gtest/gtest.h>

#include "filters/direct_response.h"
#include "filters/header_modifier.h"
#include "filters/in_process.h"
#include "filters/qos_controller.h"
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

TEST(Schemas, AcceptOnlyTheContractOfInProcess) {
  for (const char* config :
       {"{}", R"({"request":{},"response":{}})", R"({"request":{"removeHeaders":["a",{"name":"b"}]}})",
        R"({"request":{"setHeaders":[{"name":"a","value":""}],"setBodyFields":[],"removeBodyFields":["$.a"]}})"}) {
    EXPECT_EQ(faultOf(inProcess(), config), "") << config;
  }
  for (const char* config :
       {R"({"request":[]})", R"({"set":[]})", R"({"request":{"set":[]}})",
        R"({"response":{"setHeaders":[{"name":"a"}]}})", R"({"response":{"setBodyFields":[{"name":"","value":"1"}]}})",
        R"({"request":{"removeHeaders":[1]}})", R"({"request":{"removeHeaders":[{"nam":"a"}]}})"}) {
    EXPECT_NE(faultOf(inProcess(), config), "") << config;
  }
}

TEST(Schemas, AcceptOnlyTheContractOfQosController) {
  const auto overriding = [](const std::string& item) {
    return R"({"requestsPerMinute":1,"overrides":[)" + item + "]}";
  };
  for (const std::string& config :
       {std::string(R"({"concurrency":1,"key":"ServiceAccount"})"), overriding(""),
        std::string(R"({"requestsPerMinute":1,"key":"Principal","overrides":[{"key":"a","concurrency":1}]})"),
        overriding(R"({"key":"","requestsPerMinute":1,"burst":1})")}) {
    EXPECT_EQ(faultOf(qosController(), config), "") << config;
  }
  for (const std::string& config :
       {std::string(R"({"requestsPerMinute":1,"key":"Account"})"), overriding(R"({"key":"a"})"),
        overriding(R"({"requestsPerMinute":1})"), overriding(R"({"key":"a","burst":1})"),
        overriding(R"({"key":"a","requestsPerMinute":0})"), overriding(R"({"key":1,"requestsPerMinute":1})"),
        overriding(R"({"key":"a","requestsPerMinute":1,"header":"b"})")}) {
    EXPECT_NE(faultOf(qosController(), config), "") << config;
  }
  const auto many = [&](int count) {
    std::string items;
    for (int i = 0; i < count; ++i) {
      items += (i == 0 ? "" : ",") + std::string(R"({"key":")") + std::to_string(i) + R"(","concurrency":1})";
    }
    return faultOf(qosController(), overriding(items));
  };
  EXPECT_EQ(many(256), "");
  EXPECT_NE(many(257), "");
}

TEST(Schemas, AcceptOnlyErrorsAsDirectResponses) {
  for (const char* config : {"{}", R"({"status":400})", R"({"status":599,"detail":"closed"})"}) {
    EXPECT_EQ(faultOf(directResponse(), config), "") << config;
  }
  for (const char* config : {R"({"status":399})", R"({"status":600})", R"({"status":"403"})", R"({"status":403.5})",
                             R"({"detail":""})", R"({"body":"closed"})"}) {
    EXPECT_NE(faultOf(directResponse(), config), "") << config;
  }
  EXPECT_NE(faultOf(directResponse(), R"({"detail":")" + std::string(257, 'x') + "\"}"), "");
}

TEST(Schemas, DenyWith403UnlessTheConfigSaysOtherwise) {
  const auto schema = content::JsonSchema::compile(directResponse().schema);
  auto config = content::parseJson("{}");
  ASSERT_TRUE(schema && config);
  EXPECT_EQ(content::describe(schema->apply(*config)), "");
  EXPECT_EQ(config->find("status")->text, "403");
  EXPECT_EQ(config->find("detail")->text, "this request is not allowed");
}

}  // namespace
}  // namespace sluice::filters
