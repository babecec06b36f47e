// What a RouteTable is made of: the listeners of a socket by hostname, in each the routes' hostnames, in each the
// paths.
#pragma once

#include <string_view>

#include "proxy/routing/host_map.h"
#include "proxy/routing/path_table.h"
#include "proxy/routing/route_table.h"

namespace sluice::routing {

struct RouteTable::Impl {
  HostMap<HostMap<PathTable>> listeners;

  /// The one with the most specific hostname; nullptr if none is for this host.
  const HostMap<PathTable>* listenerOf(std::string_view host) const {
    const HostMap<PathTable>* found = nullptr;
    listeners.visit(host, [&](const HostMap<PathTable>& listener) {
      found = &listener;
      return true;
    });
    return found;
  }
};

}  // namespace sluice::routing
