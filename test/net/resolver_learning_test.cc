// Tests that an answer to one worker's resolver is shared with the resolvers of the others, so that names are queried
// once, and outlive dead name servers in every worker.
#include <gtest/gtest.h>

#include "test/net/resolver_fixture.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;
using test::DnsReply;
using test::texts;
using test::Texts;

class ResolverLearning : public test::ResolverFixture<test::ManualClock> {
 protected:
  ResolverLearning() {
    settings_.staleTtl = 60s;
    settings_.attempts = 1;  // so that each question has one answer
    server_[kName] = {.addresses = {"192.0.2.1"}, .ttl = 100};
  }

  void SetUp() override {
    parts_.share = [this](const DnsAnswer& answer) {
      ++answers_;
      other_->learn(answer);
    };
    start();
    parts_.share = [this](const DnsAnswer& answer) {
      ++answers_;
      resolver_->learn(answer);
    };
    other_ = makeResolver(worker_, settings_, parts_).value();
  }
  /// Queries the name for a worker that does not use the answer.
  void teach() {
    bool done = false;
    {
      const Worker::Turn turn(worker_);
      resolver_->resolve(kName, [&] { done = true; });
    }
    EXPECT_TRUE(test::runUntil(worker_, [&] { return done; }));
  }
  Texts otherKnows() { return texts(other_->cached(kName)); }
  Texts otherLooksUp() {
    bool done = false;
    {
      const Worker::Turn turn(worker_);
      other_->resolve(kName, [&] { done = true; });
    }
    EXPECT_TRUE(test::runUntil(worker_, [&] { return done; }));
    return otherKnows();
  }
  /// Lets time pass, and answers the queries that come then.
  void pass(base::Duration time) {
    clock_.advance(time);
    turn();
    const std::string fence = "fence" + std::to_string(fences_++) + ".test";
    server_[fence] = {.addresses = {"192.0.2.99"}};
    lookUp(fence);
    EXPECT_TRUE(test::runUntil(worker_, [&] { return answers_ == server_.datagrams(); }));
  }

  static constexpr const char* kName = "backend.test";
  std::unique_ptr<Resolver> other_;
  std::size_t answers_ = 0;
  int fences_ = 0;
};

TEST_F(ResolverLearning, GivesAnAnswerToAResolverThatDidNotAsk) {
  EXPECT_EQ(otherKnows(), Texts{"nothing is known"});
  lookUp(kName);
  EXPECT_EQ(otherKnows(), Texts{"192.0.2.1:0"});
  EXPECT_EQ(server_.asked(kName), 1);
}

TEST_F(ResolverLearning, EndsWithTheTtl) {
  teach();
  pass(101s);
  EXPECT_EQ(otherKnows(), Texts{"nothing is known"});
}

TEST_F(ResolverLearning, KeepsTheAnswerOfAnotherOneWhileTheServersFail) {
  teach();
  pass(101s);
  server_[kName].reply = DnsReply::kServerFailure;
  EXPECT_EQ(otherLooksUp(), Texts{"192.0.2.1:0"});
  pass(60s);
  EXPECT_EQ(otherKnows(), Texts{"backend.test: no name server has an answer"});
}

TEST_F(ResolverLearning, KeepsAnAnswerThatMayNotBeCached) {
  settings_.minTtl = 0s;
  server_[kName].ttl = 0;
  SetUp();
  teach();
  pass(1s);
  EXPECT_EQ(otherKnows(), Texts{"nothing is known"});
  server_[kName].reply = DnsReply::kServerFailure;
  EXPECT_EQ(otherLooksUp(), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverLearning, SparesAResolverTheFailureThatAnotherOneHasSeen) {
  lookUp(kName);
  server_[kName].reply = DnsReply::kServerFailure;
  pass(81s);
  const int before = server_.asked(kName);
  EXPECT_EQ(before, 2) << "the name is refreshed";
  pass(20s);
  EXPECT_EQ(otherKnows(), Texts{"192.0.2.1:0"}) << "although the TTL has passed";
  EXPECT_EQ(server_.asked(kName), before);
}

TEST_F(ResolverLearning, MakesNoFailureOfAFailureElsewhere) {
  server_[kName].reply = DnsReply::kServerFailure;
  EXPECT_FALSE(lookUp(kName)->ok());
  EXPECT_EQ(otherKnows(), Texts{"nothing is known"});
}

TEST_F(ResolverLearning, DropsTheAnswerOfANameThatNoLongerExists) {
  lookUp(kName);
  server_[kName].reply = DnsReply::kNoSuchName;
  pass(81s);
  EXPECT_EQ(otherKnows(), Texts{"backend.test: Domain name not found"});
  pass(10s);
  server_[kName].reply = DnsReply::kServerFailure;
  EXPECT_EQ(otherLooksUp(), Texts{"backend.test: no name server has an answer"});
}

TEST_F(ResolverLearning, LeavesTheRefreshToTheResolverThatAsked) {
  lookUp(kName);
  for (int i = 0; i < 3; ++i) {
    otherKnows();
    resolver_->cached(kName);
    pass(85s);
  }
  EXPECT_EQ(server_.asked(kName), 4);
}

TEST_F(ResolverLearning, RefreshesANameThatOnlyItUses) {
  lookUp(kName);
  otherKnows();
  pass(81s);
  EXPECT_EQ(server_.asked(kName), 2) << "the resolver that asked has used it too";
  otherKnows();
  pass(81s);
  EXPECT_EQ(server_.asked(kName), 2);
  server_[kName].addresses = {"192.0.2.2"};
  pass(10s);
  EXPECT_EQ(server_.asked(kName), 3);
  EXPECT_EQ(otherKnows(), Texts{"192.0.2.2:0"});
  EXPECT_EQ(texts(resolver_->cached(kName)), Texts{"192.0.2.2:0"});
}

TEST_F(ResolverLearning, KeepsABoundedNumberOfNames) {
  parts_.maxNames = 8;
  SetUp();
  for (int i = 0; i <= 8; ++i) {
    const std::string name = "n" + std::to_string(i) + ".test";
    server_[name] = {.addresses = {"192.0.2.1"}};
    lookUp(name);
  }
  EXPECT_EQ(texts(other_->cached("n0.test")), Texts{"nothing is known"});
  EXPECT_EQ(texts(other_->cached("n1.test")), Texts{"192.0.2.1:0"});
}

}  // namespace
}  // namespace sluice::net
