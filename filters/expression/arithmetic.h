// Arithmetic of integers and doubles, sums of strings and lists, and conversions between types, as CEL defines them.
//
// Pure functions. A result beyond 64 bits is an error.
#pragma once

#include "filters/expression/datum.h"
#include "filters/expression/meter.h"
#include "filters/expression/syntax.h"

namespace sluice::filters {

/// `which` is one of the five operators on two operands.
Datum calculated(Operator which, const Datum& a, const Datum& b, Meter& meter);
Datum negated(const Datum& value);

Datum toInt(const Datum& value);
Datum toDouble(const Datum& value);
/// Takes strings, numbers and booleans.
Datum toString(const Datum& value, Meter& meter);

}  // namespace sluice::filters
