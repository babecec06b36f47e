// The id by which clients, the gateway's log and Backends name one request.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/random.h"
#include "proxy/base/settings.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {

/// Returns true for 1 to 128 visible ASCII characters without quotes and backslashes: such an id can be written in any
/// log as it is.
bool isCleanRequestId(std::string_view id);

/// Returns a new id, in the form of a UUID of version 4 (RFC 9562). It names, and protects nothing.
std::string_view makeRequestId(base::Arena& arena, base::Random& random);

/// Adds a field for the id, whose bytes outlive the headers. The name may go with the settings. No id comes twice, so
/// tables of HTTP/2 do not keep it, where it would push out fields that do.
void addRequestId(base::Arena& arena, http::Headers& headers, std::string_view name, std::string_view id);

/// Returns the id of a request: the one that came, if the settings accept it, it is clean and there is no other; else a
/// new one, which replaces what came. Empty if the settings want none.
std::string_view settleRequestId(base::Arena& arena, http::Headers& headers, const base::RequestIdSettings& settings,
                                 base::Random& random);

}  // namespace sluice::exchange
