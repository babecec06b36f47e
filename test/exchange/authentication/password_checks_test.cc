#include "proxy/exchange/authentication/password_checks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "test/support/loop_driver.h"
#include "test/support/passwords.h"

namespace sluice::exchange {
namespace {

// ThreadSanitizer watches these tests: workers ask while the thread answers them.

/// A worker that asks by itself, and counts its answers.
struct AskingWorker {
  explicit AskingWorker(PasswordChecks& to) : checks(to) {}

  bool ask(net::ClientNetwork client, const std::shared_ptr<const pki::PasswordFile>& file,
           const std::string& password) {
    ++asked;
    const bool taken = checks.ask(client, {{file, "ann", password}, &worker, [this](bool isRight) {
                                             ++answered;
                                             right += isRight ? 1 : 0;
                                           }});
    if (!taken) --asked;
    return taken;
  }
  void await() {
    EXPECT_TRUE(test::runUntil(worker, [this] { return answered == asked; }));
  }

  PasswordChecks& checks;
  base::SystemClock clock;
  net::Worker worker{clock};
  int asked = 0;
  int answered = 0;
  int right = 0;
};

TEST(PasswordCheckThreads, AnswerEveryWorkerOnItsOwnThread) {
  const auto file = test::annAndBob();
  PasswordChecks checks(10000);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (net::ClientNetwork client = 1; client <= 3; ++client) {
    threads.emplace_back([&, client] {
      AskingWorker asking(checks);
      for (int i = 0; i < 20; ++i) {
        const std::string password = i % 2 == 0 ? "secret" : "wrong" + std::to_string(i);
        EXPECT_TRUE(asking.ask(client, file, password));
        if (i % 5 == 4) asking.await();
      }
      asking.await();
      right += asking.right;
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(right, 30);
  EXPECT_TRUE(pki::PasswordClaim(file, "ann", "secret").isProven());
}

TEST(PasswordCheckThreads, RefuseWhatIsBeyondTheShareOfAClient) {
  const auto file = test::annAndBob();
  PasswordChecks checks(8);
  AskingWorker asking(checks);
  bool full = false;
  for (int i = 0; i < 100000 && !full; ++i) full = !asking.ask(1, file, std::to_string(i));
  EXPECT_TRUE(full);
  EXPECT_TRUE(asking.ask(2, file, "secret")) << "another client has room";
  asking.await();
  EXPECT_EQ(asking.right, 1);
}

TEST(PasswordCheckThreads, TakeABoundThatChangesMeanwhile) {
  const auto file = test::annAndBob();
  PasswordChecks checks(4);
  AskingWorker asking(checks);
  for (std::uint64_t most = 1; most < 50; ++most) {
    checks.setMost(most);
    asking.ask(most, file, std::to_string(most));
  }
  asking.await();
  EXPECT_EQ(asking.right, 0);
}

TEST(PasswordCheckThreads, AnswerNothingAfterTheirEnd) {
  const auto file = test::annAndBob();
  PasswordChecks checks(64);
  {
    AskingWorker asking(checks);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(asking.ask(1, file, std::to_string(i)));
    checks.end();
  }
  AskingWorker late(checks);
  EXPECT_FALSE(late.ask(1, file, "secret"));
}

}  // namespace
}  // namespace sluice::exchange
