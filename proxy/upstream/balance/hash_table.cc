#include "proxy/upstream/balance/hash_table.h"

#include <algorithm>
#include <limits>

#include "proxy/base/hashing/stable_hash.h"

namespace sluice::upstream {
namespace {

// Shares of members differ by about a tenth then. With very many members, the points in all are bounded.
constexpr std::size_t kPointsOfMember = 160;
constexpr std::size_t kMostPoints = 262'144;
// Seeds of the two hashes of a member's name.
constexpr std::uint64_t kOffset = 1;
constexpr std::uint64_t kSkip = 2;

}  // namespace

HashRing::HashRing(std::span<const std::string> members) {
  const std::size_t each = std::max<std::size_t>(std::min(kPointsOfMember, kMostPoints / members.size()), 1);
  points_.reserve(each * members.size());
  for (std::size_t member = 0; member < members.size(); ++member) {
    for (std::size_t point = 0; point < each; ++point) {
      points_.push_back({base::stableHash(members[member], point), static_cast<std::uint32_t>(member)});
    }
  }
  std::sort(points_.begin(), points_.end(), [&](const Point& a, const Point& b) {
    return a.hash != b.hash ? a.hash < b.hash : members[a.member] < members[b.member];
  });
}

std::size_t HashRing::memberOf(std::uint64_t hash) const {
  const auto next = std::lower_bound(points_.begin(), points_.end(), hash,
                                     [](const Point& point, std::uint64_t wanted) { return point.hash < wanted; });
  return next != points_.end() ? next->member : points_.front().member;
}

// The members take turns in the order of their names, so that the order of the list has no influence.
MaglevTable::MaglevTable(std::span<const std::string> members, std::uint32_t size) {
  constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
  struct MemberTurn {
    std::uint32_t member;
    std::uint64_t place;
    std::uint64_t skip;
  };
  std::vector<MemberTurn> turns;
  for (std::size_t i = 0; i < members.size(); ++i) {
    turns.push_back({static_cast<std::uint32_t>(i), base::stableHash(members[i], kOffset) % size,
                     base::stableHash(members[i], kSkip) % (size - 1) + 1});
  }
  std::sort(turns.begin(), turns.end(),
            [&](const MemberTurn& a, const MemberTurn& b) { return members[a.member] < members[b.member]; });
  places_.assign(size, kFree);
  std::uint32_t taken = 0;
  while (true) {
    for (MemberTurn& turn : turns) {
      while (places_[turn.place] != kFree) turn.place = (turn.place + turn.skip) % size;
      places_[turn.place] = turn.member;
      if (++taken == size) return;
    }
  }
}

std::size_t rendezvousOf(std::span<const std::string> members, std::uint64_t hash) {
  std::size_t best = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint64_t weight = base::stableHash(members[i], hash);
    if (weight < most || (weight == most && i > 0 && members[best] < members[i])) continue;
    most = weight;
    best = i;
  }
  return best;
}

}  // namespace sluice::upstream
