// Hexadecimal digits in lower case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::base {

namespace detail {

/// The two digits of each byte. One look-up for both saves time, because the id of each request is written in
/// hexadecimal.
inline constexpr std::array<std::array<char, 2>, 256> kHexDigits = [] {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> digits{};
  for (std::size_t byte = 0; byte < digits.size(); ++byte) digits[byte] = {kDigits[byte >> 4], kDigits[byte & 15]};
  return digits;
}();

}  // namespace detail

/// Returns the two digits of `byte`.
constexpr std::string_view hexOf(std::uint8_t byte) { return {detail::kHexDigits[byte].data(), 2}; }

}  // namespace sluice::base
