#include "proxy/base/box.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::base {
namespace {

TEST(Box, IsEmptyAndSmallUntilItHoldsAValue) {
  Box<std::string> box;
  EXPECT_FALSE(box);
  EXPECT_EQ(sizeof box, sizeof(void*));
  box = std::string("held");
  ASSERT_TRUE(box);
  EXPECT_EQ(*box, "held");
  EXPECT_EQ(box->size(), 4U);
  EXPECT_EQ(box.emplace(), "");
}

TEST(Box, CopiesAreIndependentAndEmptyOnesStayEmpty) {
  Box<std::string> box(std::string("one"));
  Box<std::string> copy = box;
  *copy = "two";
  EXPECT_EQ(*box, "one");
  copy = Box<std::string>();
  EXPECT_FALSE(copy);
  EXPECT_FALSE(Box<std::string>(copy));
}

TEST(Box, MovesLeaveNothingBehind) {
  Box<std::string> box(std::string("moved"));
  const Box<std::string> target = std::move(box);
  EXPECT_EQ(*target, "moved");
  EXPECT_FALSE(box);  // NOLINT(bugprone-use-after-move): the header promises an empty box
}

}  // namespace
}  // namespace sluice::base
