// The field by which a Backend learns the caller of a request (identity.forward). Only the gateway writes it.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/terms/caller.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {

/// Removes the field of that name and its twins, whoever has put them in, and adds one for the caller: its service
/// account as NAMESPACE/NAME, else its principal. Adds nothing if `caller` is null or has no name, if the name cannot
/// be the value of a field, or if a principal has the form of a service account, which a Backend would take it for.
/// `field` is in lower case and outlives the arena.
void writeCaller(base::Arena& arena, http::Headers& headers, std::string_view field, const base::Caller* caller);

}  // namespace sluice::exchange
