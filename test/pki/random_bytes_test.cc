#include "proxy/pki/random_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace sluice::pki {
namespace {

TEST(RandomBytes, AreOtherOnesEachTime) {
  std::array<std::byte, 32> one{};
  std::array<std::byte, 32> other{};
  ASSERT_TRUE(fillRandom(one));
  ASSERT_TRUE(fillRandom(other));
  EXPECT_NE(one, other);
  EXPECT_GT(std::count_if(one.begin(), one.end(), [](std::byte each) { return each != std::byte{0}; }), 16);
}

}  // namespace
}  // namespace sluice::pki
