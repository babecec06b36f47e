#include "proxy/content/schema/exact_decimal.h"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::content {
namespace {

std::string keyOf(std::string_view number) {
  std::string key;
  ExactDecimal(number).appendKey(key);
  return key;
}

bool divides(std::string_view divisor, std::string_view number) {
  return ExactDecimal(number).isMultipleOf(ExactDecimal(divisor));
}

TEST(ExactDecimal, IsTheSameForEverySpellingOfANumber) {
  for (const char* one : {"1", "1.0", "1.000", "10e-1", "0.1E+1", "+1", "001", "1e0", "0x1", "0o1"}) {
    EXPECT_EQ(ExactDecimal(one), ExactDecimal("1")) << one;
    EXPECT_EQ(keyOf(one), keyOf("1")) << one;
  }
  for (const char* zero : {"0", "-0", "0.0", "0e999", "-0.000e-5"}) EXPECT_EQ(keyOf(zero), keyOf("0")) << zero;
  EXPECT_NE(keyOf("1"), keyOf("-1"));
  EXPECT_NE(keyOf("1"), keyOf("10"));
  EXPECT_NE(keyOf("123456789012345678901234567890"), keyOf("123456789012345678901234567891"));
}

TEST(ExactDecimal, IsOrderedExactly) {
  const char* ascending[] = {"-1e400",
                             "-12",
                             "-1.5",
                             "-1.25",
                             "-1e-400",
                             "0",
                             "1e-400",
                             "0.1",
                             "0.10000000000000000000001",
                             "1",
                             "9",
                             "10",
                             "18446744073709551616",
                             "18446744073709551617",
                             "1e400"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(ExactDecimal(ascending[i]) < ExactDecimal(ascending[j]), i < j) << ascending[i] << " " << ascending[j];
      EXPECT_EQ(ExactDecimal(ascending[i]) >= ExactDecimal(ascending[j]), i >= j)
          << ascending[i] << " " << ascending[j];
    }
  }
}

TEST(ExactDecimal, IsWholeIfNoDigitsFollowThePoint) {
  for (const char* whole : {"0", "-3", "1.0", "1.5e1", "1e400", "100000000000000000000000"}) {
    EXPECT_TRUE(ExactDecimal(whole).isWhole()) << whole;
  }
  for (const char* broken : {"0.5", "1e-1", "1.5", "1.25e1", "123456789012345678901234567890.5"}) {
    EXPECT_FALSE(ExactDecimal(broken).isWhole()) << broken;
  }
}

TEST(ExactDecimal, CountsUpToTheLargestNumberOf64Bits) {
  EXPECT_EQ(ExactDecimal("0").asCount(), 0u);
  EXPECT_EQ(ExactDecimal("20.0").asCount(), 20u);
  EXPECT_EQ(ExactDecimal("1200").asCount(), 1200u);
  EXPECT_EQ(ExactDecimal("9999999999999999999").asCount(), 9999999999999999999u);
  EXPECT_EQ(ExactDecimal("1e400").asCount(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(ExactDecimal("-1").asCount(), std::nullopt);
  EXPECT_EQ(ExactDecimal("1.5").asCount(), std::nullopt);
}

TEST(ExactDecimal, IsAMultipleWithoutRounding) {
  EXPECT_TRUE(divides("2", "10"));
  EXPECT_FALSE(divides("2", "7"));
  EXPECT_TRUE(divides("0.01", "0.07"));
  EXPECT_TRUE(divides("0.0001", "0.0075"));
  EXPECT_FALSE(divides("0.0001", "0.00751"));
  EXPECT_TRUE(divides("0.01", "19.99"));
  EXPECT_TRUE(divides("1.5", "-4.5"));
  EXPECT_TRUE(divides("7", "0"));
  EXPECT_TRUE(divides("1e-8", "12391239123"));
  EXPECT_TRUE(divides("0.5", "1e308"));
  EXPECT_FALSE(divides("0.123456789", "1e308"));
  EXPECT_TRUE(divides("999999999999999999", "999999999999999998000000000000000001"));
  EXPECT_FALSE(divides("999999999999999999", "999999999999999998000000000000000002"));
  EXPECT_TRUE(divides("25", "1e999999999999999999999999"));
  EXPECT_FALSE(divides("30", "10"));
}

}  // namespace
}  // namespace sluice::content
