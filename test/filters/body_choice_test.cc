#include "filters/body_choice.h"

#include <gtest/gtest.h>

#include "config/yaml/yaml_reader.h"
#include "proxy/processing/chain.h"

namespace sluice::filters {
namespace {

content::Value value(const std::string& text) {
  content::Value read;
  config::Problems problems;
  config::forEachDocument(text, {}, problems, [&](const content::Value& root) { read = root; });
  EXPECT_TRUE(problems.empty()) << text;
  return read;
}

class BodyChoiceTest : public ::testing::Test {
 protected:
  static BodyChoice choice(const std::string& config) {
    auto read = BodyChoice::read(value(config));
    EXPECT_TRUE(read.ok());
    return std::move(read).value();
  }
  static std::string fault(const std::string& config) {
    const auto read = BodyChoice::read(value(config));
    return read ? "" : read.error().detail;
  }
  static std::string chosen(const std::string& body, const BodyChoice& by) {
    content::JsonScan scan = by.scan();
    EXPECT_TRUE(scan.feed(body) && scan.end()) << body;
    const auto found = BodyChoice::chosenBy(scan.found());
    return found ? std::string(*found) : std::to_string(found.error().status) + ": " + found.error().detail;
  }
  static std::string chosen(const std::string& body) { return chosen(body, choice("{}")); }
  bool concerned(std::string_view type) {
    http::RequestHead request;
    request.headers.add(arena_, http::FieldId::kContentType, type);
    return BodyChoice::isJson(request);
  }
  std::string applied(const BodyChoice& by, std::string_view model) {
    http::RequestHead head;
    head.headers.add(arena_, "x-gateway-model-name", "a");
    head.headers.add(arena_, "x_gateway_model-name", "b");
    head.headers.add(arena_, "accept", "*/*");
    for (const std::string& owned : by.ownedFields()) head.headers.removeTwins(owned);
    const processing::Step step;
    processing::RequestEditor edit(arena_, head, step, nullptr);
    by.apply(edit, model);
    std::string text;
    for (const http::Field& field : head.headers)
      text += std::string(field.name) + "=" + std::string(field.value) + ";";
    return text;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(BodyChoiceTest, ChoosesByTheModelOfInferenceApisByDefault) {
  EXPECT_EQ(chosen(R"({"model": "gpt-4o", "messages": []})"), "gpt-4o");
  EXPECT_EQ(chosen(R"({"model": 7})"), "7");
  EXPECT_EQ(applied(choice("{}"), "gpt-4o"), "accept=*/*;x-gateway-model-name=gpt-4o;");
}

TEST_F(BodyChoiceTest, RemovesTheClientsFieldEvenWithoutAValue) {
  EXPECT_EQ(chosen(R"({"messages": []})"), "");
  EXPECT_EQ(chosen(R"({"model": null})"), "");
  EXPECT_EQ(chosen("[]"), "");
  EXPECT_EQ(applied(choice("{}"), ""), "accept=*/*;");
}

TEST_F(BodyChoiceTest, RefusesUnusableValues) {
  const std::string refused = "400: what the body's route depends on ";
  EXPECT_EQ(chosen(R"({"model": ["a"]})"), refused + "is neither a string nor a number");
  EXPECT_EQ(chosen(R"({"model": true})"), refused + "is neither a string nor a number");
  EXPECT_EQ(chosen(R"({"model": ""})"), refused + "is empty");
  EXPECT_EQ(chosen(R"({"model": "a\r\nb: c"})"), refused + "cannot be the value of a header field");
  EXPECT_EQ(chosen(R"({"model": " a"})"), refused + "cannot be the value of a header field");
  const std::string longest(BodyChoice::kMostBytes, 'a');
  EXPECT_EQ(chosen("{\"model\": \"" + longest + "\"}"), longest);
  EXPECT_EQ(chosen("{\"model\": \"" + longest + "a\"}"), refused + "is longer than 256 bytes");
}

TEST_F(BodyChoiceTest, AppliesToJsonOnly) {
  EXPECT_TRUE(concerned("application/json"));
  EXPECT_TRUE(concerned("Application/JSON ; charset=utf-8"));
  EXPECT_TRUE(concerned("application/vnd.api+json"));
  EXPECT_FALSE(concerned("multipart/form-data; boundary=\"application/json\""));
  EXPECT_FALSE(concerned("application/jsonl"));
  EXPECT_FALSE(concerned("+json"));
  EXPECT_FALSE(BodyChoice::isJson({}));
  EXPECT_FALSE(choice("{}").isForm({}));
}

TEST_F(BodyChoiceTest, AppliesToFormsIfThePathIsTheNameOfAField) {
  http::RequestHead request;
  request.headers.add(arena_, http::FieldId::kContentType, "Multipart/Form-Data; boundary=X");
  EXPECT_TRUE(choice("{}").isForm(request));
  EXPECT_TRUE(choice("{jsonPath: $.kind}").isForm(request));
  for (const char* config : {"{pointer: ''}", "{pointer: /a/b}", "{jsonPath: '$[0]'}"}) {
    EXPECT_FALSE(choice(config).isForm(request)) << config;
  }
  EXPECT_TRUE(choice("{}").formScan(request));
  http::RequestHead unbounded;
  unbounded.headers.add(arena_, http::FieldId::kContentType, "multipart/form-data");
  EXPECT_FALSE(choice("{}").formScan(unbounded));
}

TEST_F(BodyChoiceTest, ReadsItsConfig) {
  const BodyChoice own = choice("{jsonPath: $.a, header: X-Model, maxBodyBytes: 1024}");
  EXPECT_EQ(chosen(R"({"a": "b"})", own), "b");
  EXPECT_EQ(own.maxBodyBytes(), 1024u);
  EXPECT_TRUE(applied(own, "b").ends_with("x-model=b;"));
  const BodyChoice hint = choice("{routeHint: model}");
  EXPECT_EQ(hint.routeHint(), "model");
  EXPECT_EQ(applied(hint, "own").find("own"), std::string::npos);
}

TEST_F(BodyChoiceTest, NamesTheMemberOfAnInvalidConfig) {
  EXPECT_EQ(fault("{pointer: /a, jsonPath: $.a}"), "pointer and jsonPath exclude each other");
  EXPECT_EQ(fault("{pointer: a}"), "pointer: at character 1: a JSON Pointer begins with \"/\"");
  EXPECT_EQ(fault("{jsonPath: a}"), "jsonPath: at character 1: a JSONPath begins with \"$\"");
  EXPECT_EQ(fault("{header: Host}"), "header: host belongs to the gateway and cannot be changed");
  EXPECT_EQ(fault("{maxBodyBytes: 0}"), "maxBodyBytes: is no integer from 1 on");
}

}  // namespace
}  // namespace sluice::filters
