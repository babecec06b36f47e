// The mark that may precede UTF-8 text and is not part of it (RFC 8259 section 8.1, HTML "event stream").
#pragma once

#include <string_view>

namespace sluice::content {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace sluice::content
