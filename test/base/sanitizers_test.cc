// Tests that the preset `dev` builds with its sanitizers, without which the tests would miss many faults.
#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <cstring>
#include <memory>

namespace sluice::base {
namespace {

#ifdef __SANITIZE_ADDRESS__

TEST(SanitizersDeathTest, ShowWhereBehaviourIsUndefined) {
  volatile int most = INT_MAX;
  EXPECT_DEATH(most = most + 1, "AddressSanitizer: ILL(.|\n)*sanitizers_test");
  volatile unsigned tooFar = 40;
  EXPECT_DEATH(most = 1 << tooFar, "AddressSanitizer: ILL(.|\n)*sanitizers_test");
}

TEST(SanitizersDeathTest, ShowReadsBehindTheEnd) {
  volatile std::size_t tooMany = 9;
  static std::array<char, 8> lasting = {};
  EXPECT_DEATH(EXPECT_EQ(std::memchr(lasting.data(), 'x', tooMany), nullptr), "global-buffer-overflow");
  const auto fleeting = std::make_unique<char[]>(8);
  EXPECT_DEATH(EXPECT_EQ(std::memchr(fleeting.get(), 'x', tooMany), nullptr), "heap-buffer-overflow");
}

#endif

}  // namespace
}  // namespace sluice::base
