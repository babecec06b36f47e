// Max-Forwards (RFC 9110 section 7.6.2) lets a client ask one of the proxies on the way: each of them counts it down in
// OPTIONS and TRACE, and the one that gets 0 answers. Pure functions.
#pragma once

#include "proxy/base/arena.h"
#include "proxy/base/result.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// Returns true for the methods for which the field has a meaning.
constexpr bool countsForwards(Method method) { return method == Method::kOptions || method == Method::kTrace; }

/// Counts the Max-Forwards of such a request down by one. If it is 0, RequestHead::forwardsSpent is set instead. An
/// error (400) means that the field is not one number.
base::Status countForwards(base::Arena& arena, RequestHead& head);

}  // namespace sluice::http
