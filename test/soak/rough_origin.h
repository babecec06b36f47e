// An origin that breaks the protocol in the way that the path names.
#pragma once

#include "test/integration/support/raw_origin.h"

namespace sluice::soak {

/// This is the whole body, in the answers that complete it.
inline constexpr const char* kRoughBody = "the whole of it";

/// Returns a script that answers by the path:
///
/// /cut       the beginning of a body, then the end of the connection
/// /torn      the beginning of a body, then a reset
/// /reset     a reset instead of an answer
/// /closed    the end of the connection instead of an answer
/// /nonsense  bytes that are not HTTP
/// /silent    no answer
/// /stuck     the beginning of a body, then no more
/// /until-end a body of HTTP/1.0, which the end of the connection delimits
/// /interim   three informational responses before the answer
/// /hasty     an answer before the request's body was read, then a reset
/// else       a correct answer
test::RawOrigin::Script roughOrigin();

}  // namespace sluice::soak
