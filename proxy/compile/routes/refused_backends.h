// Makes some of the weighted backends of a compiled rule answer 500, at one listener or at all.
//
// This is a pure function.
#pragma once

#include <functional>
#include <optional>

#include "proxy/compile/ground/fault.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the fault because of which a weighted backend must not be served; nullopt if there is none.
using BackendFaultOf = std::function<std::optional<Fault>(const routing::WeightedBackend&)>;

/// Refuses the weighted backends with such a fault. They keep their weight, and the others keep their places.
void refuseBackends(routing::Rule& rule, const BackendFaultOf& faultOf);

}  // namespace sluice::compile
