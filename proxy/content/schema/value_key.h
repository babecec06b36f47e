// A text that represents a value in comparisons, so that many values are compared by sorting.
#pragma once

#include <string>

#include "proxy/content/value.h"

namespace sluice::content {

/// Appends a text that is the same for values that are equal (JSON Schema 2020-12, core section 4.2.2), and different
/// for others: the order of members does not matter, and 1 is equal to 1.0.
void appendValueKey(const Value& value, std::string& key);

std::string valueKey(const Value& value);

}  // namespace sluice::content
