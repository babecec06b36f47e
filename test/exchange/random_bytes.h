// Makes scripts for random courses, which are always the same for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace sluice::exchange {

/// Returns a text of at least `least` bytes and at most `range` - 1 more.
inline std::string randomBytes(std::uint32_t seed, std::size_t least, std::size_t range) {
  std::mt19937 random(seed);
  std::string bytes(least + random() % range, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 0xff);
  return bytes;
}

}  // namespace sluice::exchange
