// The path of a request has one normal form. Routes match the path that is forwarded, so no spelling slips past a
// route.
//
// Values only, in the caller's arena; any thread.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/result.h"

namespace sluice::http {

/// Returns the normal form of an origin-form target, for matching and for forwarding. Percent-encodings of unreserved
/// characters are decoded, others get upper-case hex digits; dot segments are removed (RFC 3986 sections 6.2.2, 5.2.4);
/// runs of "/" become one. These are refused with 400: encoded "/" (%2F), backslash in either form, %00 and other
/// encoded controls, "#", a bad "%", bytes outside 0x21..0x7E, climbing above the root, and a dot segment with
/// parameters ("/..;x/", which some servers take for ".."). The query is kept as it is (its characters are checked).
/// Copies only if needed.
base::Result<std::string_view> normalizeTarget(base::Arena& arena, std::string_view target);

}  // namespace sluice::http
