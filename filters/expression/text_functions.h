// The functions of strings. Positions and sizes count characters of Unicode; a byte that is no UTF-8 counts as one.
//
// Pure functions. What is cut out of a string is a view of it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "filters/expression/datum.h"
#include "filters/expression/meter.h"
#include "filters/expression/vocabulary.h"

namespace sluice::filters {

std::size_t countCharacters(std::string_view text);

/// Calls a function of strings, from kStartsWith on but for kMatches, with as many arguments as its row permits.
Datum callTextFunction(Function function, std::span<const Datum> arguments, Meter& meter);

}  // namespace sluice::filters
