// A value while an expression runs: null, a boolean, a number, a string, a list, a part of a JSON text, or an error,
// which is a value too because && and || may absorb it.
//
// Plain values over memory that others own: the source, the message, its body, and the arena of the evaluation. One
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::filters {

enum class DatumType : std::uint8_t { kError, kNull, kBool, kInt, kDouble, kString, kList, kJson, kHeaders };

class Datum {
 public:
  Datum() = default;
  /// `what` is a sentence without input and has static lifetime.
  static Datum error(std::string_view what) { return {DatumType::kError, what}; }
  static Datum boolean(bool value) {
    Datum datum(DatumType::kBool, {});
    datum.bits_.integer = value ? 1 : 0;
    return datum;
  }
  /// `spelling` is the text of a number from a JSON text; empty for other numbers.
  static Datum integer(std::int64_t value, std::string_view spelling = {}) {
    Datum datum(DatumType::kInt, spelling);
    datum.bits_.integer = value;
    return datum;
  }
  static Datum real(double value, std::string_view spelling = {}) {
    Datum datum(DatumType::kDouble, spelling);
    datum.bits_.real = value;
    return datum;
  }
  static Datum string(std::string_view text) { return {DatumType::kString, text}; }
  static Datum list(std::span<const Datum> items) {
    Datum datum(DatumType::kList, {});
    datum.bits_.items = items.data();
    datum.count_ = static_cast<std::uint32_t>(items.size());
    return datum;
  }
  /// `text` is a list or a map of a text that is known to be JSON, without spaces around it.
  static Datum json(std::string_view text) { return {DatumType::kJson, text}; }
  /// The value of the header fields of the message.
  static Datum headers(bool ofResponse) {
    Datum datum(DatumType::kHeaders, {});
    datum.bits_.integer = ofResponse ? 1 : 0;
    return datum;
  }

  DatumType type() const { return type_; }
  bool is(DatumType type) const { return type_ == type; }
  bool isError() const { return type_ == DatumType::kError; }
  bool isNumber() const { return type_ == DatumType::kInt || type_ == DatumType::kDouble; }
  bool isJsonMap() const { return type_ == DatumType::kJson && text_.front() == '{'; }
  bool isJsonList() const { return type_ == DatumType::kJson && text_.front() == '['; }
  bool isTrue() const { return type_ == DatumType::kBool && bits_.integer != 0; }
  bool isFalse() const { return type_ == DatumType::kBool && bits_.integer == 0; }

  /// Each of these may be called only for a value of its type.
  bool asBool() const { return bits_.integer != 0; }
  std::int64_t asInt() const { return bits_.integer; }
  double asDouble() const { return bits_.real; }
  std::span<const Datum> items() const { return {bits_.items, count_}; }
  bool ofResponse() const { return bits_.integer != 0; }
  /// Returns the string, the JSON text, the spelling of a number, or the message of an error.
  std::string_view text() const { return text_; }

 private:
  Datum(DatumType type, std::string_view text) : type_(type), text_(text) {}

  DatumType type_ = DatumType::kNull;
  std::uint32_t count_ = 0;
  union Bits {
    std::int64_t integer;
    double real;
    const Datum* items;
  } bits_{0};
  std::string_view text_;
};

/// The error of an operation that is not defined for the types of its operands.
inline Datum noOverload() { return Datum::error("an operand has a type that the operation does not take"); }

}  // namespace sluice::filters
