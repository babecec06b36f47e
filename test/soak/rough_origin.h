// An origin that breaks what it is asked for; the path says how.
#pragma once

#include "test/integration/support/raw_origin.h"

namespace sluice::soak {

/// What it sends of a body, where it sends all of one.
inline constexpr const char* kRoughBody = "the whole of it";

/// /cut       a body of which only the beginning comes, then the end of the connection
/// /torn      the same, then a reset
/// /reset     a reset instead of an answer
/// /closed    the end instead of an answer
/// /nonsense  bytes that are no HTTP
/// /silent    nothing
/// /stuck     the beginning of a body, then nothing
/// /until-end a body of HTTP/1.0, which the end of the connection delimits
/// /interim   three informational responses before the answer
/// /hasty     an answer before the request's body was read, then a reset
/// else       an answer as it should be
test::RawOrigin::Script roughOrigin();

}  // namespace sluice::soak
