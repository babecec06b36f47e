// Tests the page /exchanges without sockets: workers answer when the test lets them, or never.
#include "proxy/server/admin/exchanges_page.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "test/server/body_text.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

using exchange::ExchangeList;

class ExchangesPageTest : public ::testing::Test, private AdminClients {
 protected:
  explicit ExchangesPageTest(std::size_t workers = 2) {
    for (std::size_t i = 0; i < workers; ++i) {
      page_.addWorker([this](std::size_t most, ExchangesPage::Tell tell) {
        EXPECT_EQ(most, ExchangesPage::kMaxListed);
        asked_.push_back(std::move(tell));
      });
    }
  }

  void ask() {
    const net::Worker::Turn turn(main_);
    page_.ask(AdminAnswer(*this, 1, ++streams_));
  }
  /// Answers the n-th question to a worker; the page has got the answer when this returns.
  void tell(std::size_t question, ExchangeList list) {
    asked_.at(question)(std::move(list));
    bool delivered = false;
    main_.post([&delivered] { delivered = true; });
    ASSERT_TRUE(test::runUntil(main_, [&] { return delivered; }));
  }
  void pass(base::Duration time) {
    clock_.advance(time);
    const net::Worker::Turn turn(main_);
  }
  /// Returns `count` exchanges named from `name` on, the first of which began `began` into this test's time.
  static ExchangeList listOf(std::size_t count, int began, int name = 0) {
    ExchangeList list;
    for (std::size_t i = 0; i < count; ++i) {
      const int number = static_cast<int>(i);
      list.oldest.push_back({base::MonotonicTime(std::chrono::seconds(began + number)), std::to_string(name + number)});
    }
    list.total = count;
    return list;
  }

  void wake(http::Token, http::StreamId) override {}
  void answer(http::Token, http::StreamId, AdminDocument&& document) override {
    EXPECT_EQ(document.status, 200);
    answers_.push_back(textOf(document.body));
  }

  test::ManualClock clock_;
  net::Worker main_{clock_};
  std::vector<ExchangesPage::Tell> asked_;
  std::vector<std::string> answers_;
  http::StreamId streams_ = 0;
  ExchangesPage page_{main_};
};

TEST_F(ExchangesPageTest, ListsTheExchangesOfAllWorkersOldestFirst) {
  ask();
  ASSERT_EQ(asked_.size(), 2u);
  tell(1, listOf(2, 5, 20));
  EXPECT_TRUE(answers_.empty()) << "one is still to tell";
  ExchangeList early = listOf(1, 1, 10);
  early.oldest.push_back({base::MonotonicTime(std::chrono::seconds(9)), "11"});
  early.total = 2;
  tell(0, early);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0], R"({"exchanges":[10,20,21,11],"total":4,"truncated":false,"silentWorkers":[]})");
}

TEST_F(ExchangesPageTest, IsEmptyIfNothingIsInFlight) {
  ask();
  tell(0, {});
  tell(1, {});
  EXPECT_EQ(answers_, std::vector<std::string>{R"({"exchanges":[],"total":0,"truncated":false,"silentWorkers":[]})"});
}

TEST_F(ExchangesPageTest, NamesASilentWorkerAndDoesNotWaitForIt) {
  ask();
  tell(0, listOf(1, 1, 7));
  pass(ExchangesPage::kPatience - std::chrono::milliseconds(1));
  EXPECT_TRUE(answers_.empty());
  pass(2 * net::TimerWheel::kTick);
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0], R"({"exchanges":[7],"total":1,"truncated":false,"silentWorkers":[1]})");
}

TEST_F(ExchangesPageTest, IgnoresALateAnswerInTheNextRound) {
  ask();
  pass(ExchangesPage::kPatience + 2 * net::TimerWheel::kTick);
  ask();
  ASSERT_EQ(asked_.size(), 4u);
  tell(0, listOf(1, 1, 100));
  tell(1, listOf(1, 1, 100));
  EXPECT_EQ(answers_.size(), 1u);
  tell(2, {});
  tell(3, {});
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(answers_[1], R"({"exchanges":[],"total":0,"truncated":false,"silentWorkers":[]})");
}

TEST_F(ExchangesPageTest, AnswersARequestDuringARoundByTheNextOne) {
  ask();
  ask();
  ask();
  EXPECT_EQ(asked_.size(), 2u) << "workers are asked once for all of them";
  tell(0, {});
  tell(1, {});
  EXPECT_EQ(answers_.size(), 1u);
  ASSERT_EQ(asked_.size(), 4u);
  tell(2, listOf(1, 1, 5));
  tell(3, {});
  ASSERT_EQ(answers_.size(), 3u);
  EXPECT_EQ(answers_[1], answers_[2]);
  EXPECT_NE(answers_[0], answers_[1]);
  ask();
  ASSERT_EQ(asked_.size(), 6u);
  tell(4, {});
  tell(5, {});
}

TEST_F(ExchangesPageTest, ListsAThousandExchangesAndCountsTheRest) {
  ask();
  tell(0, listOf(600, 0));
  tell(1, listOf(400, 0));
  ask();
  tell(2, listOf(600, 0));
  tell(3, listOf(401, 0, 10000));
  ask();
  ExchangeList cut = listOf(1000, 0);
  cut.total = 5000;
  tell(4, cut);
  tell(5, {});
  ASSERT_EQ(answers_.size(), 3u);
  EXPECT_TRUE(answers_[0].ends_with(R"("total":1000,"truncated":false,"silentWorkers":[]})"));
  EXPECT_TRUE(answers_[1].ends_with(R"(,598],"total":1001,"truncated":true,"silentWorkers":[]})"))
      << "the youngest is the one that is missing";
  EXPECT_TRUE(answers_[2].ends_with(R"("total":5000,"truncated":true,"silentWorkers":[]})"));
}

class Collected final : public AdminClients {
 public:
  std::vector<std::string> bodies;

 private:
  void answer(http::Token, http::StreamId, AdminDocument&& document) override {
    bodies.push_back(textOf(document.body));
  }
  void wake(http::Token, http::StreamId) override {}
};

TEST(ExchangesPageThreads, TakeAnswersFromTheWorkersOwnThreads) {
  const base::SystemClock clock;
  net::Worker main(clock);
  net::Worker first(clock);
  net::Worker second(clock);
  Collected collected;
  ExchangesPage page(main);
  for (net::Worker* worker : {&first, &second}) {
    page.addWorker([worker](std::size_t, ExchangesPage::Tell tell) {
      worker->post([tell = std::move(tell)] { tell({{{base::MonotonicTime{}, "1"}}, 1}); });
    });
  }
  std::thread firstThread([&] { first.run(); });
  std::thread secondThread([&] { second.run(); });
  for (std::size_t asked = 1; asked <= 20; ++asked) {
    {
      const net::Worker::Turn turn(main);
      page.ask(AdminAnswer(collected, 1, 1));
    }
    ASSERT_TRUE(test::runUntil(main, [&] { return collected.bodies.size() == asked; }));
    EXPECT_EQ(collected.bodies.back(), R"({"exchanges":[1,1],"total":2,"truncated":false,"silentWorkers":[]})");
  }
  first.post([&] { first.stop(); });
  second.post([&] { second.stop(); });
  firstThread.join();
  secondThread.join();
}

}  // namespace
}  // namespace sluice::server
