// Tests that names in use are queried again before they expire, and that old answers stay valid when the name servers
// fail.
#include <gtest/gtest.h>

#include "proxy/net/dns/resolver.h"
#include "proxy/observe/metrics_reader.h"
#include "test/net/loop_name_server.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;
using test::DnsReply;

class ResolverRefresh : public ::testing::Test {
 protected:
  ResolverRefresh() : worker_(clock_), server_(worker_) {
    settings_.servers = {server_.server()};
    server_[kName] = {.addresses = {"192.0.2.1"}, .ttl = 100};
  }

  std::string known() {
    const auto* result = resolver_->cached(kName);
    if (result == nullptr) return "nothing";
    return result->ok() ? result->value().front().toString() : result->error().detail;
  }
  std::string lookUp() {
    if (!resolver_) resolver_ = makeResolver(worker_, settings_, {.metrics = &metrics_}).value();
    bool done = false;
    {
      const Worker::Turn turn(worker_);
      resolver_->resolve(kName, [&] { done = true; });
    }
    EXPECT_TRUE(test::runUntil(worker_, [&] { return done; }));
    return known();
  }
  void pass(base::Duration time) {
    clock_.advance(time);
    const Worker::Turn turn(worker_);
  }
  /// Lets time pass, and answers the queries that it triggers.
  void passAndAnswer(base::Duration time) {
    const int before = answered();
    pass(time);
    EXPECT_TRUE(test::runUntil(worker_, [&] { return answered() > before; }));
  }
  /// Returns the number of questions. Queries another name first: a question on its way is counted before that one is
  /// answered.
  int asked() {
    bool done = false;
    const std::string fence = "fence" + std::to_string(fences_++) + ".test";
    server_[fence] = {.addresses = {"192.0.2.99"}};
    {
      const Worker::Turn turn(worker_);
      resolver_->resolve(fence, [&] { done = true; });
    }
    EXPECT_TRUE(test::runUntil(worker_, [&] { return done; }));
    return server_.asked(kName);
  }
  /// Returns the number of questions for kName that have ended.
  int answered() {
    const std::string page = observe::exposeMetrics(registry_);
    int sum = 0;
    const std::string series = "dns_lookup_duration_seconds_count{dns_question_name=\"" + std::string(kName) + "\"";
    for (std::size_t at = page.find(series); at != std::string::npos; at = page.find(series, at + 1)) {
      sum += std::stoi(page.substr(page.find("} ", at) + 2));
    }
    return sum;
  }

  static constexpr const char* kName = "backend.test";
  test::ManualClock clock_;
  observe::MetricsRegistry registry_;
  observe::MetricShard metrics_{registry_};
  Worker worker_;
  test::LoopNameServer server_;
  base::DnsSettings settings_;
  std::unique_ptr<Resolver> resolver_;
  int fences_ = 0;
};

TEST_F(ResolverRefresh, AsksForANameInUseAtFourFifthsOfItsTtl) {
  EXPECT_EQ(lookUp(), "192.0.2.1:0");
  server_[kName].addresses = {"192.0.2.2"};
  pass(79s);
  EXPECT_EQ(asked(), 1);
  passAndAnswer(2s);
  EXPECT_EQ(asked(), 2);
  EXPECT_EQ(known(), "192.0.2.2:0");
  pass(70s);
  EXPECT_EQ(known(), "192.0.2.2:0") << "the TTL begins anew";
}

TEST_F(ResolverRefresh, DoesNotAskForAnUnusedName) {
  lookUp();
  passAndAnswer(81s);
  // The name was not used since that answer.
  pass(81s);
  EXPECT_EQ(asked(), 2);
  pass(20s);
  EXPECT_EQ(known(), "nothing");
}

TEST_F(ResolverRefresh, IsTriggeredByAUseBetweenItsTimeAndTheEnd) {
  lookUp();
  passAndAnswer(81s);
  pass(81s);
  server_[kName].addresses = {"192.0.2.2"};
  const int before = answered();
  EXPECT_EQ(known(), "192.0.2.1:0");
  ASSERT_TRUE(test::runUntil(worker_, [&] { return answered() > before; }));
  EXPECT_EQ(known(), "192.0.2.2:0");
  EXPECT_EQ(asked(), 3);
}

TEST_F(ResolverRefresh, SkipsAnAnswerOfLessThanASecond) {
  settings_.minTtl = 999ms;
  server_[kName].ttl = 0;
  lookUp();
  pass(999ms);
  EXPECT_EQ(known(), "192.0.2.1:0");
  EXPECT_EQ(asked(), 1);
}

TEST_F(ResolverRefresh, IncludesAnAnswerOfASecond) {
  settings_.minTtl = 1s;
  server_[kName].ttl = 0;
  lookUp();
  passAndAnswer(900ms);
  EXPECT_EQ(asked(), 2);
}

TEST_F(ResolverRefresh, SkipsAFailure) {
  server_[kName] = {.reply = DnsReply::kNoSuchName};
  lookUp();
  pass(4900ms);
  EXPECT_EQ(asked(), 1);
}

TEST_F(ResolverRefresh, KeepsTheLastGoodAnswerWhileTheServersFail) {
  settings_.staleTtl = 60s;
  lookUp();
  server_[kName].reply = DnsReply::kServerFailure;
  passAndAnswer(101s);
  EXPECT_EQ(known(), "192.0.2.1:0");
  pass(58s);
  EXPECT_EQ(known(), "192.0.2.1:0");
  pass(2s);
  EXPECT_EQ(known(), "nothing");
  EXPECT_EQ(lookUp(), "backend.test: no name server has an answer");
}

TEST_F(ResolverRefresh, KeepsTheLastGoodAnswerEvenIfTheFailureIsSeenAfterItsEnd) {
  settings_.staleTtl = 60s;
  lookUp();
  passAndAnswer(81s);
  pass(130s);
  server_[kName].reply = DnsReply::kServerFailure;
  EXPECT_EQ(known(), "nothing");
  EXPECT_EQ(lookUp(), "192.0.2.1:0");
}

TEST_F(ResolverRefresh, KeepsNoExpiredAnswerWithoutAStaleTtl) {
  settings_.staleTtl = 0s;
  lookUp();
  server_[kName].reply = DnsReply::kServerFailure;
  passAndAnswer(101s);
  EXPECT_EQ(known(), "backend.test: no name server has an answer");
}

TEST_F(ResolverRefresh, TreatsAReplyThatBreaksOffAsAFailureOfTheServer) {
  lookUp();
  server_[kName].reply = DnsReply::kCutOff;
  passAndAnswer(101s);
  EXPECT_EQ(known(), "192.0.2.1:0");
}

TEST_F(ResolverRefresh, DropsTheAnswerOfANameThatNoLongerExists) {
  lookUp();
  server_[kName].reply = DnsReply::kNoSuchName;
  passAndAnswer(81s);
  EXPECT_EQ(known(), "backend.test: Domain name not found");
}

TEST_F(ResolverRefresh, DropsTheAddressesOfANameThatHasLostThem) {
  lookUp();
  server_[kName].addresses = {};
  passAndAnswer(81s);
  EXPECT_EQ(known(), "backend.test: DNS server returned answer with no data");
}

TEST_F(ResolverRefresh, AsksFailingServersAgainEveryNegativeTtlWhileTheNameIsUsed) {
  settings_.negativeTtl = 5s;
  lookUp();
  server_[kName].reply = DnsReply::kServerFailure;
  passAndAnswer(81s);
  const int before = asked();
  EXPECT_EQ(known(), "192.0.2.1:0");
  pass(4900ms);
  EXPECT_EQ(asked(), before);
  passAndAnswer(200ms);
  EXPECT_EQ(known(), "192.0.2.1:0");
  server_[kName] = {.addresses = {"192.0.2.2"}, .ttl = 100};
  passAndAnswer(5100ms);
  EXPECT_EQ(known(), "192.0.2.2:0");
}

TEST_F(ResolverRefresh, SharesItsQuestionWithCallersThatAskMeanwhile) {
  lookUp();
  server_[kName].silences = 1;
  pass(101s);
  EXPECT_EQ(known(), "nothing");
  bool done = false;
  {
    const Worker::Turn turn(worker_);
    resolver_->resolve(kName, [&] { done = true; });
  }
  EXPECT_EQ(asked(), 2) << "the lost one, and no other";
  resolver_.reset();
  EXPECT_FALSE(done);
}

TEST_F(ResolverRefresh, RecordsTheDurationOfQuestions) {
  lookUp();
  server_["gone.test"] = {.reply = DnsReply::kNoSuchName};
  bool done = false;
  {
    const Worker::Turn turn(worker_);
    resolver_->resolve("gone.test", [&] { done = true; });
    resolver_->resolve(kName, [] {});
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return done; }));
  EXPECT_EQ(answered(), 1) << "an answer out of the memory is no question";
  const std::string series =
      "dns_lookup_duration_seconds_count{dns_question_name=\"gone.test\",error_type=\"dns_error\"} 1";
  EXPECT_NE(observe::exposeMetrics(registry_).find(series), std::string::npos) << observe::exposeMetrics(registry_);
}

TEST(DnsStrategy, TriesAllAddressesInOrderIfStrictAndTheFirstIfLogical) {
  const Addresses answer = {*Address::parse("192.0.2.2", 0), *Address::parse("192.0.2.1", 0)};
  EXPECT_EQ(chooseAddresses(DnsStrategy::kStrict, answer), answer);
  EXPECT_EQ(chooseAddresses(DnsStrategy::kLogical, answer), Addresses{answer.front()});
  EXPECT_TRUE(chooseAddresses(DnsStrategy::kLogical, {}).empty());
}

}  // namespace
}  // namespace sluice::net
