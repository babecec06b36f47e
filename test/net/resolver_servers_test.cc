// Tests how name servers are queried: the ports, the choice of the server, the number of tries and of parallel
// questions, and the effect of a question that fails on the others.
#include <gtest/gtest.h>

#include <algorithm>

#include "test/net/resolver_fixture.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;
using test::DnsReply;
using test::texts;
using test::Texts;

/// Time moves only if a test moves it, so every answer came without a timeout.
class ResolverServers : public test::ResolverFixture<test::ManualClock> {
 protected:
  ResolverServers() : second_(worker_) {}

  void useBoth() { settings_.servers = {server_.server(), second_.server()}; }
  /// Queries a name, and counts its answer.
  void ask(const std::string& name) {
    if (!resolver_) start();
    const Worker::Turn turn(worker_);
    resolver_->resolve(name, [this, name] {
      ++done_;
      seen_[name] = texts(resolver_->cached(name));
    });
  }
  bool answered(std::size_t count) {
    return test::runUntil(worker_, [&] { return done_ >= count; });
  }
  void pass(base::Duration time) {
    clock_.advance(time);
    turn();
  }
  /// Queries and answers another name, so that everything on its way has arrived.
  void settle() {
    const std::string fence = "fence" + std::to_string(fences_++) + ".test";
    for (auto* server : {&server_, &second_}) (*server)[fence] = {.addresses = {"192.0.2.99"}};
    EXPECT_EQ(texts(lookUp(fence)), Texts{"192.0.2.99:0"});
  }

  test::LoopNameServer second_;
  std::size_t done_ = 0;
  std::map<std::string, Texts> seen_;
  int fences_ = 0;
};

// --- the other servers, and further attempts

class FailingNameServer : public ResolverServers, public ::testing::WithParamInterface<DnsReply> {};

INSTANTIATE_TEST_SUITE_P(Reply, FailingNameServer,
                         ::testing::Values(DnsReply::kServerFailure, DnsReply::kRefusal, DnsReply::kFormatError,
                                           DnsReply::kCutOff),
                         [](const auto& given) {
                           switch (given.param) {
                             case DnsReply::kServerFailure:
                               return "ServerFailure";
                             case DnsReply::kRefusal:
                               return "Refusal";
                             case DnsReply::kFormatError:
                               return "FormatError";
                             default:
                               return "CutOff";
                           }
                         });

TEST_P(FailingNameServer, IsFollowedByTheNextOneAtOnce) {
  useBoth();
  settings_.attempts = 1;
  server_["backend.test"] = {.reply = GetParam()};
  second_["backend.test"] = {.addresses = {"192.0.2.1"}};
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"192.0.2.1:0"});
}

TEST_P(FailingNameServer, IsAskedAsOftenAsTheOtherOne) {
  useBoth();
  settings_.attempts = 2;
  for (auto* server : {&server_, &second_}) (*server)["backend.test"] = {.reply = GetParam()};
  EXPECT_FALSE(lookUp("backend.test")->ok());
  EXPECT_GE(server_.asked("backend.test"), 2);
  EXPECT_EQ(server_.asked("backend.test"), second_.asked("backend.test"));
}

TEST_F(ResolverServers, AreAskedAgainAfterAFailure) {
  settings_.attempts = 3;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .failures = 2};
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"192.0.2.1:0"});
  EXPECT_EQ(server_.asked("backend.test"), 3);
}

TEST_F(ResolverServers, AreNotAskedOnceMoreThanTheAttempts) {
  settings_.attempts = 3;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .failures = 3};
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"backend.test: no name server has an answer"});
  EXPECT_EQ(server_.asked("backend.test"), 3);
}

TEST_F(ResolverServers, AreNotAskedAgainForANameThatDoesNotExist) {
  useBoth();
  server_["gone.test"] = {.reply = DnsReply::kNoSuchName};
  second_["gone.test"] = {.addresses = {"192.0.2.1"}};
  EXPECT_FALSE(lookUp("gone.test")->ok());
  EXPECT_EQ(server_.asked("gone.test"), 1);
  EXPECT_EQ(second_.asked("gone.test"), 0);
}

TEST_F(ResolverServers, AreNotAskedAgainForANameWithoutAddresses) {
  settings_.ipv6 = true;
  server_["empty.test"] = {};
  EXPECT_FALSE(lookUp("empty.test")->ok());
  EXPECT_EQ(server_.asked("empty.test"), 2);
}

TEST_F(ResolverServers, AreAskedForTheOtherFamilyToTellWhyThereIsNoAddress) {
  server_["v6.test"] = {.addresses = {"2001:db8::1"}};
  const auto* result = lookUp("v6.test");
  EXPECT_EQ(texts(result), Texts{"v6.test: the name has only IPv6 addresses, and dns.ipv6 is off"});
  EXPECT_EQ(result->error().note, "asked " + server_.server());
  EXPECT_EQ(server_.asked("v6.test"), 2);
  server_["empty.test"] = {};
  EXPECT_EQ(texts(lookUp("empty.test")), Texts{"empty.test: DNS server returned answer with no data"});
  EXPECT_EQ(server_.asked("empty.test"), 2);
}

TEST_F(ResolverServers, AreAskedOnceForTheOtherFamilyEvenIfTheyFail) {
  settings_.attempts = 3;
  server_["v6.test"] = {.addresses = {"2001:db8::1"}, .silentToAaaa = true};
  ask("v6.test");
  EXPECT_TRUE(test::runUntil(worker_, [&] { return server_.asked("v6.test") == 2; }));
  pass(settings_.timeout + 100ms);
  EXPECT_TRUE(answered(1));
  EXPECT_EQ(seen_["v6.test"], Texts{"v6.test: DNS server returned answer with no data"});
  EXPECT_EQ(server_.asked("v6.test"), 2);
}

TEST_F(ResolverServers, AreAskedInTurnIfTheyAreSilent) {
  useBoth();
  settings_.attempts = 2;
  settings_.timeout = 2s;
  server_["backend.test"] = {.reply = DnsReply::kSilence};
  second_["backend.test"] = {.addresses = {"192.0.2.1"}, .silences = 1};
  ask("backend.test");
  for (int i = 0; i < 3; ++i) {
    settle();
    EXPECT_EQ(done_, 0u);
    pass(2100ms);
  }
  ASSERT_TRUE(answered(1));
  EXPECT_EQ(seen_["backend.test"], Texts{"192.0.2.1:0"});
  EXPECT_EQ(server_.asked("backend.test"), 2);
  EXPECT_EQ(second_.asked("backend.test"), 2);
}

TEST_F(ResolverServers, AreAskedAgainForTheAddressesOfOneKind) {
  settings_.ipv6 = true;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .failures = 1};
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverServers, MayKnowAddressesOfOneKindOnly) {
  settings_.ipv6 = true;
  server_["four.test"] = {.addresses = {"192.0.2.1"}};
  server_["six.test"] = {.addresses = {"2001:db8::1"}};
  EXPECT_EQ(texts(lookUp("four.test")), Texts{"192.0.2.1:0"});
  EXPECT_EQ(texts(lookUp("six.test")), Texts{"[2001:db8::1]:0"});
}

TEST_F(ResolverServers, AreNotWaitedForLongerThanOneTryIfThereAreAddressesOfTheOtherKind) {
  settings_.ipv6 = true;
  settings_.timeout = 2s;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .silentToAaaa = true};
  ask("backend.test");
  settle();
  pass(2100ms);
  ASSERT_TRUE(answered(1));
  EXPECT_EQ(seen_["backend.test"], Texts{"192.0.2.1:0"});
}

// --- truncated answers

TEST_F(ResolverServers, HarmNoOtherQuestionByATruncatedAnswerWithoutTcp) {
  server_.refuseTcp();
  server_["large.test"] = {.addresses = {"192.0.2.1"}, .truncated = true};
  server_["other.test"] = {.addresses = {"192.0.2.2"}, .held = true};
  ask("other.test");
  EXPECT_EQ(texts(lookUp("large.test")), Texts{"large.test: no name server has an answer"});
  server_.release();
  ASSERT_TRUE(answered(1));
  EXPECT_EQ(seen_["other.test"], Texts{"192.0.2.2:0"});
  EXPECT_EQ(server_.asked("other.test"), 1);
}

TEST_F(ResolverServers, HarmNoOtherQuestionByATruncatedAnswerWithSilentTcp) {
  settings_.timeout = 2s;
  settings_.attempts = 1;
  server_["large.test"] = {.addresses = {"192.0.2.1"}, .truncated = true, .silentByTcp = true};
  server_["other.test"] = {.addresses = {"192.0.2.2"}, .held = true};
  ask("large.test");
  ASSERT_TRUE(test::runUntil(worker_, [&] { return server_.askedByTcp() == 1; }));
  pass(1s);
  ask("other.test");
  pass(1100ms);
  ASSERT_TRUE(answered(1));
  EXPECT_EQ(seen_["large.test"], Texts{"large.test: Timeout while contacting DNS servers"});
  server_.release();
  ASSERT_TRUE(answered(2));
  EXPECT_EQ(seen_["other.test"], Texts{"192.0.2.2:0"});
}

TEST_F(ResolverServers, AreAskedByUdpAfterOneWhoseTcpFails) {
  useBoth();
  server_.refuseTcp();
  second_.refuseTcp();
  server_["large.test"] = {.addresses = {"192.0.2.1"}, .truncated = true};
  second_["large.test"] = {.addresses = {"192.0.2.2"}};
  EXPECT_EQ(texts(lookUp("large.test")), Texts{"192.0.2.2:0"});
}

TEST_F(ResolverServers, GiveAnAnswerOfManyAddressesInOneDatagram) {
  settings_.maxAddresses = 100;
  for (int i = 1; i <= 70; ++i) server_["large.test"].addresses.push_back("192.0.2." + std::to_string(i));
  EXPECT_EQ(texts(lookUp("large.test")).size(), 70u);
  EXPECT_EQ(server_.askedByTcp(), 0);
}

TEST_F(ResolverServers, GiveALongerAnswerByTcp) {
  settings_.maxAddresses = 100;
  for (int i = 1; i <= 80; ++i) server_["large.test"].addresses.push_back("192.0.2." + std::to_string(i));
  EXPECT_EQ(texts(lookUp("large.test")).size(), 80u);
  EXPECT_EQ(server_.askedByTcp(), 1);
}

TEST_F(ResolverServers, MayRefuseEdns) {
  settings_.attempts = 1;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .refusesEdns = true};
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverServers, AreAskedWithoutEdnsAtLast) {
  settings_.attempts = 2;
  settings_.timeout = 2s;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .silentToEdns = true};
  ask("backend.test");
  settle();
  pass(2100ms);
  ASSERT_TRUE(answered(1));
  EXPECT_EQ(seen_["backend.test"], Texts{"192.0.2.1:0"});
}

// --- ports, and questions at a time

std::string numbered(int i) { return "n" + std::to_string(i) + ".test"; }

TEST_F(ResolverServers, AreAskedEachQuestionFromAPortOfItsOwn) {
  settings_.ipv6 = true;
  for (int i = 0; i < 50; ++i) {
    server_[numbered(i)] = {.addresses = {"192.0.2.1"}, .held = true};
    ask(numbered(i));
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return server_.held() == 100; }));
  EXPECT_EQ(server_.ports(), 100u);
  server_.release();
  ASSERT_TRUE(answered(50));
}

TEST_F(ResolverServers, AreAskedABoundedNumberOfNamesAtATime) {
  parts_.maxLookups = 4;
  for (int i = 0; i < 10; ++i) {
    server_[numbered(i)] = {.addresses = {"192.0.2.1"}, .held = true};
    ask(numbered(i));
  }
  for (const std::size_t expected : {4u, 4u, 2u}) {
    // The first questions were all sent before the server looks, so it would find more at once.
    ASSERT_TRUE(test::runUntil(worker_, [&] { return server_.held() == expected; }));
    const std::size_t before = done_;
    server_.release();
    ASSERT_TRUE(answered(before + expected));
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(seen_[numbered(i)], Texts{"192.0.2.1:0"});
}

TEST_F(ResolverServers, AreNotWaitedForByANameWhoseTurnDoesNotCome) {
  settings_.timeout = 2s;
  settings_.attempts = 3;
  parts_.maxLookups = 1;
  server_["silent.test"] = {.reply = DnsReply::kSilence};
  server_["backend.test"] = {.addresses = {"192.0.2.1"}};
  ask("silent.test");
  ask("backend.test");
  for (int i = 0; i < 2; ++i) pass(2100ms);
  EXPECT_EQ(done_, 0u);
  pass(2100ms);
  ASSERT_TRUE(answered(2));
  EXPECT_EQ(seen_["backend.test"], Texts{"backend.test: too many names are being asked for"});
  EXPECT_EQ(resolver_->cached("backend.test")->error().type, base::ErrorType::kDnsTimeout);
  EXPECT_EQ(server_.asked("backend.test"), 0);
}

TEST_F(ResolverServers, MayBeUnreachableForManyNamesAtOnce) {
  parts_.maxLookups = 2;
  settings_.servers = {"255.255.255.255"};  // a socket that may not broadcast cannot connect there
  for (int i = 0; i < 100; ++i) ask(numbered(i));
  ASSERT_TRUE(answered(100));
  EXPECT_EQ(seen_[numbered(99)], Texts{numbered(99) + ": no name server has an answer"});
}

}  // namespace
}  // namespace sluice::net
