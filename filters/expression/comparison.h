// Equality, order and membership of values, as CEL defines them (langdef.md, "Equality", "Ordering"): numbers of
// different types compare by value; values of other different types are unequal and have no order.
//
// Pure functions. Results are booleans or errors.
#pragma once

#include "filters/expression/datum.h"
#include "filters/expression/meter.h"
#include "filters/expression/syntax.h"

namespace sluice::filters {

Datum isEqual(const Datum& a, const Datum& b, Meter& meter);
/// `which` is one of the four operators that order.
Datum isOrdered(Operator which, const Datum& a, const Datum& b);
/// Looks for `item` among the elements of a list, or for a member of that name in a map. `holder` must not be kHeaders.
Datum isIn(const Datum& item, const Datum& holder, Meter& meter);

}  // namespace sluice::filters
