// Reads the source of an expression: the grammar of CEL (langdef.md, "Syntax") without messages, maps and comments on
// types.
//
// Pure function. Other constructs of CEL's grammar are refused with their name.
#pragma once

#include <cstddef>
#include <string_view>

#include "filters/expression/syntax.h"
#include "proxy/base/result.h"

namespace sluice::filters {

inline constexpr std::size_t kMostExpressionBytes = 4096;
/// Bounds the nesting of operations, calls, lists and parentheses. A chain of operators nests to the left.
inline constexpr std::size_t kMostExpressionDepth = 64;
/// Bounds the literals, names, operations and calls.
inline constexpr std::size_t kMostExpressionNodes = 512;

/// Errors have config's origin and name the position.
base::Result<Syntax> parseExpression(std::string_view source);

}  // namespace sluice::filters
