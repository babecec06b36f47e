// The field Proxy-Status (RFC 9209): a list in which each intermediary on the path of a response describes, under its
// own name, how it handled the response.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// Returns true if an intermediary whose name begins with `prefix` has an entry.
bool hasProxyStatusOf(const Headers& headers, std::string_view prefix);

/// Removes the entries of intermediaries whose names begin with `prefix`. The others keep their order.
void removeProxyStatusOf(base::Arena& arena, std::string_view prefix, Headers& headers);

}  // namespace sluice::http
