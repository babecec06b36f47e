// Random numbers for choices that may be predictable: which weighted backend of a rule, which endpoint. Never for
// secrets.
//
// A value with one owner; the same seed gives the same choices.
#pragma once

#include <cstdint>

namespace sluice::base {

/// xorshift64*: even enough for weights, and cheap.
class Random {
 public:
  /// `seed` must not be 0.
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// Returns a number that is uniform over 64 bits.
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DULL;
  }

 private:
  std::uint64_t state_;
};

}  // namespace sluice::base
