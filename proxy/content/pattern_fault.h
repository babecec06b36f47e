// The message for a regular expression that RE2 refuses.
#pragma once

#include <string>

namespace re2 {
class RE2;
}

namespace sluice::content {

/// Returns RE2's message. Where the expression uses a feature of other libraries that RE2 does not have, such as
/// look-ahead, it names that feature instead.
std::string patternFault(const re2::RE2& refused);

}  // namespace sluice::content
