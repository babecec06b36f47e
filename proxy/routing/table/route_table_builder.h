// Makes RouteTables out of the candidates of routes, in any order: a table depends on the set of candidates alone. The
// tables that one builder makes, or several with one store, share their common parts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/settings.h"
#include "proxy/routing/table/candidate.h"
#include "proxy/routing/table/host_map.h"
#include "proxy/routing/table/host_rules.h"
#include "proxy/routing/table/route_table.h"
#include "proxy/routing/table/served_listener.h"

namespace sluice::routing {

class RouteTableBuilder {
 public:
  explicit RouteTableBuilder(const base::PathSettings& paths = {}) : RouteTableBuilder(paths, own_) {}
  /// The store outlives the builder.
  RouteTableBuilder(const base::PathSettings& paths, HostRulesStore& rules) : paths_(paths), rules_(rules) {}
  RouteTableBuilder(const RouteTableBuilder&) = delete;
  RouteTableBuilder& operator=(const RouteTableBuilder&) = delete;

  /// A listener owns its hostname (lower case, "*.suffix", or "" for every host) even if no route is attached to it: a
  /// less specific listener then gets no requests for it. A null `name` gives it none.
  void addListener(std::string_view hostname, std::shared_ptr<const ServedListener> name = nullptr);
  /// Adds a route under one of its own hostnames, spelled likewise, at a listener. GRPCRoutes and others never share a
  /// hostname at a listener, because attaching prevents that.
  void add(std::string_view listenerHostname, std::string_view hostname, std::shared_ptr<const RouteCandidates> route);
  /// Returns the table of the listeners and routes that were added since the last one was built.
  RouteTable build();

 private:
  struct ListenerDraft {
    std::shared_ptr<const ServedListener> name;
    HostMap<std::vector<std::shared_ptr<const RouteCandidates>>> hosts;
  };

  base::PathSettings paths_;
  HostMap<ListenerDraft> listeners_;
  HostRulesStore own_;
  HostRulesStore& rules_;
};

}  // namespace sluice::routing
