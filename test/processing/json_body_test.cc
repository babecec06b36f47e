#include "proxy/processing/json_body.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sluice::processing {
namespace {

class JsonBodyTest : public ::testing::Test {
 protected:
  Body& body(const std::string& text) {
    bytes_.clear();
    bytes_.append(text);
    return body_.emplace(bytes_, true);
  }
  static content::JsonPointer at(const std::string& pointer) { return content::JsonPointer::parse(pointer).value(); }
  static content::Value text(const std::string& words) {
    content::Value value;
    value.kind = content::Value::Kind::kString;
    value.text = words;
    return value;
  }

  base::ChunkPool pool_;
  base::ByteQueue bytes_{pool_};
  std::optional<Body> body_;
};

TEST_F(JsonBodyTest, IsReadAsAValueAndStaysAsItIsWithoutEdits) {
  Body& whole = body(R"({ "model" : "a",  "n": 1 })");
  const auto json = JsonBody::parse(whole);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(at("/model").find(json->value())->text, "a");
  ASSERT_TRUE(json->apply(whole).ok());
  EXPECT_FALSE(whole.isChanged());
}

TEST_F(JsonBodyTest, EditsChangeTheirMembersAndNoOtherByte) {
  Body& whole = body(R"({ "model" : "a",  "n": 1.50, "secret": {"x":1} })");
  auto json = JsonBody::parse(whole);
  ASSERT_TRUE(json.ok());
  json->edit({at("/model"), text("b")});
  json->edit({at("/secret"), std::nullopt});
  ASSERT_TRUE(json->apply(whole).ok());
  EXPECT_EQ(whole.takeChanged().text(), R"({ "model" : "b",  "n": 1.50 })");
}

TEST_F(JsonBodyTest, WhatIsNoJsonOrHasNoPlaceIsAnError) {
  EXPECT_FALSE(JsonBody::parse(body("{")).ok());
  Body& whole = body("[1]");
  auto json = JsonBody::parse(whole);
  ASSERT_TRUE(json.ok());
  json->edit({at("/a/b"), text("c")});
  EXPECT_FALSE(json->apply(whole).ok());
  EXPECT_FALSE(whole.isChanged());
}

TEST_F(JsonBodyTest, ATreeTakesRoomByTheNumberOfItsValues) {
  BufferBudget budget(1 << 20);
  BufferRoom room(budget);
  BufferShare share(room);
  bytes_.append("[\"" + std::string(100'000, 'x') + "\"]");
  Body large(bytes_, true, share, bytes_.size(), 0);
  EXPECT_TRUE(JsonBody::parse(large).ok());
  bytes_.clear();
  bytes_.append("[1");
  for (int i = 0; i < 10'000; ++i) bytes_.append(",1");
  bytes_.append("]");
  Body dense(bytes_, true, share, bytes_.size(), 0);
  const auto json = JsonBody::parse(dense);
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().type, base::ErrorType::kProcessorCapacityReached);
}

}  // namespace
}  // namespace sluice::processing
