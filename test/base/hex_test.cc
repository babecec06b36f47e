#include "proxy/base/hex.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::base {
namespace {

TEST(Hex, HasTwoDigitsInLowerCaseForEachByte) {
  EXPECT_EQ(hexOf(0x00), "00");
  EXPECT_EQ(hexOf(0x9a), "9a");
  EXPECT_EQ(hexOf(0xff), "ff");
}

TEST(Hex, OfSixteenBytesIsThatOfEach) {
  std::array<std::uint8_t, 16> bytes{};
  for (unsigned first = 0; first < 256; first += 16) {
    std::string each;
    for (unsigned i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(first + i);
      each += hexOf(bytes[i]);
    }
    const std::array<char, 32> all = hexOf(bytes);
    EXPECT_EQ(std::string(all.begin(), all.end()), each);
  }
}

}  // namespace
}  // namespace sluice::base
