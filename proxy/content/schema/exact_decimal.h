// A decimal number of any size and precision, exact.
//
// Plain value.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::content {

class ExactDecimal {
 public:
  /// Reads the text of a Value of the kind number. Exponents beyond 10^15 are taken for 10^15.
  explicit ExactDecimal(std::string_view number);

  bool isZero() const { return digits_.empty(); }
  bool isPositive() const { return !isZero() && !negative_; }
  bool isWhole() const { return exponent_ >= static_cast<std::int64_t>(digits_.size()); }
  /// Returns the number of digits without zeros at either end.
  std::size_t digitCount() const { return digits_.size(); }
  /// Returns nullopt unless the number is whole and not negative. A number that does not fit into 64 bits becomes the
  /// largest one.
  std::optional<std::uint64_t> asCount() const;
  /// `divisor` is positive and has at most 18 digits.
  bool isMultipleOf(const ExactDecimal& divisor) const;

  std::strong_ordering operator<=>(const ExactDecimal& other) const;
  bool operator==(const ExactDecimal& other) const = default;

  /// Appends a text that is the same for equal numbers, and different for others.
  void appendKey(std::string& key) const;

 private:
  bool negative_ = false;
  std::string digits_;         // without zeros at either end; empty for zero
  std::int64_t exponent_ = 0;  // the number is 0.digits * 10^exponent; 0 for zero
};

}  // namespace sluice::content
