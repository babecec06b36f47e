// The names that the open maps of a JSON text have had so far, so that a duplicate is seen.
//
// Owned by one reading. A name is represented by 64 bits of a hash, in 16 bytes whatever its length. Two equal names
// are always seen, and n different names of one map are taken for duplicates with a chance of n * n / 2^65; a client
// that makes two such names gets its own body refused, and no other. The names of each map are a binary tree over the
// bits of the hash, so that no name costs more than 64 steps, whatever names a client chooses, and nothing is ever
// sorted or moved at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice::content {

/// The hash of a name that arrives in pieces, cut anywhere.
class NameHash {
 public:
  void add(std::string_view bytes);
  std::uint64_t value() const;

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15ULL;
  std::uint64_t block_ = 0;  // bytes that do not fill a word yet
  std::uint64_t size_ = 0;
};

class NameSet {
 public:
  static constexpr std::size_t kMostMaps = 64;

  /// Begins a map inside the innermost one; at most kMostMaps are open.
  void open() { begins_[open_++] = names_.size(); }
  /// Ends the innermost map.
  void close() { names_.resize(begins_[--open_]); }
  /// Adds a name to the innermost map; returns false if the map has one of the same hash.
  bool add(std::uint64_t hash);

  /// Returns the bytes of memory in use.
  std::size_t memory() const { return names_.capacity() * sizeof(NameNode); }

 private:
  struct NameNode {
    std::uint64_t hash;
    std::array<std::uint32_t, 2> next{};  // in the same map; 0 for none
  };

  std::vector<NameNode> names_;
  std::array<std::size_t, kMostMaps> begins_;
  std::size_t open_ = 0;
};

}  // namespace sluice::content
