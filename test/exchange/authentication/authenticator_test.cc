#include "proxy/exchange/authentication/authenticator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"
#include "test/support/passwords.h"

namespace sluice::exchange {
namespace {

class JudgedPasswords : public ::testing::Test, private PasswordSink {
 protected:
  ~JudgedPasswords() override { checks_.end(); }

  Authenticator::Verdict judge(const std::string& user, const std::string& password, http::Token exchange = 1,
                               net::ClientNetwork client = 1) {
    const net::Worker::Turn turn(worker_);
    return authenticator_.judge({file_, user, password}, client, exchange);
  }
  /// Returns the results that came until there are so many, as "exchange: right".
  std::vector<std::string> results(std::size_t count) {
    EXPECT_TRUE(test::runUntil(worker_, [&] { return results_.size() >= count; }));
    return std::exchange(results_, {});
  }

  test::ManualClock clock_;
  net::Worker worker_{clock_};
  PasswordChecks checks_{64};

 private:
  void onPasswordChecked(http::Token exchange, bool right) override {
    results_.push_back(std::to_string(exchange) + (right ? ": right" : ": wrong"));
  }

  const std::shared_ptr<const pki::PasswordFile> file_ = test::annAndBob();
  Authenticator authenticator_{worker_, checks_, *this};
  std::vector<std::string> results_;
};

TEST_F(JudgedPasswords, AreRightAtOnceAfterTheFirstCheck) {
  EXPECT_EQ(judge("ann", "secret"), Authenticator::Verdict::kPending);
  EXPECT_EQ(results(1), std::vector<std::string>{"1: right"});
  EXPECT_EQ(judge("ann", "secret"), Authenticator::Verdict::kRight);
  EXPECT_EQ(judge("bob", "other", 2), Authenticator::Verdict::kPending);
  EXPECT_EQ(results(1), std::vector<std::string>{"2: right"});
}

TEST_F(JudgedPasswords, AreWrongAtOnceForTenSecondsAfterTheFirstCheck) {
  EXPECT_EQ(judge("ann", "wrong"), Authenticator::Verdict::kPending);
  EXPECT_EQ(results(1), std::vector<std::string>{"1: wrong"});
  EXPECT_EQ(judge("ann", "wrong"), Authenticator::Verdict::kWrong);
  EXPECT_EQ(judge("bob", "wrong", 2), Authenticator::Verdict::kPending);
  EXPECT_EQ(results(1), std::vector<std::string>{"2: wrong"});
  clock_.advance(std::chrono::milliseconds(9999));
  EXPECT_EQ(judge("ann", "wrong"), Authenticator::Verdict::kWrong);
  clock_.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(judge("ann", "wrong"), Authenticator::Verdict::kPending);
  EXPECT_EQ(results(1), std::vector<std::string>{"1: wrong"});
}

TEST_F(JudgedPasswords, OfUnknownUsersAreCheckedAndWrong) {
  EXPECT_EQ(judge("eve", "secret"), Authenticator::Verdict::kPending);
  EXPECT_EQ(results(1), std::vector<std::string>{"1: wrong"});
  EXPECT_EQ(judge("eve", "secret"), Authenticator::Verdict::kWrong);
}

TEST_F(JudgedPasswords, OfTheSameClaimWaitForOneCheck) {
  checks_.setMost(1);
  http::Token waiting = 0;
  // The check may be done before the last of them ask. They need none then.
  for (http::Token exchange = 1; exchange <= 20; ++exchange) {
    const Authenticator::Verdict verdict = judge("ann", "secret", exchange);
    if (verdict == Authenticator::Verdict::kPending)
      waiting = exchange;
    else
      EXPECT_EQ(verdict, Authenticator::Verdict::kRight) << exchange;
  }
  ASSERT_GE(waiting, 1u);
  EXPECT_EQ(results(waiting).back(), std::to_string(waiting) + ": right");
}

TEST_F(JudgedPasswords, HaveNoRoomBeyondTheBound) {
  checks_.end();
  EXPECT_EQ(judge("ann", "secret"), Authenticator::Verdict::kNoRoom);
  EXPECT_EQ(judge("ann", "secret"), Authenticator::Verdict::kNoRoom);
}

}  // namespace
}  // namespace sluice::exchange
