// Tests the tables of consistent hashing against what theory promises: even shares, few moves, and no influence of the
// order of the members.
#include "proxy/upstream/balance/hash_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "proxy/base/hashing/stable_hash.h"

namespace sluice::upstream {
namespace {

using Members = std::vector<std::string>;
using LookUp = std::function<std::size_t(std::uint64_t)>;

Members membersOf(std::size_t count) {
  Members members;
  for (std::size_t i = 0; i < count; ++i)
    members.push_back("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) + " 8080");
  return members;
}

struct TableKind {
  const char* name;
  LookUp (*make)(const Members& members);
  double evenness;  // the largest deviation from the mean share of 100 members, as a part of it
};

const TableKind kTables[] = {{"ring",
                              [](const Members& members) -> LookUp {
                                return [table = HashRing(members)](std::uint64_t hash) { return table.memberOf(hash); };
                              },
                              0.35},
                             {"maglev",
                              [](const Members& members) -> LookUp {
                                return [table = MaglevTable(members, 65'537)](std::uint64_t hash) {
                                  return table.memberOf(hash);
                                };
                              },
                              0.12},
                             {"rendezvous",
                              [](const Members& members) -> LookUp {
                                return [members](std::uint64_t hash) { return rendezvousOf(members, hash); };
                              },
                              0.12}};

constexpr std::size_t kValues = 200'000;
std::uint64_t valueOf(std::size_t index) { return base::stableHash("value " + std::to_string(index)); }

TEST(HashTables, GiveAllMembersAboutTheSameShare) {
  constexpr std::size_t kCount = 100;
  for (const TableKind& kind : kTables) {
    const LookUp memberOf = kind.make(membersOf(kCount));
    std::vector<std::size_t> share(kCount);
    for (std::size_t i = 0; i < kValues; ++i) ++share[memberOf(valueOf(i))];
    const double mean = static_cast<double>(kValues) / kCount;
    const auto [least, most] = std::minmax_element(share.begin(), share.end());
    EXPECT_GT(static_cast<double>(*least), mean * (1 - kind.evenness)) << kind.name;
    EXPECT_LT(static_cast<double>(*most), mean * (1 + kind.evenness)) << kind.name;
  }
}

TEST(HashTables, MoveFewValuesOfOtherMembersIfOneOfAHundredGoes) {
  const Members before = membersOf(100);
  Members after = before;
  after.erase(after.begin() + 37);
  for (const TableKind& kind : kTables) {
    const LookUp old = kind.make(before);
    const LookUp now = kind.make(after);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < kValues; ++i) {
      const std::size_t member = old(valueOf(i));
      if (member != 37 && before[member] != after[now(valueOf(i))]) ++moved;
    }
    EXPECT_LE(moved, kValues / 50) << kind.name << ": two of a hundred";
    const bool movesNone = std::string_view(kind.name) != "maglev";
    EXPECT_TRUE(!movesNone || moved == 0) << kind.name << " " << moved;
  }
}

TEST(HashTables, DoNotDependOnTheOrderOfTheirMembers) {
  const Members members = membersOf(20);
  Members other = members;
  std::reverse(other.begin(), other.end());
  for (const TableKind& kind : kTables) {
    const LookUp one = kind.make(members);
    const LookUp two = kind.make(other);
    for (std::size_t i = 0; i < 2000; ++i) {
      ASSERT_EQ(members[one(valueOf(i))], other[two(valueOf(i))]) << kind.name;
    }
  }
}

TEST(HashTables, MayHaveOneMemberOrMoreThanTheyHavePlacesFor) {
  for (const TableKind& kind : kTables) EXPECT_EQ(kind.make(membersOf(1))(valueOf(1)), 0U) << kind.name;
  const MaglevTable narrow(membersOf(20), 7);
  const MaglevTable least(membersOf(3), 2);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_LT(narrow.memberOf(valueOf(i)), 20U);
    EXPECT_LT(least.memberOf(valueOf(i)), 3U);
  }
}

}  // namespace
}  // namespace sluice::upstream
