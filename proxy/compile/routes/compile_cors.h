// Compiles the CORS filter of a rule or of one of its weighted backends.
#pragma once

#include <memory>
#include <optional>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/policy/cors.h"

namespace sluice::compile {

/// Returns null if there is no filter. Returns a fault (UnsupportedValue) for an origin that no browser can have. If
/// the filter has no origin, no request is allowed.
Resolved<std::shared_ptr<const routing::Cors>> compileCors(const base::Box<config::CorsFilter>& cors);

}  // namespace sluice::compile
