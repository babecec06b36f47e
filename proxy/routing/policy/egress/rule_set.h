// A set of the rules of one EgressPolicy, by their index. Most policies have few rules, whose sets are one word long.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice::routing {

/// For as many rules as an EgressPolicy may have.
inline constexpr std::size_t kMostRuleWords = 4;

template <std::size_t Words>
class RuleSet {
 public:
  /// The number of rules that there may be.
  static constexpr std::size_t kRules = Words * 64;

  void insert(std::size_t rule) { words_[rule / kBits] |= std::uint64_t{1} << rule % kBits; }
  void remove(std::size_t rule) { words_[rule / kBits] &= ~(std::uint64_t{1} << rule % kBits); }
  bool contains(std::size_t rule) const { return (words_[rule / kBits] >> rule % kBits & 1) != 0; }
  bool any() const {
    std::uint64_t all = 0;
    for (const std::uint64_t each : words_) all |= each;
    return all != 0;
  }
  /// Returns the lowest index; the set must not be empty.
  std::size_t first() const {
    std::size_t word = 0;
    while (words_[word] == 0) ++word;
    return word * kBits + static_cast<std::size_t>(std::countr_zero(words_[word]));
  }
  /// Calls visit(rule) for each rule in it.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::size_t word = 0; word < Words; ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        visit(word * kBits + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }

  RuleSet& operator&=(const RuleSet& other) {
    for (std::size_t i = 0; i < Words; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  RuleSet& operator|=(const RuleSet& other) {
    for (std::size_t i = 0; i < Words; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  /// Removes the rules of `other`.
  RuleSet& operator-=(const RuleSet& other) {
    for (std::size_t i = 0; i < Words; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend RuleSet operator&(RuleSet a, const RuleSet& b) { return a &= b; }
  friend RuleSet operator|(RuleSet a, const RuleSet& b) { return a |= b; }
  /// Returns the rules of `a` that are not in `b`.
  friend RuleSet operator-(RuleSet a, const RuleSet& b) { return a -= b; }
  friend bool operator==(const RuleSet&, const RuleSet&) = default;

 private:
  static constexpr std::size_t kBits = 64;

  std::array<std::uint64_t, Words> words_{};
};

}  // namespace sluice::routing
