#include "proxy/net/dns/resolver.h"

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

class ResolverTest : public test::ResolverFixture<test::ManualClock> {
 protected:
  void pass(base::Duration time) {
    clock_.advance(time);
    turn();
  }
};
class ResolverTimeTest : public test::ResolverFixture<base::SystemClock> {};

TEST_F(ResolverTest, AsksOnceAndCachesTheAnswer) {
  server_["backend.test"] = {.addresses = {"192.0.2.1", "192.0.2.2"}};
  start();
  EXPECT_EQ(resolver_->cached("backend.test"), nullptr);
  EXPECT_EQ(texts(lookUp("backend.test")), (Texts{"192.0.2.1:0", "192.0.2.2:0"}));
  EXPECT_EQ(texts(lookUp("backend.test")), (Texts{"192.0.2.1:0", "192.0.2.2:0"}));
  EXPECT_EQ(server_.asked("backend.test"), 1);
}

TEST_F(ResolverTest, TreatsAnyCaseAndTheRootsDotAsTheSameName) {
  server_["backend.test"] = {.addresses = {"192.0.2.1"}};
  EXPECT_EQ(texts(lookUp("BackEnd.TEST.")), Texts{"192.0.2.1:0"});
  EXPECT_EQ(texts(resolver_->cached("backend.test")), Texts{"192.0.2.1:0"});
  EXPECT_EQ(server_.asked("backend.test"), 1);
}

TEST_F(ResolverTest, ForgetsWhenTheTtlHasPassed) {
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .ttl = 30};
  lookUp("backend.test");
  pass(30s);
  EXPECT_NE(resolver_->cached("backend.test"), nullptr);
  pass(1ns);
  EXPECT_EQ(resolver_->cached("backend.test"), nullptr);
  server_["backend.test"] = {.addresses = {"192.0.2.9"}};
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"192.0.2.9:0"});
}

TEST_F(ResolverTest, KeepsAnAnswerAtLeastTheMinimumAndAtMostTheMaximum) {
  settings_.minTtl = 5s;
  settings_.maxTtl = 10s;
  server_["short.test"] = {.addresses = {"192.0.2.1"}, .ttl = 0};
  server_["long.test"] = {.addresses = {"192.0.2.1"}, .ttl = 86400};
  lookUp("short.test");
  lookUp("long.test");
  pass(5s);
  EXPECT_NE(resolver_->cached("short.test"), nullptr);
  pass(1ms);
  EXPECT_EQ(resolver_->cached("short.test"), nullptr);
  pass(5s - 1ms);
  EXPECT_NE(resolver_->cached("long.test"), nullptr);
  pass(1ms);
  EXPECT_EQ(resolver_->cached("long.test"), nullptr);
}

TEST_F(ResolverTest, UsesAnAnswerThatMayNotBeCachedInItsOwnTurn) {
  settings_.minTtl = 0s;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .ttl = 0};
  start();
  Texts seen;
  bool done = false;
  {
    const Worker::Turn one(worker_);
    resolver_->resolve("backend.test", [&] {
      seen = texts(resolver_->cached("backend.test"));
      done = true;
    });
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return done; }));
  EXPECT_EQ(seen, Texts{"192.0.2.1:0"});
  pass(1ns);
  EXPECT_EQ(resolver_->cached("backend.test"), nullptr);
}

TEST_F(ResolverTest, FollowsAnAliasAndKeepsTheShorterTtl) {
  server_["www.test"] = {.addresses = {"192.0.2.1"}, .ttl = 100, .alias = "real.test", .aliasTtl = 10};
  EXPECT_EQ(texts(lookUp("www.test")), Texts{"192.0.2.1:0"});
  pass(11s);
  EXPECT_EQ(resolver_->cached("www.test"), nullptr);
}

TEST_F(ResolverTest, CachesThatANameDoesNotExist) {
  settings_.negativeTtl = 5s;
  server_["gone.test"] = {.reply = DnsReply::kNoSuchName};
  const auto* result = lookUp("gone.test");
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->error().type, base::ErrorType::kDnsError);
  EXPECT_EQ(result->error().origin, base::ErrorOrigin::kUpstream);
  EXPECT_EQ(result->error().status, 503);
  EXPECT_EQ(result->error().detail, "gone.test: Domain name not found");
  pass(5s);
  EXPECT_NE(resolver_->cached("gone.test"), nullptr);
  pass(1ms);
  EXPECT_EQ(resolver_->cached("gone.test"), nullptr);
  // One question means that no search domain was tried.
  EXPECT_EQ(server_.asked("gone.test"), 1);
}

TEST_F(ResolverTest, AsksNobodyForTheNamesOfThisMachine) {
  server_["notlocalhost"] = {.addresses = {"192.0.2.1"}};
  for (const char* name : {"localhost", "LocalHost.", "a.localhost", "b.a.localhost"}) {
    EXPECT_EQ(texts(lookUp(name)), (Texts{"127.0.0.1:0", "[::1]:0"})) << name;
    EXPECT_EQ(server_.asked(name), 0) << name;
  }
  EXPECT_EQ(texts(lookUp("notlocalhost")), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverTest, PrefersHostsToTheUsualAddressesOfThisMachine) {
  settings_.hosts["localhost"] = {"127.0.0.9"};
  EXPECT_EQ(texts(lookUp("localhost")), Texts{"127.0.0.9:0"});
}

TEST_F(ResolverTest, FailsWithADnsErrorIfTheServerFails) {
  server_["broken.test"] = {.reply = DnsReply::kServerFailure};
  const auto* result = lookUp("broken.test");
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->error().type, base::ErrorType::kDnsError);
  EXPECT_EQ(result->error().detail, "broken.test: no name server has an answer");
}

TEST_F(ResolverTest, FailsWithADnsErrorForANameWithoutAddresses) {
  server_["empty.test"] = {};
  const auto* result = lookUp("empty.test");
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->error().type, base::ErrorType::kDnsError);
}

TEST_F(ResolverTest, FailsWithADnsErrorForAReplyThatBreaksOff) {
  server_["cut.test"] = {.reply = DnsReply::kCutOff};
  const auto* result = lookUp("cut.test");
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->error().type, base::ErrorType::kDnsError);
}

TEST_F(ResolverTest, KeepsNoMoreAddressesThanTheBound) {
  settings_.maxAddresses = 4;
  for (int i = 1; i <= 4; ++i) server_["four.test"].addresses.push_back("192.0.2." + std::to_string(i));
  for (int i = 1; i <= 25; ++i) server_["many.test"].addresses.push_back("192.0.2." + std::to_string(i));
  EXPECT_EQ(texts(lookUp("four.test")).size(), 4u);
  EXPECT_EQ(texts(lookUp("many.test")).size(), 4u);
}

TEST_F(ResolverTest, AsksAgainByTcpForATruncatedAnswer) {
  settings_.maxAddresses = 200;
  server_["large.test"].truncated = true;
  for (int i = 1; i <= 100; ++i) server_["large.test"].addresses.push_back("192.0.2." + std::to_string(i));
  EXPECT_EQ(texts(lookUp("large.test")).size(), 100u);
  EXPECT_EQ(server_.askedByTcp(), 1);
}

TEST_F(ResolverTest, AsksForIpv6OnlyIfItIsEnabled) {
  server_["dual.test"] = {.addresses = {"192.0.2.1", "2001:db8::1"}};
  EXPECT_EQ(texts(lookUp("dual.test")), Texts{"192.0.2.1:0"});
  EXPECT_EQ(server_.asked("dual.test"), 1);
  settings_.ipv6 = true;
  start();
  Texts both = texts(lookUp("dual.test"));
  std::sort(both.begin(), both.end());
  EXPECT_EQ(both, (Texts{"192.0.2.1:0", "[2001:db8::1]:0"}));
  EXPECT_EQ(server_.asked("dual.test"), 3);
}

TEST_F(ResolverTest, SharesOneQuestionBetweenCallersOfOneName) {
  server_["backend.test"] = {.addresses = {"192.0.2.1"}};
  start();
  int done = 0;
  {
    const Worker::Turn one(worker_);
    for (int i = 0; i < 100; ++i) resolver_->resolve(i % 2 == 0 ? "backend.test" : "BACKEND.test", [&] { ++done; });
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return done == 100; }));
  EXPECT_EQ(server_.asked("backend.test"), 1);
}

TEST_F(ResolverTest, AllowsACallbackToAskAgain) {
  server_["one.test"] = {.addresses = {"192.0.2.1"}};
  server_["two.test"] = {.addresses = {"192.0.2.2"}};
  start();
  bool done = false;
  {
    const Worker::Turn one(worker_);
    resolver_->resolve("one.test", [&] {
      resolver_->resolve("one.test", [&] { resolver_->resolve("two.test", [&] { done = true; }); });
    });
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return done; }));
  EXPECT_EQ(texts(resolver_->cached("two.test")), Texts{"192.0.2.2:0"});
}

TEST_F(ResolverTest, NeverAsksForAHostOfTheSettings) {
  settings_.hosts["static.test"] = {"192.0.2.7", "2001:db8::7"};
  start();
  EXPECT_EQ(texts(resolver_->cached("Static.test")), (Texts{"192.0.2.7:0", "[2001:db8::7]:0"}));
  EXPECT_EQ(texts(lookUp("static.test")), (Texts{"192.0.2.7:0", "[2001:db8::7]:0"}));
  pass(1000h);
  EXPECT_NE(resolver_->cached("static.test"), nullptr);
  EXPECT_EQ(server_.asked("static.test"), 0);
}

TEST_F(ResolverTest, AsksNothingForAnAddress) {
  start();
  const auto* v4 = resolver_->cached("192.0.2.1");
  const auto* v6 = resolver_->cached("2001:db8::1");
  EXPECT_EQ(texts(v4), Texts{"192.0.2.1:0"});
  EXPECT_EQ(texts(v6), Texts{"[2001:db8::1]:0"});
  EXPECT_EQ(texts(lookUp("192.0.2.1")), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverTest, FailsWithoutAQuestionAndWithoutQuotingForAnInvalidHostName) {
  start();
  for (const std::string& name : {std::string(), std::string("."), std::string("a b.test"), std::string("a\n.test"),
                                  std::string("a\0b", 3), std::string(254, 'a'), std::string("\xc3\xa4.test")}) {
    const auto* result = resolver_->cached(name);
    ASSERT_NE(result, nullptr);
    ASSERT_FALSE(result->ok());
    EXPECT_EQ(result->error().type, base::ErrorType::kDnsError);
    EXPECT_EQ(result->error().detail, "not a host name");
  }
  EXPECT_FALSE(lookUp("a b.test")->ok());
}

TEST_F(ResolverTest, AsksForANameOfTheGreatestLength) {
  const std::string label(63, 'a');
  const std::string name = label + "." + label + "." + label + "." + std::string(61, 'b');
  ASSERT_EQ(name.size(), 253u);
  server_[name] = {.addresses = {"192.0.2.1"}};
  EXPECT_EQ(texts(lookUp(name)), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverTest, FailsWithADnsErrorForALabelThatIsTooLong) {
  EXPECT_FALSE(lookUp(std::string(64, 'a') + ".test")->ok());
}

TEST_F(ResolverTest, CachesABoundedNumberOfNames) {
  settings_.negativeTtl = 1h;
  parts_.maxNames = 8;
  for (int i = 0; i <= 8; ++i) {
    const std::string name = "n" + std::to_string(i) + ".test";
    server_[name] = {.reply = DnsReply::kNoSuchName};
    lookUp(name);
    if (i == 7) {
      EXPECT_NE(resolver_->cached("n0.test"), nullptr);
    }
  }
  EXPECT_EQ(resolver_->cached("n0.test"), nullptr);
  EXPECT_NE(resolver_->cached("n1.test"), nullptr);
  EXPECT_NE(resolver_->cached("n8.test"), nullptr);
}

TEST_F(ResolverTest, AsksForABoundedNumberOfNamesAtATime) {
  parts_.maxNames = 2;
  for (const char* name : {"a.test", "b.test", "c.test"}) server_[name] = {.addresses = {"192.0.2.1"}};
  start();
  Texts seen;
  int done = 0;
  {
    const Worker::Turn one(worker_);
    resolver_->resolve("a.test", [&] { ++done; });
    resolver_->resolve("b.test", [&] { ++done; });
    resolver_->resolve("c.test", [&] {
      seen = texts(resolver_->cached("c.test"));
      ++done;
    });
    resolver_->resolve("a.test", [&] { ++done; });
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return done == 4; }));
  EXPECT_EQ(seen, Texts{"too many names are being asked for"});
  EXPECT_EQ(server_.asked("c.test"), 0);
}

TEST_F(ResolverTest, KeepsTheNamesOfClientsApart) {
  parts_.maxNames = 8;
  settings_.negativeTtl = 1h;
  const base::DnsTerms ofClients{.seriesName = "demo/any"};
  server_["own.test"] = {.reply = DnsReply::kNoSuchName};
  lookUp("own.test");
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i) + ".test";
    server_[name] = {.reply = DnsReply::kNoSuchName};
    bool done = false;
    {
      const Worker::Turn one(worker_);
      resolver_->resolve(name, ofClients, [&] { done = true; });
    }
    ASSERT_TRUE(test::runUntil(worker_, [&] { return done; }));
  }
  EXPECT_NE(resolver_->cached("own.test"), nullptr) << "it keeps its place";
  EXPECT_EQ(resolver_->cached("n15.test", ofClients), nullptr);
  EXPECT_NE(resolver_->cached("n16.test", ofClients), nullptr) << "half as many";
  EXPECT_NE(resolver_->cached("n19.test", ofClients), nullptr);
}

TEST_F(ResolverTest, AsksForNamesOfTheConfigurationWhateverClientsAskFor) {
  parts_.maxNames = 8;
  parts_.maxLookups = 4;
  const base::DnsTerms ofClients{.seriesName = "demo/any"};
  server_["own.test"] = {.addresses = {"192.0.2.1"}};
  start();
  int refused = 0;
  {
    const Worker::Turn one(worker_);
    for (int i = 0; i < 8; ++i) {
      const std::string name = "silent" + std::to_string(i) + ".test";
      server_[name] = {.reply = DnsReply::kSilence};
      resolver_->resolve(name, ofClients, [&] { ++refused; });
    }
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return refused == 4; })) << "half of the names, and half of the lookups";
  EXPECT_EQ(texts(lookUp("own.test")), Texts{"192.0.2.1:0"});
  int asked = 0;
  for (int i = 0; i < 8; ++i) asked += server_.asked("silent" + std::to_string(i) + ".test");
  EXPECT_EQ(asked, 2);
}

TEST_F(ResolverTest, CallsNoCallbackAfterDestruction) {
  server_["silent.test"] = {.reply = DnsReply::kSilence};
  start();
  bool told = false;
  {
    const Worker::Turn one(worker_);
    resolver_->resolve("silent.test", [&] { told = true; });
    resolver_->resolve("192.0.2.1", [&] { told = true; });
  }
  ASSERT_TRUE(test::runUntil(worker_, [&] { return server_.asked("silent.test") > 0; }));
  resolver_.reset();
  EXPECT_TRUE(worker_.timers().empty());
}

TEST_F(ResolverTest, OutlivesTheLoop) {
  server_["silent.test"] = {.reply = DnsReply::kSilence};
  start();
  worker_.post([&] {
    resolver_->resolve("silent.test", [] {});
    worker_.stop();
  });
  worker_.run();
  resolver_.reset();
}

TEST_F(ResolverTest, RefusesServersAndHostsThatAreNoAddresses) {
  const auto refusal = [this](auto&& change) {
    base::DnsSettings settings;
    change(settings);
    const auto made = makeResolver(worker_, settings);
    return made.ok() ? std::string("accepted") : made.error().detail;
  };
  for (const char* server :
       {"localhost", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:5x", "[1.2.3.4]:53", "[::1]", ""}) {
    EXPECT_EQ(refusal([&](base::DnsSettings& s) { s.servers = {server}; }),
              "dns.servers: '" + std::string(server) + "' is neither an address nor address:port");
  }
  for (const char* server : {"1.2.3.4", "1.2.3.4:5353", "::1", "[::1]:53"}) {
    EXPECT_EQ(refusal([&](base::DnsSettings& s) { s.servers = {server}; }), "accepted");
  }
  EXPECT_EQ(refusal([](base::DnsSettings& s) { s.hosts["a.test"] = {"1.2.3"}; }),
            "dns.hosts: 'a.test': '1.2.3' is not an address");
  EXPECT_EQ(refusal([](base::DnsSettings& s) { s.hosts["a.test"] = {}; }), "dns.hosts: 'a.test' has no address");
  EXPECT_EQ(refusal([](base::DnsSettings& s) { s.hosts["a b"] = {"1.2.3.4"}; }), "dns.hosts: 'a b' is not a host name");
}

TEST_F(ResolverTimeTest, TimesOutAfterAllAttemptsAtASilentServer) {
  settings_.timeout = 30ms;
  settings_.attempts = 3;
  server_["silent.test"] = {.reply = DnsReply::kSilence};
  const auto start = clock_.now();
  const auto* result = lookUp("silent.test");
  const auto took = clock_.now() - start;
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->error().type, base::ErrorType::kDnsTimeout);
  EXPECT_EQ(result->error().status, 504);
  EXPECT_EQ(result->error().detail, "silent.test: Timeout while contacting DNS servers");
  EXPECT_EQ(server_.asked("silent.test"), 3);
  EXPECT_GE(took, 90ms);
}

TEST_F(ResolverTimeTest, AsksALostQuestionAgain) {
  settings_.timeout = 30ms;
  settings_.attempts = 8;
  server_["lossy.test"] = {.addresses = {"192.0.2.1"}, .silences = 2};
  EXPECT_EQ(texts(lookUp("lossy.test")), Texts{"192.0.2.1:0"});
  EXPECT_GE(server_.asked("lossy.test"), 3) << "more if the machine does not come to the answer in time";
}

TEST_F(ResolverTimeTest, IgnoresAnAnswerToAnotherQuestion) {
  settings_.timeout = 30ms;
  settings_.attempts = 1;
  server_["backend.test"] = {.reply = DnsReply::kOtherQuestion, .addresses = {"192.0.2.66"}};
  const auto* result = lookUp("backend.test");
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->error().type, base::ErrorType::kDnsTimeout);
}

TEST_F(ResolverTimeTest, AsksTheNextServerWhenOneIsSilent) {
  settings_.timeout = 30ms;
  settings_.attempts = 8;
  test::LoopNameServer second(worker_);
  settings_.servers.push_back(second.server());
  server_["backend.test"] = {.reply = DnsReply::kSilence};
  second["backend.test"] = {.addresses = {"192.0.2.1"}};
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverTimeTest, FailsWithADnsErrorIfThereIsNoServer) {
  {
    const ListenSocket nobody = test::listenOnLoopback();
    settings_.servers = {nobody.address().toString()};
  }
  const auto* result = lookUp("backend.test");
  ASSERT_FALSE(result->ok());
  EXPECT_EQ(result->error().type, base::ErrorType::kDnsError);
}

}  // namespace
}  // namespace sluice::net
