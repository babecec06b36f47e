// Writes an unsigned number as text, on the stack.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace sluice::http {

class Decimal {
 public:
  explicit Decimal(std::uint64_t value)
      : size_(static_cast<std::size_t>(std::to_chars(digits_.data(), digits_.data() + digits_.size(), value).ptr -
                                       digits_.data())) {}
  /// The text lives as long as this object.
  std::string_view text() const { return {digits_.data(), size_}; }

 private:
  std::array<char, 20> digits_;
  std::size_t size_;
};

}  // namespace sluice::http
