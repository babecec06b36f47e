// Tests that a policy may change the address families and the timeout of a lookup.
#include <gtest/gtest.h>

#include "test/net/resolver_fixture.h"
#include "test/support/manual_clock.h"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using base::DnsTerms;
using base::LookupFamily;

class ResolverTerms : public ResolverFixture<ManualClock> {
 protected:
  Texts lookUpOn(const DnsTerms& terms, std::string_view name = "backend.test") {
    if (!resolver_) start();
    bool done = false;
    {
      const net::Worker::Turn turn(worker_);
      resolver_->resolve(name, terms, [&] { done = true; });
    }
    EXPECT_TRUE(runUntil(worker_, [&] { return done; }));
    return texts(resolver_->cached(name, terms));
  }
  void pass(base::Duration by) {
    clock_.advance(by);
    turn();
  }
  bool knows(const DnsTerms& terms) { return resolver_->cached("backend.test", terms) != nullptr; }
};

TEST_F(ResolverTerms, SayWhichAddressesAreLookedUp) {
  settings_.hosts["static.test"] = {"192.0.2.1", "2001:db8::1"};
  server_["backend.test"] = {.addresses = {"192.0.2.1", "2001:db8::1"}};
  server_["four.test"] = {.addresses = {"192.0.2.1"}};
  const Texts v4 = {"192.0.2.1:0"};
  const Texts v6 = {"[2001:db8::1]:0"};
  const Texts both = {"192.0.2.1:0", "[2001:db8::1]:0"};
  for (const char* name : {"backend.test", "static.test"}) {
    EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv4}, name), v4) << name;
    EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv6}, name), v6) << name;
    EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv4Preferred}, name), v4) << name;
    EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv6Preferred}, name), v6) << name;
    EXPECT_EQ(lookUpOn({.family = LookupFamily::kBoth}, name), both) << name;
  }
  EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv6Preferred}, "four.test"), v4);
  EXPECT_FALSE(resolver_->cached("four.test", {.family = LookupFamily::kIpv6}));
  lookUpOn({.family = LookupFamily::kIpv6}, "four.test");
  EXPECT_FALSE(resolver_->cached("four.test", {.family = LookupFamily::kIpv6})->ok());
}

TEST_F(ResolverTerms, AreNamedIfTheyLeaveNoAddress) {
  server_["four.test"] = {.addresses = {"192.0.2.1"}};
  server_["six.test"] = {.addresses = {"2001:db8::1"}};
  EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv6}, "four.test"),
            Texts{"four.test: the name has only IPv4 addresses, and its lookupFamily is IPv6"});
  EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv4}, "six.test"),
            Texts{"six.test: the name has only IPv6 addresses, and its lookupFamily is IPv4"});
}

TEST_F(ResolverTerms, PreferAFamilyThatWouldNotFit) {
  settings_.maxAddresses = 2;
  server_["backend.test"] = {.addresses = {"192.0.2.1", "192.0.2.2", "2001:db8::1"}};
  EXPECT_EQ(lookUpOn({.family = LookupFamily::kIpv6Preferred}), Texts{"[2001:db8::1]:0"});
}

TEST_F(ResolverTerms, AreKeptApart) {
  server_["backend.test"] = {.addresses = {"192.0.2.1", "2001:db8::1"}};
  lookUpOn({.family = LookupFamily::kIpv6});
  EXPECT_FALSE(knows({}));
  EXPECT_FALSE(knows({.family = LookupFamily::kIpv4}));
  EXPECT_EQ(texts(lookUp("backend.test")), Texts{"192.0.2.1:0"});
}

TEST_F(ResolverTerms, MayKeepAddressesForAnotherTimeThanTheirTtl) {
  settings_.minTtl = 1s;
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .ttl = 200};
  const DnsTerms shorter{.respectTtl = false, .refreshRate = 10s};
  const DnsTerms usual{.respectTtl = false};
  const DnsTerms obeying{.refreshRate = 10s};
  for (const DnsTerms& each : {shorter, usual, obeying}) lookUpOn(each);
  pass(10s);
  EXPECT_TRUE(knows(shorter));
  pass(1ms);
  EXPECT_FALSE(knows(shorter));
  pass(20s);
  EXPECT_FALSE(knows(usual));
  EXPECT_TRUE(knows(obeying));
}

TEST_F(ResolverTerms, MayKeepAddressesThatHaveNoTtl) {
  server_["backend.test"] = {.addresses = {"192.0.2.1"}, .ttl = 0};
  const DnsTerms kept{.refreshRate = 10s};
  lookUpOn(kept);
  pass(10s);
  EXPECT_TRUE(knows(kept));
  pass(1ms);
  EXPECT_FALSE(knows(kept));
}

TEST_F(ResolverTerms, AreThoseOfARefresh) {
  server_["backend.test"] = {.addresses = {"192.0.2.1", "2001:db8::1"}, .ttl = 200};
  const DnsTerms terms{.family = LookupFamily::kIpv6, .respectTtl = false, .refreshRate = 10s};
  lookUpOn(terms);
  server_["backend.test"] = {.addresses = {"192.0.2.2", "2001:db8::2"}, .ttl = 200};
  pass(1s);
  ASSERT_TRUE(knows(terms)) << "it is in use";
  pass(8s);
  EXPECT_TRUE(
      runUntil(worker_, [&] { return texts(resolver_->cached("backend.test", terms)) == Texts{"[2001:db8::2]:0"}; }));
}

TEST_F(ResolverTerms, GoWithWhatOtherWorkersLearn) {
  const DnsTerms terms{.family = LookupFamily::kIpv6};
  std::vector<net::DnsAnswer> shared;
  parts_.share = [&](const net::DnsAnswer& answer) { shared.push_back(answer); };
  server_["backend.test"] = {.addresses = {"192.0.2.1", "2001:db8::1"}};
  lookUpOn(terms);
  ASSERT_EQ(shared.size(), 1u);
  const auto other = net::makeResolver(worker_, settings_).value();
  const net::Worker::Turn turn(worker_);
  other->learn(shared[0]);
  EXPECT_EQ(texts(other->cached("backend.test", terms)), Texts{"[2001:db8::1]:0"});
  EXPECT_EQ(other->cached("backend.test"), nullptr);
}

}  // namespace
}  // namespace sluice::test
