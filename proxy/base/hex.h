// Hexadecimal digits in lower case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice::base {

namespace detail {

/// The two digits of each byte.
inline constexpr std::array<std::array<char, 2>, 256> kHexDigits = [] {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> digits{};
  for (std::size_t byte = 0; byte < digits.size(); ++byte) digits[byte] = {kDigits[byte >> 4], kDigits[byte & 15]};
  return digits;
}();

}  // namespace detail

/// Returns the two digits of `byte`.
constexpr std::string_view hexOf(std::uint8_t byte) { return {detail::kHexDigits[byte].data(), 2}; }

/// Returns the digits of sixteen bytes, which the processor makes all at once.
inline std::array<char, 32> hexOf(const std::array<std::uint8_t, 16>& bytes) {
  using Block = unsigned char __attribute__((vector_size(16)));
  Block block;
  std::memcpy(&block, bytes.data(), sizeof block);
  const auto digitsOf = [](Block halves) { return halves + '0' + (Block(halves > 9) & ('a' - '9' - 1)); };
  const Block high = digitsOf(block >> 4);
  const Block low = digitsOf(block & 15);
  const std::array<Block, 2> pairs{
      __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
      __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)};
  std::array<char, 32> digits;
  std::memcpy(digits.data(), pairs.data(), sizeof pairs);
  return digits;
}

}  // namespace sluice::base
