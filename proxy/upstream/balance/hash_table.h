// Tables of consistent hashing: each value belongs to one of some members. If a member goes, its values are spread over
// the others, and nearly all other values stay where they are.
//
// A table depends on the names of its members alone, not on their order, so that workers and replicas agree. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice::upstream {

/// Points on a ring, many for each member; a value belongs to the member of the next point.
class HashRing {
 public:
  explicit HashRing(std::span<const std::string> members);
  /// Returns the index of the member to which `hash` belongs. There must be one.
  std::size_t memberOf(std::uint64_t hash) const;

 private:
  struct Point {
    std::uint64_t hash;
    std::uint32_t member;
  };
  std::vector<Point> points_;  // sorted
};

/// The table of Maglev (Eisenbud et al., NSDI 2016, section 3.4): members take its places in turn, each in an order of
/// its own. All members have the same share, up to one place.
class MaglevTable {
 public:
  /// `size` is a prime, much larger than the number of members.
  MaglevTable(std::span<const std::string> members, std::uint32_t size);
  std::size_t memberOf(std::uint64_t hash) const { return places_[hash % places_.size()]; }

 private:
  std::vector<std::uint32_t> places_;  // the index of a member, for each place
};

/// Returns the member to which `hash` belongs by the highest weight of all (rendezvous hashing). It needs no table, and
/// time for each member.
std::size_t rendezvousOf(std::span<const std::string> members, std::uint64_t hash);

}  // namespace sluice::upstream
