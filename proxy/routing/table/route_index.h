// A RouteTable consists of the listeners of a socket by hostname, in each the routes' hostnames, and for each of those
// its rules.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/target.h"
#include "proxy/routing/table/host_map.h"
#include "proxy/routing/table/host_rules.h"
#include "proxy/routing/table/served_listener.h"

namespace sluice::routing {

struct ListenerRoutes {
  std::shared_ptr<const ServedListener> name = std::make_shared<const ServedListener>();
  HostMap<std::shared_ptr<const HostRules>> hosts;

  /// Returns the path of a request as routes of the listener match it; `room` holds it if it differs from `path`.
  std::string_view matchedPath(std::string_view path, std::string& room) const {
    return name->matching.ignorePathParameters ? http::withoutPathParameters(path, room) : path;
  }
};

struct RouteIndex {
  HostMap<ListenerRoutes> listeners;
  http::SlashRules slashesOfPathRules;  // for hosts with rules that select by path
  http::SlashRules otherSlashes;        // for all other hosts
  bool stripsPorts = false;             // some listener takes the port out of the authority

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
