// Regular expressions of ECMA-262, in which JSON Schemas have theirs, for RE2.
//
// Pure function.
#pragma once

#include <string>
#include <string_view>

namespace sluice::content {

/// Returns the expression with RE2's spelling of what both have: \u00fc and \u{fc} are \x{fc}, and \p{Letter} is \p{L}.
/// What RE2 does not have, or is malformed, stays as it is.
std::string spelledForRe2(std::string_view pattern);

}  // namespace sluice::content
