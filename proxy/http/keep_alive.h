// The field Keep-Alive, which is specific to a connection (RFC 9110 section 7.6.1); RFC 2068 section 19.7.1.1 defines
// its parameters.
#pragma once

#include "proxy/base/clock.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// Returns the time for which the sender keeps the connection open without a request: `timeout`, in whole seconds.
/// max() if the field does not state it, or not as a number.
base::Duration keepAliveTimeout(const Headers& headers);

}  // namespace sluice::http
