// A RouteTable consists of the listeners of a socket by hostname, in each the routes' hostnames, and in each of those
// the paths of HTTPRoutes and the calls of GRPCRoutes.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/http/target.h"
#include "proxy/routing/served_listener.h"
#include "proxy/routing/table/host_map.h"
#include "proxy/routing/table/path_table.h"
#include "proxy/routing/table/rpc_table.h"

namespace sluice::routing {

/// A hostname of a listener is for one kind of route (GRPCRouteSpec.hostnames): with `calls` there are no paths.
struct HostRules {
  PathTable paths;
  std::unique_ptr<RpcTable> calls;  // null if there are none
  bool matchByPath = false;         // one of them matches by a path other than PathPrefix "/"

  const Rule* find(const http::RequestHead& head) const { return calls ? calls->find(head) : paths.find(head); }
};

struct ListenerRoutes {
  std::shared_ptr<const ServedListener> name = std::make_shared<const ServedListener>();
  HostMap<HostRules> hosts;
};

struct RouteIndex {
  HostMap<ListenerRoutes> listeners;
  http::SlashRules slashesOfPathRules;  // for hosts with HostRules::matchByPath
  http::SlashRules otherSlashes;        // for all other hosts

  /// Returns the listener with the most specific hostname; nullptr if none is for this host.
  const ListenerRoutes* listenerOf(std::string_view host) const {
    const ListenerRoutes* found = nullptr;
    listeners.visit(host, [&](const ListenerRoutes& listener) {
      found = &listener;
      return true;
    });
    return found;
  }
};

}  // namespace sluice::routing
