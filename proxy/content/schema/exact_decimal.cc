#include "proxy/content/schema/exact_decimal.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "proxy/content/json.h"

namespace sluice::content {
namespace {

constexpr std::int64_t kMostExponent = 1'000'000'000'000'000;

__extension__ using Wide = unsigned __int128;

std::int64_t readExponent(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (read.ec == std::errc::result_out_of_range) exponent = text.starts_with('-') ? -kMostExponent : kMostExponent;
  return std::clamp(exponent, -kMostExponent, kMostExponent);
}

std::uint64_t readWhole(std::string_view digits) {
  std::uint64_t number = 0;
  for (const char digit : digits) number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  return number;
}

/// Returns 10^exponent modulo `divisor`.
std::uint64_t powerOfTen(std::uint64_t exponent, std::uint64_t divisor) {
  Wide power = 1 % divisor;
  for (Wide square = 10 % divisor; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = power * square % divisor;
    square = square * square % divisor;
  }
  return static_cast<std::uint64_t>(power);
}

}  // namespace

ExactDecimal::ExactDecimal(std::string_view number) {
  const std::string text = jsonNumber(number);
  std::string_view rest = text;
  if (rest.starts_with('-')) {
    negative_ = true;
    rest.remove_prefix(1);
  }
  const std::size_t mark = std::min(rest.find_first_of("eE"), rest.size());
  if (mark < rest.size()) exponent_ = readExponent(rest.substr(mark + 1));
  const std::string_view mantissa = rest.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  digits_ = mantissa.substr(0, point);
  if (point < mantissa.size()) digits_ += mantissa.substr(point + 1);
  exponent_ += static_cast<std::int64_t>(point);
  const std::size_t zeros = std::min(digits_.find_first_not_of('0'), digits_.size());
  digits_.erase(0, zeros);
  exponent_ -= static_cast<std::int64_t>(zeros);
  digits_.erase(digits_.find_last_not_of('0') + 1);
  if (!digits_.empty()) return;
  exponent_ = 0;
  negative_ = false;
}

std::optional<std::uint64_t> ExactDecimal::asCount() const {
  if (negative_ || !isWhole()) return std::nullopt;
  if (exponent_ > 19) return std::numeric_limits<std::uint64_t>::max();
  return readWhole(digits_) *
         powerOfTen(static_cast<std::uint64_t>(exponent_) - digits_.size(), std::numeric_limits<std::uint64_t>::max());
}

bool ExactDecimal::isMultipleOf(const ExactDecimal& divisor) const {
  if (isZero()) return true;
  const auto lowest = [](const ExactDecimal& of) {
    return of.exponent_ - static_cast<std::int64_t>(of.digits_.size());
  };
  // The last digit is not zero, so that no power of ten divides the digits.
  const std::int64_t shift = lowest(*this) - lowest(divisor);
  if (shift < 0) return false;
  const std::uint64_t by = readWhole(divisor.digits_);
  Wide remainder = 0;
  for (const char digit : digits_) remainder = (remainder * 10 + static_cast<unsigned>(digit - '0')) % by;
  return remainder * powerOfTen(static_cast<std::uint64_t>(shift), by) % by == 0;
}

std::strong_ordering ExactDecimal::operator<=>(const ExactDecimal& other) const {
  const auto sign = [](const ExactDecimal& of) { return of.isZero() ? 0 : of.negative_ ? -1 : 1; };
  if (sign(*this) != sign(other) || isZero()) return sign(*this) <=> sign(other);
  const auto size = exponent_ != other.exponent_ ? exponent_ <=> other.exponent_ : digits_ <=> other.digits_;
  return negative_ ? 0 <=> size : size;
}

void ExactDecimal::appendKey(std::string& key) const {
  if (negative_) key += '-';
  key += digits_;
  key += 'e';
  key += std::to_string(exponent_);
}

}  // namespace sluice::content
