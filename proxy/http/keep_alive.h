// The field Keep-Alive, which RFC 9110 section 7.6.1 knows as specific to a connection; its parameters are those of RFC
// 2068 section 19.7.1.1.
#pragma once

#include "proxy/base/clock.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// Returns the time for which the sender keeps the connection open without a request: `timeout`, in whole seconds.
/// max() if it does not say that, or not as a number.
base::Duration keepAliveTimeout(const Headers& headers);

}  // namespace sluice::http
