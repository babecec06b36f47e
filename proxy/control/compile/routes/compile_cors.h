// The CORS filter of a rule or of one of its shares, in the form that answers meet it.
#pragma once

#include <memory>
#include <optional>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/routing/policy/cors.h"

namespace sluice::control {

/// Null if there is none. A fault (UnsupportedValue) for an origin that no browser can have. Without an origin nobody
/// is allowed.
Resolved<std::shared_ptr<const routing::Cors>> compileCors(const base::Box<config::Cors>& cors);

}  // namespace sluice::control
