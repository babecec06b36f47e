// The id by which clients, the gateway's log and Backends name one request.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/random.h"
#include "proxy/exchange/transaction/request_id_field.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {

/// Returns true for 1 to 128 visible ASCII characters without quotes and backslashes: such an id can be written in any
/// log without escapes.
bool isCleanRequestId(std::string_view id);

/// Returns a new id, in the form of a UUID of version 4 (RFC 9562). It identifies a request, and must not be used as a
/// secret.
std::string_view makeRequestId(base::Arena& arena, base::Random& random);

/// Adds the field of the id, whose bytes outlive the headers. The name need not. No id comes twice, so it is not
/// indexed in tables of HTTP/2, where it would only displace fields that recur.
void addRequestId(base::Arena& arena, http::Headers& headers, const RequestIdField& field, std::string_view id);

/// Returns the id of a request. This is the id that came, if the settings accept it, it is clean and there is only one;
/// else a new one, which replaces those that came. Empty if the settings disable ids.
std::string_view settleRequestId(base::Arena& arena, http::Headers& headers, const RequestIdField& field,
                                 base::Random& random);

}  // namespace sluice::exchange
