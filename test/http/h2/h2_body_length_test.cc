#include "proxy/http/h2/h2_body_length.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

TEST(H2BodyLength, OfAnyBodyIsCounted) {
  H2BodyLength length;
  EXPECT_FALSE(length.isAnnounced());
  EXPECT_TRUE(length.isComplete());
  EXPECT_TRUE(length.add(1u << 30));
  EXPECT_TRUE(length.isComplete());
  EXPECT_EQ(length.received(), 1u << 30);
}

TEST(H2BodyLength, IsThatWhichWasAnnounced) {
  H2BodyLength length;
  length.announce(5);
  EXPECT_TRUE(length.isAnnounced());
  EXPECT_FALSE(length.isComplete());
  EXPECT_TRUE(length.add(2));
  EXPECT_FALSE(length.isComplete());
  EXPECT_TRUE(length.add(3));
  EXPECT_TRUE(length.isComplete());
  EXPECT_FALSE(length.add(1));
  EXPECT_FALSE(length.isComplete());
}

TEST(H2BodyLength, OfAMessageWithoutBodyIsZero) {
  H2BodyLength length;
  length.announce(0);
  EXPECT_TRUE(length.isComplete());
  EXPECT_TRUE(length.add(0));
  EXPECT_FALSE(length.add(1));
}

}  // namespace
}  // namespace sluice::http
