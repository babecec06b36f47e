#include "proxy/base/json_text.h"

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

std::string json(std::string_view text, std::size_t maxBytes = 100) {
  std::string out;
  appendJsonString(out, text, maxBytes);
  return out;
}

std::string milliseconds(base::Duration duration) {
  char out[24];
  return {out, writeJsonMilliseconds(out, duration)};
}

// The fast path looks at eight bytes at once: it must see every byte at every place as the slow path does.
TEST(JsonText, EscapesTheSameBytesWhereverTheyStand) {
  for (int c = 0; c < 256; ++c) {
    const std::string alone = json(std::string(1, static_cast<char>(c)));
    const std::string inside = alone.substr(1, alone.size() - 2);
    for (std::size_t place = 0; place < 20; ++place) {
      std::string text(20, 'x');
      text[place] = static_cast<char>(c);
      std::string expected(20, 'x');
      expected.replace(place, 1, inside);
      ASSERT_EQ(json(text), "\"" + expected + "\"") << c << " at " << place;
    }
  }
}

TEST(JsonText, LeavesPlainTextAsItIs) {
  EXPECT_EQ(json(""), "\"\"");
  EXPECT_EQ(json("GET /a?b=c ~!"), "\"GET /a?b=c ~!\"");
}

TEST(JsonText, AppendsToExistingText) {
  std::string out = "{\"a\":";
  appendJsonString(out, "b", 10);
  EXPECT_EQ(out, "{\"a\":\"b\"");
}

TEST(JsonText, EscapesQuotesAndBackslashes) { EXPECT_EQ(json("a\"b\\c"), R"("a\"b\\c")"); }

TEST(JsonText, EscapesEveryControlCharacterAndDel) {
  EXPECT_EQ(json("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(json("\x1b[2J"), R"("\u001b[2J")");
  EXPECT_EQ(json(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(json("\x7f"), R"("\u007f")");
  for (int c = 0; c < 0x20; ++c) {
    const std::string out = json(std::string(1, static_cast<char>(c)));
    EXPECT_EQ(out[1], '\\') << c;
    for (const char byte : out) EXPECT_GE(byte, 0x20) << c;
  }
}

TEST(JsonText, EscapesC1ControlsLineSeparatorsAndBidirectionalOverrides) {
  EXPECT_EQ(json("\xc2\x9b"), R"("\u009b")");
  EXPECT_EQ(json("\xe2\x80\xa8\xe2\x80\xa9"), R"("\u2028\u2029")");
  EXPECT_EQ(json("\xe2\x80\xae\xe2\x81\xa6"), R"("\u202e\u2066")");
}

TEST(JsonText, KeepsValidUtf8) {
  EXPECT_EQ(json("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(json("a\xff"
                 "b"),
            "\"a" + r + "b\"");
  EXPECT_EQ(json("\x80"), "\"" + r + "\"");
  EXPECT_EQ(json("\xc3"), "\"" + r + "\"") << "cut short";
  EXPECT_EQ(json("\xe2\x82"), "\"" + r + r + "\"") << "cut short";
  EXPECT_EQ(json("\xc0\xaf"), "\"" + r + r + "\"") << "overlong";
  EXPECT_EQ(json("\xe0\x80\xaf"), "\"" + r + r + r + "\"") << "overlong";
  EXPECT_EQ(json("\xed\xa0\x80"), "\"" + r + r + r + "\"") << "a surrogate";
  EXPECT_EQ(json("\xf4\x90\x80\x80"), "\"" + r + r + r + r + "\"") << "beyond Unicode";
  EXPECT_EQ(json("\xc3(\""), "\"" + r + "(\\\"\"") << "the byte behind a bad lead byte is read again";
}

TEST(JsonText, CutsPlainTextOneByteAboveTheBound) {
  EXPECT_EQ(json("12345678", 8), "\"12345678\"");
  EXPECT_EQ(json("123456789", 8), "\"12345\xe2\x80\xa6\"");
  EXPECT_EQ(json(std::string(100000, 'a'), 8), "\"aaaaa\xe2\x80\xa6\"");
}

TEST(JsonText, NeverCutsAnEscapeOrACharacter) {
  EXPECT_EQ(json("123\x01", 9), R"("123\u0001")");
  EXPECT_EQ(json("123\x01", 8), "\"123\xe2\x80\xa6\"");
  EXPECT_EQ(json("123\xe2\x82\xac"
                 "56",
                 7),
            "\"123\xe2\x80\xa6\"");
  EXPECT_EQ(json("\xf0\x9f\x98\x80", 4), "\"\xf0\x9f\x98\x80\"");
  EXPECT_EQ(json("\xf0\x9f\x98\x80", 3), "\"\xe2\x80\xa6\"");
}

TEST(JsonText, NeverExceedsItsBoundWhateverTheBytes) {
  std::uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525 + 1013904223;
      text.push_back(static_cast<char>(state >> 24));
    }
    const std::size_t bound = 3 + state % 64;
    const std::string out = json(text, bound);
    ASSERT_LE(out.size(), bound + 2);
    for (const char byte : out) ASSERT_TRUE(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f);
  }
}

TEST(JsonText, WritesNumbers) {
  std::string out;
  appendJsonNumber(out, std::int64_t{-9223372036854775807 - 1});
  out.push_back(' ');
  appendJsonNumber(out, std::uint64_t{18446744073709551615u});
  out.push_back(' ');
  appendJsonNumber(out, 0);
  EXPECT_EQ(out, "-9223372036854775808 18446744073709551615 0");
}

TEST(JsonText, WritesMillisecondsWithThreeDecimals) {
  using namespace std::chrono_literals;
  EXPECT_EQ(milliseconds(0ns), "0.000");
  EXPECT_EQ(milliseconds(999ns), "0.000");
  EXPECT_EQ(milliseconds(1us), "0.001");
  EXPECT_EQ(milliseconds(12345678ns), "12.345");
  EXPECT_EQ(milliseconds(base::Duration::max()), "9223372036854.775");
  EXPECT_EQ(milliseconds(1h), "3600000.000");
  EXPECT_EQ(milliseconds(-5ms), "0.000");
}

}  // namespace
}  // namespace sluice::base
