// The functions of strings. Positions and sizes are in characters of Unicode; a byte that is no UTF-8 is one character.
//
// Pure functions. A part of a string is returned as a view of it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "filters/expression/datum.h"
#include "filters/expression/meter.h"
#include "filters/expression/vocabulary.h"

namespace sluice::filters {

std::size_t countCharacters(std::string_view text);

/// Calls a function of strings: those from kStartsWith on, except for kMatches. The number of arguments is one that its
/// row permits.
Datum callTextFunction(Function function, std::span<const Datum> arguments, Meter& meter);

}  // namespace sluice::filters
