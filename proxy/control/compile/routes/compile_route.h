// One route by itself: its rules and matches, ready to be attached to any listener, and what is wrong with them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "proxy/control/compile/backends/compile_backend.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/processors/extension_hooks.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/route_table_builder.h"

namespace sluice::control {

struct RulePlan {
  std::shared_ptr<const routing::Rule> rule;
  std::vector<routing::RouteEntry> matches;  // without hostnames and rule
};

/// Points into the route's object.
struct RoutePlan {
  std::string_view kind;
  const config::Route* route = nullptr;
  std::string name;  // "namespace/name"
  /// Its schema refused the route: the message. All its rules answer 500.
  std::optional<Fault> rejection;
  std::vector<RulePlan> rules;
  std::vector<BackendUse> uses;   // of all rules and mirrors
  std::vector<Fault> faults;      // of rules and shares, which answer 500
  std::vector<Fault> unresolved;  // of backendRefs, whose shares answer 500
  std::vector<std::string> notes;
  std::vector<RefusedUse> refused;         // of all rules and shares, whoever attached them
  std::vector<RefusedUse> refusedFilters;  // those of them that filters attach, each once
  /// Every rule answers 500 because of a fault of its own.
  bool wholeRouteFails = false;
  bool processed = false;                       // its filters attach processors
  std::shared_ptr<const ExtensionHooks> hooks;  // that its rules have

  Holder holder() const { return {config::kGatewayGroup, kind, route->meta.nameSpace}; }
};

/// References outlive the call.
struct RouteTools {
  const BackendCatalog& backends;
  const ProcessorCompiler& processors;
  std::shared_ptr<const ExtensionHooks> hooks;
};

/// `rejection` is set for routes that their schema refused.
RoutePlan compileRoute(const config::HttpRoute& route, const RouteTools& tools, std::optional<Fault> rejection);
RoutePlan compileRoute(const config::GrpcRoute& route, const RouteTools& tools, std::optional<Fault> rejection);
/// The plan would come out as it is.
bool meansTheSame(const RoutePlan& plan, const RouteTools& tools);

/// There is no key: the route with the rules that persist sessions answering 500 for the fault, as for any reference
/// that is broken. nullopt if it has none.
std::optional<RoutePlan> withoutSessions(const RoutePlan& plan, const Fault& fault);

}  // namespace sluice::control
