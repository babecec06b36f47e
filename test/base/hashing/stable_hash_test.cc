#include "proxy/base/hashing/stable_hash.h"

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

// The values of XXH3's specification; replicas of other versions and machines must find the same ones.
TEST(StableHash, IsTheSameEverywhere) {
  EXPECT_EQ(stableHash(""), 0x2D06800538D394C2ULL);
  EXPECT_EQ(stableHash("", 0x9E3779B185EBCA8DULL), 0xA8A6B918B2F0364AULL);
  EXPECT_NE(stableHash("a"), stableHash("b"));
  EXPECT_NE(stableHash("a"), stableHash("a", 1));
}

}  // namespace
}  // namespace sluice::base
