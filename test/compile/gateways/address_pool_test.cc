#include "proxy/compile/gateways/address_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace sluice::compile {
namespace {

using testing::HasSubstr;

AddressPool poolOf(const char* text) { return AddressPool::parse(text).value(); }

std::string refusalOf(const char* text) {
  const auto pool = AddressPool::parse(text);
  return pool ? "" : pool.error().detail;
}

TEST(AddressPool, GivesAllAddressesButThoseThatMeanTheNetwork) {
  struct {
    const char* text;
    std::uint64_t size;
    const char* first;
    const char* last;
  } const kCases[] = {
      {"10.1.2.0/24", 254, "10.1.2.1", "10.1.2.254"},
      {"10.0.0.0/8", 16'777'214, "10.0.0.1", "10.255.255.254"},
      {"10.1.2.4/30", 2, "10.1.2.5", "10.1.2.6"},
      {"10.1.2.4/31", 2, "10.1.2.4", "10.1.2.5"},
      {"10.1.2.4/32", 1, "10.1.2.4", "10.1.2.4"},
      {"127.8.0.0/24", 256, "127.8.0.0", "127.8.0.255"},
      {"127.0.0.0/8", 16'777'214, "127.0.0.1", "127.255.255.254"},
      {"127.0.0.0/24", 255, "127.0.0.1", "127.0.0.255"},
      {"127.255.255.0/24", 255, "127.255.255.0", "127.255.255.254"},
      {"fd00:8::/64", ~std::uint64_t{0}, "fd00:8::1", "fd00:8::ffff:ffff:ffff:ffff"},
      {"fd00:8::10/124", 15, "fd00:8::11", "fd00:8::1f"},
      {"fd00:8::10/127", 2, "fd00:8::10", "fd00:8::11"},
      {"::1/128", 1, "::1", "::1"},
  };
  for (const auto& each : kCases) {
    const AddressPool pool = poolOf(each.text);
    EXPECT_EQ(pool.text(), each.text);
    EXPECT_EQ(pool.size(), each.size) << each.text;
    EXPECT_EQ(pool.at(0), each.first);
    EXPECT_EQ(pool.at(pool.size() - 1), each.last);
  }
}

TEST(AddressPool, KnowsWhatItGives) {
  const AddressPool v4 = poolOf("10.1.2.0/29");
  for (std::uint64_t i = 0; i < v4.size(); ++i) EXPECT_TRUE(v4.gives(v4.at(i))) << v4.at(i);
  for (const char* other : {"10.1.2.0", "10.1.2.7", "10.1.1.255", "10.1.2.9", "::1", "", "a"}) {
    EXPECT_FALSE(v4.gives(other)) << other;
  }
  const AddressPool v6 = poolOf("fd00:8::/64");
  for (const char* own : {"fd00:8::1", "fd00:8::ffff:0:0:0"}) EXPECT_TRUE(v6.gives(own)) << own;
  for (const char* other : {"fd00:8::", "fd00:8:0:1::1", "fd00:7::1", "10.1.2.1"}) EXPECT_FALSE(v6.gives(other));
}

TEST(AddressPool, IsWrittenInCanonicalForm) { EXPECT_EQ(poolOf("FD00:0008:0::/064").text(), "fd00:8::/64"); }

TEST(AddressPool, RefusesWhatNoGatewayCouldUse) {
  for (const char* text : {"", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0/16", "fd00::/129", "pool", "10.0.0.0/a"}) {
    EXPECT_THAT(refusalOf(text), HasSubstr("is not a CIDR")) << text;
  }
  EXPECT_EQ(refusalOf("127.8.0.5/24"), "\"127.8.0.5/24\" has bits after its prefix; did you mean 127.8.0.0/24?");
  EXPECT_THAT(refusalOf("fd00:8::5/64"), HasSubstr("did you mean fd00:8::/64?"));
  EXPECT_THAT(refusalOf("10.0.0.0/7"), HasSubstr("has too many addresses; a pool of this family is a /8"));
  EXPECT_THAT(refusalOf("fd00::/63"), HasSubstr("is a /64 or a part of one"));
  EXPECT_THAT(refusalOf("224.0.0.0/24"), HasSubstr("a multicast address takes no connections"));
  EXPECT_THAT(refusalOf("255.255.255.255/32"), HasSubstr("broadcast"));
  EXPECT_THAT(refusalOf("0.0.0.0/8"), HasSubstr("no address of a machine"));
  EXPECT_THAT(refusalOf("::/128"), HasSubstr("no address of a machine"));
  EXPECT_THAT(refusalOf("fe80::/64"), HasSubstr("link"));
  EXPECT_THAT(refusalOf("::ffff:10.0.0.0/120"), HasSubstr("an IPv4 address is written as such"));
}

PoolMember member(const std::string& name, const std::string& created = {}) { return {name, created, {}, true}; }

/// Returns the addresses that the next assignment gets as `before`.
GatewayAddresses addressesOf(const std::vector<PoolMember>& members, const PoolAssignment& assignment) {
  GatewayAddresses all(assignment.addresses.begin(), assignment.addresses.end());
  for (const PoolMember& each : members) {
    for (const std::string& address : each.addresses) {
      if (!assignment.holders.contains(address)) all.emplace(each.gateway, address);
    }
  }
  return all;
}

TEST(PoolAssignment, LeavesLaterGatewaysWithoutAnAddressWhenThePoolIsExhausted) {
  const AddressPool pool = poolOf("10.1.2.0/30");
  const auto made = assignFromPool(pool, {member("c", "2026"), member("a", "2025"), member("b", "2024")}, {});
  EXPECT_EQ(made.addresses.size(), 2U);
  EXPECT_FALSE(made.addresses.contains("c")) << "the newest";
  const auto next = assignFromPool(pool, {member("c", "2026"), member("b", "2024")}, addressesOf({}, made));
  EXPECT_EQ(next.addresses.at("b"), made.addresses.at("b"));
  EXPECT_EQ(next.addresses.at("c"), made.addresses.at("a")) << "it was freed";
}

TEST(PoolAssignment, KeepsAnAddressFromAnOlderGatewayThatComesLater) {
  const AddressPool pool = poolOf("10.1.2.4/32");
  const auto first = assignFromPool(pool, {member("b", "2025")}, {});
  const auto then = assignFromPool(pool, {member("a", "2024"), member("b", "2025")}, addressesOf({}, first));
  EXPECT_EQ(then.addresses.at("b"), "10.1.2.4");
  EXPECT_FALSE(then.addresses.contains("a"));
}

TEST(PoolAssignment, GivesNobodyAnAddressThatAnotherGatewayAsksFor) {
  const AddressPool pool = poolOf("10.1.2.4/31");
  const PoolMember fixed{"fixed", "2024", {"10.1.2.4"}, false};
  const auto made = assignFromPool(pool, {member("a", "2025"), member("b", "2026"), fixed}, {});
  EXPECT_EQ(made.addresses.at("a"), "10.1.2.5");
  EXPECT_FALSE(made.addresses.contains("b"));
  EXPECT_FALSE(made.holders.contains("10.1.2.4"));
}

TEST(PoolAssignment, TakesNoAddressFromTheGatewayThatHasItForOneThatAsksForIt) {
  const AddressPool pool = poolOf("10.1.2.4/32");
  const PoolMember late{"late", "2026", {"10.1.2.4"}, false};
  EXPECT_EQ(assignFromPool(pool, {late, member("a", "2025")}, {}).holders.at("10.1.2.4"), "a");
  const PoolMember old{"old", "2024", {"10.1.2.4"}, false};
  EXPECT_EQ(assignFromPool(pool, {old, member("a", "2025")}, {{"a", "10.1.2.4"}}).holders.at("10.1.2.4"), "a");
  EXPECT_TRUE(assignFromPool(pool, {old, member("a", "2025")}, {}).holders.empty());
  EXPECT_TRUE(assignFromPool(pool, {late, member("a", "2025")}, {{"late", "10.1.2.4"}}).holders.empty())
      << "the one that asks for it has had it";
}

TEST(PoolAssignment, LetsAGatewayKeepTheAddressThatItAskedForBefore) {
  const AddressPool pool = poolOf("10.1.0.0/16");
  EXPECT_EQ(assignFromPool(pool, {member("a")}, {{"a", "10.1.77.7"}}).addresses.at("a"), "10.1.77.7");
  const PoolMember pinned{"a", "2026", {"10.1.77.7"}, false};
  EXPECT_TRUE(assignFromPool(pool, {pinned, member("b")}, {{"a", "10.1.77.7"}}).addresses.contains("b"));
  EXPECT_FALSE(assignFromPool(pool, {pinned, member("b")}, {{"a", "10.1.77.7"}}).holders.contains("10.1.77.7"))
      << "or ask for the one that it has";
  EXPECT_NE(assignFromPool(pool, {member("a")}, {{"a", "10.2.0.1"}}).addresses.at("a"), "10.2.0.1") << "not of it";
}

/// Simulates Gateways that are added, removed and changed.
class PoolCourse {
 public:
  PoolCourse(const AddressPool& pool, std::uint64_t seed) : pool_(pool), random_(seed) {}

  void step() {
    if (members_.size() > 20 || (random_() % 3 == 0 && !members_.empty())) {
      members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(random_() % members_.size()));
    } else {
      const std::uint64_t number = ++named_;
      PoolMember next = member("Gateway ns/" + std::to_string(number), random_() % 4 == 0 ? "" : age(number));
      if (random_() % 5 == 0) next.addresses.push_back(pool_.at(random_() % pool_.size()));
      next.wantsOne = next.addresses.empty() || random_() % 4 == 0;
      members_.push_back(std::move(next));
    }
    std::shuffle(members_.begin(), members_.end(), random_);
    const GatewayAddresses before = addresses_;
    assignment_ = assignFromPool(pool_, members_, before);
    addresses_ = addressesOf(members_, assignment_);
    check(before);
    remembering();
  }

  std::size_t assigned() const { return assigned_; }
  std::size_t moved() const { return moved_; }  // how many addresses have changed by restarts without `before`

 private:
  static std::string age(std::uint64_t number) { return "20" + std::to_string(10 + number % 50); }

  void check(const GatewayAddresses& before) {
    EXPECT_EQ(assignment_.addresses.size(), assignment_.holders.size()) << "two have the same address";
    for (const auto& [gateway, address] : assignment_.addresses) {
      EXPECT_EQ(assignment_.holders.at(address), gateway);
      EXPECT_TRUE(pool_.gives(address));
    }
    for (const PoolMember& each : members_) {
      const bool has = assignment_.addresses.contains(each.gateway);
      const auto had = previous_.addresses.find(each.gateway);
      if (each.wantsOne && had != previous_.addresses.end()) {
        EXPECT_EQ(assignment_.addresses.at(each.gateway), had->second) << "an address has moved";
      }
      for (const std::string& address : each.addresses) {
        const bool hadIt = before.contains({each.gateway, address});
        EXPECT_FALSE(hadIt && assignment_.holders.contains(address)) << "an address was taken away";
      }
      const bool exhausted = assignment_.holders.size() >= pool_.size() - fixed();
      EXPECT_TRUE(each.wantsOne ? has || exhausted : !has);
    }
    previous_ = assignment_;
  }

  /// Returns how many addresses of the pool belong to Gateways that ask for them.
  std::size_t fixed() const {
    std::set<std::string> all;
    for (const PoolMember& each : members_) {
      for (const std::string& address : each.addresses) {
        if (!assignment_.holders.contains(address)) all.insert(address);
      }
    }
    return all.size();
  }

  void remembering() {
    const PoolAssignment again = assignFromPool(pool_, members_, addresses_);
    EXPECT_EQ(again.addresses, assignment_.addresses) << "nothing has changed";
    std::vector<PoolMember> turned(members_.rbegin(), members_.rend());
    const PoolAssignment forgetful = assignFromPool(pool_, turned, {});
    EXPECT_EQ(forgetful.addresses, assignFromPool(pool_, members_, {}).addresses) << "the order counts";
    for (const auto& [gateway, address] : assignment_.addresses) {
      ++assigned_;
      const auto found = forgetful.addresses.find(gateway);
      if (found == forgetful.addresses.end() || found->second != address) ++moved_;
    }
  }

  const AddressPool& pool_;
  std::mt19937_64 random_;
  std::uint64_t named_ = 0;
  std::vector<PoolMember> members_;
  PoolAssignment assignment_;
  PoolAssignment previous_;
  GatewayAddresses addresses_;
  std::size_t assigned_ = 0;
  std::size_t moved_ = 0;
};

TEST(PoolAssignment, NeverMovesOrRepeatsAnAddressInRandomCourses) {
  for (const char* text : {"10.1.2.0/24", "127.8.0.0/29", "10.1.2.4/31", "fd00:8::/64"}) {
    const AddressPool pool = poolOf(text);
    for (std::uint64_t seed = 1; seed <= 20 && !testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE(std::string(text) + " " + std::to_string(seed));
      PoolCourse course(pool, seed);
      for (int i = 0; i < 60; ++i) course.step();
    }
  }
}

TEST(PoolAssignment, IsNearlyAlwaysTheSameAfterARestartWithoutMemory) {
  const AddressPool pool = poolOf("127.8.0.0/16");
  std::size_t assigned = 0;
  std::size_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PoolCourse course(pool, seed);
    for (int i = 0; i < 60; ++i) course.step();
    assigned += course.assigned();
    moved += course.moved();
  }
  EXPECT_GT(assigned, 5000U);
  EXPECT_LT(moved * 1000, assigned) << moved << " of " << assigned;
}

}  // namespace
}  // namespace sluice::compile
