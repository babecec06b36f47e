// How hostnames of listeners and routes meet (Gateway API HTTPRouteSpec.hostnames).
#pragma once

#include <string_view>

namespace sluice::routing {

/// There is a host that both stand for. Lower case; "*.suffix" stands for one or more labels before the suffix; "" for
/// every host.
bool hostnamesIntersect(std::string_view a, std::string_view b);

}  // namespace sluice::routing
