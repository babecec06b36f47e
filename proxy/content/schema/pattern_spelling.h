// Translates regular expressions of ECMA-262, which JSON Schemas use, for RE2.
//
// Pure function.
#pragma once

#include <string>
#include <string_view>

namespace sluice::content {

/// Returns the expression with RE2's spelling of the features that both have: \u00fc and \u{fc} become \x{fc}, and
/// \p{Letter} becomes \p{L}. Malformed parts, and features that RE2 does not have, are left unchanged.
std::string spelledForRe2(std::string_view pattern);

}  // namespace sluice::content
