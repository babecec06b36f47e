// One route by itself: its rules and matches, ready to be attached to any listener, and what is wrong with them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model.h"
#include "proxy/routing/compile_backend.h"
#include "proxy/routing/fault.h"
#include "proxy/routing/route_table_builder.h"
#include "proxy/routing/snapshot.h"

namespace sluice::routing {

struct RulePlan {
  Rule prototype;                   // without gateway and listener
  std::vector<RouteEntry> matches;  // without hostnames and rule
};

struct RoutePlan {
  std::string_view kind;
  const config::Route* route = nullptr;
  std::string name;  // "namespace/name"
  /// Its schema refused the route: the message. All its rules answer 500.
  std::optional<Fault> rejection;
  /// It is the previous version of a route whose newest one its schema refused: what that is told.
  std::optional<Fault> kept;
  std::vector<RulePlan> rules;
  std::vector<const config::HttpBackendRef*> backendRefs;  // of all rules
  std::vector<config::HttpBackendRef> mirrorRefs;          // of all filters
  std::vector<Fault> faults;                               // of rules and shares, which answer 500
  std::vector<Fault> unresolved;                           // of backendRefs, whose shares answer 500
  std::vector<std::string> notes;
  /// Every rule answers 500 because of a fault of its own.
  bool wholeRouteFails = false;
};

/// `rejection` is set for routes that their schema refused.
RoutePlan compileRoute(const config::HttpRoute& route, const BackendCatalog& backends, std::optional<Fault> rejection);
RoutePlan compileRoute(const config::GrpcRoute& route, const BackendCatalog& backends, std::optional<Fault> rejection);

}  // namespace sluice::routing
