#include "proxy/content/json_pointer.h"

#include <gtest/gtest.h>

#include "proxy/content/json.h"

namespace sluice::content {
namespace {

// RFC 6901 section 5.
constexpr std::string_view kDocument =
    R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})";

std::string found(std::string_view pointer) {
  const auto parsed = JsonPointer::parse(pointer);
  if (!parsed) return parsed.error().detail;
  const auto document = parseJson(kDocument);
  const Value* value = parsed->find(*document);
  return value == nullptr ? "nothing" : writeJson(*value);
}

TEST(JsonPointer, FindsTheValuesOfTheRfcsExamples) {
  EXPECT_EQ(found(""), kDocument);
  EXPECT_EQ(found("/foo"), R"(["bar","baz"])");
  EXPECT_EQ(found("/foo/0"), "\"bar\"");
  EXPECT_EQ(found("/"), "0");
  EXPECT_EQ(found("/a~1b"), "1");
  EXPECT_EQ(found("/c%d"), "2");
  EXPECT_EQ(found("/i\\j"), "5");
  EXPECT_EQ(found("/k\"l"), "6");
  EXPECT_EQ(found("/ "), "7");
  EXPECT_EQ(found("/m~0n"), "8");
}

TEST(JsonPointer, FindsNothingForAMissingValue) {
  for (const char* pointer : {"/bar", "/foo/2", "/foo/00", "/foo/-", "/foo/-1", "/foo/0x", "/foo/0/a", "//", "/foo/"}) {
    EXPECT_EQ(found(pointer), "nothing") << pointer;
  }
}

TEST(JsonPointer, RefusesMalformedPointers) {
  for (const char* pointer : {"foo", "#/foo", "/a~", "/a~2"}) EXPECT_FALSE(JsonPointer::parse(pointer)) << pointer;
}

TEST(JsonPointer, ReturnsItsText) {
  for (const char* pointer : {"", "/", "/a~1b/m~0n/0"}) EXPECT_EQ(JsonPointer::parse(pointer)->text(), pointer);
}

}  // namespace
}  // namespace sluice::content
