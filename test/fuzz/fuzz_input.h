// Splits a fuzzer's input: a few control bytes first, then the bytes that a peer would send, in pieces of varying size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace sluice::test {

class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {
    seed_ = 1 + byte() * 256U + byte();
  }

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  /// Returns the next bytes, at least one and at most `limit`; sometimes few, sometimes many.
  std::string_view piece(std::size_t limit) {
    const std::size_t wanted = next() % 4 == 0 ? rest_.size() : 1 + next() % 40;
    const std::string_view result = rest_.substr(0, std::min({wanted, limit, rest_.size()}));
    rest_.remove_prefix(result.size());
    return result;
  }
  /// Returns a pseudo-random number that depends on the seed alone.
  std::uint32_t next() {
    seed_ = seed_ * 1664525 + 1013904223;
    return seed_ >> 16;
  }

 private:
  std::string_view rest_;
  std::uint32_t seed_;
};

/// Checks an invariant of the code under test. Unlike assert(), it holds in every build.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "violated: " << what << '\n';
  std::abort();
}

}  // namespace sluice::test
