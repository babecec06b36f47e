// Hostnames of listeners and routes intersect (Gateway API HTTPRouteSpec.hostnames).
#pragma once

#include <string_view>

namespace sluice::routing {

/// Returns true if some host matches both. They are in lower case; "*.suffix" matches one or more labels before the
/// suffix; "" for every host.
bool hostnamesIntersect(std::string_view a, std::string_view b);

}  // namespace sluice::routing
