// The value of an expression as JSON.
//
// Pure function.
#pragma once

#include "filters/expression/datum.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::filters {

/// Returns the value with strings, lists and maps of its own. Numbers that come from a JSON text keep their spelling.
/// Fails with the message of an error value, and if the value is no JSON or longer than Expression::kMostResultBytes.
base::Result<content::Value> resultValue(const Datum& datum);

}  // namespace sluice::filters
