#include "proxy/content/schema/value_rules.h"

#include <algorithm>
#include <vector>

#include "proxy/base/text.h"

namespace sluice::content {
namespace {

bool isPlainWhole(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  return std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string describeKinds(SchemaKinds kinds) {
  std::vector<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(Value::Kind::kMap); ++kind) {
    if ((kinds & (1 << kind)) != 0) names.push_back(describe(static_cast<Value::Kind>(kind)));
  }
  if ((kinds & kWholeNumber) != 0) names.emplace_back("a whole number");
  return base::joinChoices(names);
}

std::size_t charactersIn(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string atLeast(std::uint64_t least, std::string_view parts) {
  return "must have at least " + std::to_string(least) + " " + std::string(parts);
}

std::string atMost(std::uint64_t most, std::string_view parts) {
  return "must have at most " + std::to_string(most) + " " + std::string(parts);
}

}  // namespace

std::string kindFault(SchemaKinds kinds, const Value& value) {
  if ((kinds & kindBit(value.kind)) != 0) return "";
  const bool isNumber = value.kind == Value::Kind::kNumber;
  const bool wholeIsEnough = isNumber && (kinds & kWholeNumber) != 0;
  if (wholeIsEnough && (isPlainWhole(value.text) || ExactDecimal(value.text).isWhole())) return "";
  return "must be " + describeKinds(kinds) + (wholeIsEnough ? "" : ", but is " + std::string(describe(value.kind)));
}

std::string numberFault(const NumberRules& rules, const Value& value) {
  if (value.kind != Value::Kind::kNumber) return "";
  const ExactDecimal number(value.text);
  const auto must = [](std::string_view be, const SchemaNumber& than) {
    return "must be " + std::string(be) + " " + std::string(than.text);
  };
  if (rules.minimum && number < rules.minimum->number) return must("at least", *rules.minimum);
  if (rules.exclusiveMinimum && number <= rules.exclusiveMinimum->number) {
    return must("greater than", *rules.exclusiveMinimum);
  }
  if (rules.maximum && number > rules.maximum->number) return must("at most", *rules.maximum);
  if (rules.exclusiveMaximum && number >= rules.exclusiveMaximum->number) {
    return must("less than", *rules.exclusiveMaximum);
  }
  if (rules.multipleOf && !number.isMultipleOf(rules.multipleOf->number)) {
    return must("a multiple of", *rules.multipleOf);
  }
  return "";
}

std::string lengthFault(const StringRules& rules, const Value& value) {
  if (!value.isString() || (!rules.minLength && !rules.maxLength)) return "";
  return countFault(rules.minLength, rules.maxLength, charactersIn(value.text), "characters");
}

std::string countFault(const std::optional<std::uint64_t>& least, const std::optional<std::uint64_t>& most,
                       std::size_t count, std::string_view parts) {
  if (least && count < *least) return atLeast(*least, parts);
  if (most && count > *most) return atMost(*most, parts);
  return "";
}

}  // namespace sluice::content
