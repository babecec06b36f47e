#include "filters/expression/arithmetic.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "filters/expression/json_part.h"

namespace sluice::filters {
namespace {

Datum outOfRange() { return Datum::error("a number is out of range"); }
Datum tooLong() { return Datum::error("a value is too long"); }

Datum ofIntegers(Operator which, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (which == Operator::kAdd) return __builtin_add_overflow(a, b, &result) ? outOfRange() : Datum::integer(result);
  if (which == Operator::kSubtract)
    return __builtin_sub_overflow(a, b, &result) ? outOfRange() : Datum::integer(result);
  if (which == Operator::kMultiply)
    return __builtin_mul_overflow(a, b, &result) ? outOfRange() : Datum::integer(result);
  if (b == 0) return Datum::error("a number is divided by zero");
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) return outOfRange();
  return Datum::integer(which == Operator::kDivide ? a / b : a % b);
}

Datum ofDoubles(Operator which, double a, double b) {
  if (which == Operator::kAdd) return Datum::real(a + b);
  if (which == Operator::kSubtract) return Datum::real(a - b);
  if (which == Operator::kMultiply) return Datum::real(a * b);
  if (which == Operator::kDivide) return Datum::real(a / b);
  return noOverload();
}

Datum joined(std::string_view a, std::string_view b, Meter& meter) {
  char* const room = meter.bytes(a.size() + b.size());
  if (room == nullptr || !meter.step(a.size() + b.size())) return tooLong();
  std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), room));
  return Datum::string({room, a.size() + b.size()});
}

std::size_t elementsOf(const Datum& list) {
  return list.is(DatumType::kList) ? list.items().size() : jsonSize(list.text());
}

/// Writes the elements to `to` and returns the end; null if one of them cannot be read.
Datum* putElements(const Datum& list, Datum* to, Meter& meter) {
  if (list.is(DatumType::kList)) return std::copy(list.items().begin(), list.items().end(), to);
  for (JsonParts parts(list.text()); parts.next();) {
    *to = jsonDatum(parts.value(), meter);
    if ((to++)->isError()) return nullptr;
  }
  return to;
}

Datum joinedLists(const Datum& a, const Datum& b, Meter& meter) {
  if (!meter.step(a.text().size() + b.text().size())) return tooLong();
  const std::size_t size = elementsOf(a) + elementsOf(b);
  auto* const items = meter.array<Datum>(size);
  if (items == nullptr || !meter.step(size)) return tooLong();
  Datum* const middle = putElements(a, items, meter);
  if (middle == nullptr || putElements(b, middle, meter) == nullptr) return tooLong();
  return Datum::list({items, size});
}

bool isAnyList(const Datum& datum) { return datum.is(DatumType::kList) || datum.isJsonList(); }

}  // namespace

Datum calculated(Operator which, const Datum& a, const Datum& b, Meter& meter) {
  if (a.is(DatumType::kInt) && b.is(DatumType::kInt)) return ofIntegers(which, a.asInt(), b.asInt());
  if (a.is(DatumType::kDouble) && b.is(DatumType::kDouble)) return ofDoubles(which, a.asDouble(), b.asDouble());
  if (which != Operator::kAdd) return noOverload();
  if (a.is(DatumType::kString) && b.is(DatumType::kString)) return joined(a.text(), b.text(), meter);
  if (isAnyList(a) && isAnyList(b)) return joinedLists(a, b, meter);
  return noOverload();
}

Datum negated(const Datum& value) {
  if (value.is(DatumType::kInt)) return ofIntegers(Operator::kSubtract, 0, value.asInt());
  return value.is(DatumType::kDouble) ? Datum::real(-value.asDouble()) : noOverload();
}

Datum toInt(const Datum& value) {
  if (value.is(DatumType::kInt)) return Datum::integer(value.asInt());
  if (value.is(DatumType::kDouble)) {
    // CEL excludes both bounds, because the doubles there are also the nearest ones to other integers (langdef.md,
    // int()).
    constexpr double kBeyond = 9223372036854775808.0;
    if (!(value.asDouble() > -kBeyond && value.asDouble() < kBeyond)) return outOfRange();
    return Datum::integer(static_cast<std::int64_t>(value.asDouble()));
  }
  if (!value.is(DatumType::kString)) return noOverload();
  std::int64_t result = 0;
  const char* const end = value.text().data() + value.text().size();
  const auto read = std::from_chars(value.text().data(), end, result);
  if (read.ec == std::errc() && read.ptr == end) return Datum::integer(result);
  return Datum::error("a string is no integer");
}

Datum toDouble(const Datum& value) {
  if (value.is(DatumType::kDouble)) return Datum::real(value.asDouble());
  if (value.is(DatumType::kInt)) return Datum::real(static_cast<double>(value.asInt()));
  if (!value.is(DatumType::kString)) return noOverload();
  double result = 0;
  const char* const end = value.text().data() + value.text().size();
  const auto read = std::from_chars(value.text().data(), end, result);
  if (read.ec == std::errc() && read.ptr == end) return Datum::real(result);
  return Datum::error("a string is no number");
}

Datum toString(const Datum& value, Meter& meter) {
  if (value.is(DatumType::kString)) return value;
  if (value.is(DatumType::kBool)) return Datum::string(value.asBool() ? "true" : "false");
  if (!value.isNumber()) return noOverload();
  char digits[32];  // the shortest spelling of a double has 24 characters at most
  const auto written = value.is(DatumType::kInt) ? std::to_chars(digits, digits + sizeof digits, value.asInt())
                                                 : std::to_chars(digits, digits + sizeof digits, value.asDouble());
  const auto size = static_cast<std::size_t>(written.ptr - digits);
  char* const room = meter.bytes(size);
  if (room == nullptr) return tooLong();
  return Datum::string({static_cast<char*>(std::memcpy(room, digits, size)), size});
}

}  // namespace sluice::filters
