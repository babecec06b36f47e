#include "proxy/exchange/authentication/wrong_passwords.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::exchange {
namespace {

pki::Sha256Digest claimOf(int number) { return pki::sha256(std::to_string(number)); }

TEST(WrongPasswords, AreKnownForTenSeconds) {
  WrongPasswords wrong;
  const base::MonotonicTime start{};
  wrong.add(claimOf(1), start);
  EXPECT_TRUE(wrong.contain(claimOf(1), start));
  EXPECT_FALSE(wrong.contain(claimOf(2), start));
  EXPECT_TRUE(wrong.contain(claimOf(1), start + std::chrono::milliseconds(9999)));
  EXPECT_FALSE(wrong.contain(claimOf(1), start + std::chrono::seconds(10)));
  EXPECT_EQ(wrong.size(), 0U);
}

TEST(WrongPasswords, KeepTheTimeOfTheFirstCheck) {
  WrongPasswords wrong;
  const base::MonotonicTime start{};
  wrong.add(claimOf(1), start);
  wrong.add(claimOf(1), start + std::chrono::seconds(5));
  EXPECT_FALSE(wrong.contain(claimOf(1), start + std::chrono::seconds(10)));
  wrong.add(claimOf(1), start + std::chrono::seconds(10));
  EXPECT_TRUE(wrong.contain(claimOf(1), start + std::chrono::seconds(19)));
}

TEST(WrongPasswords, DropTheOldestOnesBeyondTheirBound) {
  WrongPasswords wrong;
  const base::MonotonicTime now{};
  for (int i = 0; i < 1000; ++i) wrong.add(claimOf(i), now);
  EXPECT_TRUE(wrong.contain(claimOf(0), now));
  wrong.add(claimOf(1000), now);
  EXPECT_EQ(wrong.size(), WrongPasswords::kMost);
  EXPECT_FALSE(wrong.contain(claimOf(0), now));
  EXPECT_TRUE(wrong.contain(claimOf(1), now));
  EXPECT_TRUE(wrong.contain(claimOf(1000), now));
}

}  // namespace
}  // namespace sluice::exchange
