#include "proxy/exchange/authentication/password_queue.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/passwords.h"

namespace sluice::exchange {
namespace {

class WaitingPasswords : public ::testing::Test {
 protected:
  bool add(net::ClientNetwork client, const std::string& password, PasswordQueue& queue) {
    return queue.add(client, {{file_, "ann", password}, nullptr, [this, password](bool) { taken_ = password; }});
  }
  /// Takes the next check and returns its password.
  std::string take(PasswordQueue& queue) { return nameOf(queue.take()); }
  std::string nameOf(const PasswordCheck& check) {
    check.answer(true);
    return taken_;
  }

  const std::shared_ptr<const pki::PasswordFile> file_ = test::annAndBob();
  std::string taken_;
};

TEST_F(WaitingPasswords, OfOneClientAreTakenInTheirOrder) {
  PasswordQueue queue(64);
  for (const char* each : {"a", "b", "c"}) EXPECT_TRUE(add(1, each, queue));
  for (const char* each : {"a", "b", "c"}) EXPECT_EQ(take(queue), each);
  EXPECT_TRUE(queue.empty());
}

TEST_F(WaitingPasswords, OfSeveralClientsAreTakenInTurns) {
  PasswordQueue queue(64);
  for (const char* each : {"a1", "a2", "a3"}) add(1, each, queue);
  add(2, "b1", queue);
  add(3, "c1", queue);
  EXPECT_EQ(take(queue), "a1");
  add(2, "b2", queue);
  for (const char* each : {"b1", "c1", "a2", "b2", "a3"}) EXPECT_EQ(take(queue), each);
  EXPECT_TRUE(queue.empty());
}

TEST_F(WaitingPasswords, OfOneClientTakeAQuarterOfTheRoom) {
  PasswordQueue queue(8);
  EXPECT_TRUE(add(1, "a", queue));
  EXPECT_TRUE(add(1, "b", queue));
  EXPECT_FALSE(add(1, "c", queue));
  EXPECT_TRUE(add(2, "d", queue));
  EXPECT_EQ(take(queue), "a");
  EXPECT_TRUE(add(1, "c", queue));
  EXPECT_FALSE(add(1, "e", queue));
}

TEST_F(WaitingPasswords, OfAllClientsTakeTheWholeRoom) {
  PasswordQueue queue(3);
  for (net::ClientNetwork client = 1; client <= 3; ++client) EXPECT_TRUE(add(client, "x", queue)) << client;
  EXPECT_FALSE(add(4, "x", queue));
  take(queue);
  EXPECT_TRUE(add(4, "x", queue));
  EXPECT_FALSE(add(5, "x", queue));
}

TEST_F(WaitingPasswords, MayBeOneOfEachClientHoweverSmallTheRoom) {
  PasswordQueue queue(1);
  EXPECT_TRUE(add(1, "a", queue));
  EXPECT_FALSE(add(1, "b", queue));
  EXPECT_FALSE(add(2, "c", queue));
}

TEST_F(WaitingPasswords, StayWhenTheRoomBecomesSmaller) {
  PasswordQueue queue(8);
  add(1, "a", queue);
  add(2, "b", queue);
  queue.setMost(1);
  EXPECT_FALSE(add(3, "c", queue));
  EXPECT_EQ(take(queue), "a");
  EXPECT_EQ(take(queue), "b");
  EXPECT_TRUE(add(3, "c", queue));
}

TEST_F(WaitingPasswords, OfTheSameClaimAreTakenTogether) {
  PasswordQueue queue(64);
  add(1, "a", queue);
  add(1, "b", queue);
  add(2, "a", queue);
  add(3, "c", queue);
  const PasswordCheck first = queue.take();
  EXPECT_EQ(nameOf(first), "a");
  const auto same = queue.takeSame(first.claim.digest());
  ASSERT_EQ(same.size(), 1U);
  EXPECT_EQ(nameOf(same[0]), "a");
  EXPECT_EQ(take(queue), "c");
  EXPECT_EQ(take(queue), "b");
  EXPECT_TRUE(queue.empty());
}

TEST_F(WaitingPasswords, AreGoneAfterClear) {
  PasswordQueue queue(4);
  add(1, "a", queue);
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(add(1, "a", queue));
}

}  // namespace
}  // namespace sluice::exchange
