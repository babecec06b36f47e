#include "filters/expression/comparison.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <string>

#include "filters/expression/json_part.h"

namespace sluice::filters {
namespace {

Datum tooManySteps() { return Datum::error("the evaluation takes too many steps"); }

/// Compares the two numbers without loss of precision.
std::partial_ordering orderOf(std::int64_t a, double b) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= kBeyond) return std::partial_ordering::less;
  if (b < -kBeyond) return std::partial_ordering::greater;
  const double whole = std::trunc(b);
  const auto cut = static_cast<std::int64_t>(whole);
  if (a != cut) return a <=> cut;
  return 0.0 <=> (b - whole);
}

std::partial_ordering orderOfNumbers(const Datum& a, const Datum& b) {
  if (a.is(DatumType::kInt)) return b.is(DatumType::kInt) ? a.asInt() <=> b.asInt() : orderOf(a.asInt(), b.asDouble());
  if (b.is(DatumType::kDouble)) return a.asDouble() <=> b.asDouble();
  return 0 <=> orderOf(b.asInt(), a.asDouble());
}

Datum areListsEqual(const Datum& a, const Datum& b, Meter& meter) {
  if (a.is(DatumType::kList) && b.is(DatumType::kList)) {
    if (a.items().size() != b.items().size()) return Datum::boolean(false);
    for (std::size_t i = 0; i < a.items().size(); ++i) {
      const Datum equal = isEqual(a.items()[i], b.items()[i], meter);
      if (!equal.isTrue()) return equal;
    }
    return Datum::boolean(true);
  }
  if (a.is(DatumType::kList)) return areListsEqual(b, a, meter);
  JsonParts left(a.text());
  if (b.is(DatumType::kList)) {
    for (const Datum& item : b.items()) {
      if (!left.next()) return Datum::boolean(false);
      const Datum equal = isEqual(jsonDatum(left.value(), meter), item, meter);
      if (!equal.isTrue()) return equal;
    }
    return Datum::boolean(!left.next());
  }
  JsonParts right(b.text());
  while (left.next()) {
    if (!right.next()) return Datum::boolean(false);
    const Datum equal = isEqual(jsonDatum(left.value(), meter), jsonDatum(right.value(), meter), meter);
    if (!equal.isTrue()) return equal;
  }
  return Datum::boolean(!right.next());
}

Datum areMapsEqual(const Datum& a, const Datum& b, Meter& meter) {
  std::size_t members = 0;
  for (JsonParts parts(a.text()); parts.next(); ++members) {
    if (!meter.step(b.text().size())) return tooManySteps();
    const auto other = jsonMember(b.text(), parts.name());
    if (!other) return Datum::boolean(false);
    const Datum equal = isEqual(jsonDatum(parts.value(), meter), jsonDatum(*other, meter), meter);
    if (!equal.isTrue()) return equal;
  }
  return Datum::boolean(members == jsonSize(b.text()));
}

bool isList(const Datum& datum) { return datum.is(DatumType::kList) || datum.isJsonList(); }

}  // namespace

Datum isEqual(const Datum& a, const Datum& b, Meter& meter) {
  if (a.isError()) return a;
  if (b.isError()) return b;
  if (!meter.step(std::min(a.text().size(), b.text().size()))) return tooManySteps();
  if (a.isNumber() && b.isNumber()) return Datum::boolean(orderOfNumbers(a, b) == 0);
  if (isList(a) && isList(b)) return areListsEqual(a, b, meter);
  if (a.isJsonMap() && b.isJsonMap()) return areMapsEqual(a, b, meter);
  if (a.is(DatumType::kHeaders) || b.is(DatumType::kHeaders)) return noOverload();
  if (a.type() != b.type()) return Datum::boolean(false);
  switch (a.type()) {
    case DatumType::kNull:
      return Datum::boolean(true);
    case DatumType::kBool:
      return Datum::boolean(a.asBool() == b.asBool());
    case DatumType::kString:
      return Datum::boolean(a.text() == b.text());
    case DatumType::kError:
    case DatumType::kInt:
    case DatumType::kDouble:
    case DatumType::kList:
    case DatumType::kJson:
    case DatumType::kHeaders:
      break;
  }
  return Datum::boolean(false);  // a list and a map
}

Datum isOrdered(Operator which, const Datum& a, const Datum& b) {
  std::partial_ordering order = std::partial_ordering::unordered;
  if (a.isNumber() && b.isNumber()) {
    order = orderOfNumbers(a, b);
  } else if (a.type() != b.type()) {
    return noOverload();
  } else if (a.is(DatumType::kString)) {
    order = a.text().compare(b.text()) <=> 0;  // bytes of UTF-8 have the order of its characters
  } else if (a.is(DatumType::kBool)) {
    order = a.asBool() <=> b.asBool();
  } else {
    return noOverload();
  }
  if (which == Operator::kLess) return Datum::boolean(order < 0);
  if (which == Operator::kLessOrEqual) return Datum::boolean(order <= 0);
  if (which == Operator::kGreater) return Datum::boolean(order > 0);
  return Datum::boolean(order >= 0);
}

Datum isIn(const Datum& item, const Datum& holder, Meter& meter) {
  if (!meter.step(holder.text().size())) return tooManySteps();
  if (holder.isJsonMap()) {
    if (!item.is(DatumType::kString)) return Datum::boolean(false);
    return Datum::boolean(jsonMember(holder.text(), item.text()).has_value());
  }
  if (holder.is(DatumType::kList)) {
    for (const Datum& each : holder.items()) {
      if (const Datum equal = isEqual(each, item, meter); !equal.isFalse()) return equal;
    }
    return Datum::boolean(false);
  }
  if (!holder.isJsonList()) return noOverload();
  for (JsonParts parts(holder.text()); parts.next();) {
    if (const Datum equal = isEqual(jsonDatum(parts.value(), meter), item, meter); !equal.isFalse()) return equal;
  }
  return Datum::boolean(false);
}

}  // namespace sluice::filters
