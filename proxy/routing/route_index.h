// What a RouteTable is made of: the listeners of a socket by hostname, in each the routes' hostnames, in each the
// paths.
#pragma once

#include "proxy/routing/host_map.h"
#include "proxy/routing/path_table.h"
#include "proxy/routing/route_table.h"

namespace sluice::routing {

struct RouteTable::Impl {
  HostMap<HostMap<PathTable>> listeners;
};

}  // namespace sluice::routing
