// Compiles one route independently of all listeners: its rules and matches, ready to be attached, and its faults.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/backends/backend_uses.h"
#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/processors/asked_uses.h"
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/routes/compile_match.h"
#include "proxy/compile/routes/rule_members.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"

namespace sluice::compile {

/// These settings are the rule's own; policies may add to them.
struct WrittenSettings {
  bool retries = false;  // it has a retry of its own, which no policy changes
  std::optional<base::Duration> requestTimeout = std::nullopt;
  base::Duration backendRequestTimeout = base::Duration::zero();
};

struct RulePlan {
  std::shared_ptr<const routing::Rule> rule;
  std::vector<MatchPlan> matches;
  std::string_view name = {};            // empty if the rule has none
  std::vector<RuleMember> members = {};  // as Rule::backends
  bool isWritten = false;                // false of a rule that stands for the others
  bool timed = false;                    // its own timeouts.backendRequest counts, also if that is none
  std::string place = {};                // names the rule in the process
  WrittenSettings written = {};          // before policies added theirs
  RuleTraffic traffic = {};              // without what it inherits
};

/// The compiled route. It is kept from one compilation to the next, so it holds all that it points into.
struct RoutePlan {
  std::string_view kind;
  std::shared_ptr<const config::Route> route;
  std::string name;  // "namespace/name"
  /// Set if the schema refused the route: then all its rules answer 500.
  std::optional<Fault> rejection;
  std::vector<RulePlan> rules;
  /// The matches of all rules, for listeners that add nothing to its rules.
  std::shared_ptr<const routing::RouteCandidates> candidates;
  std::vector<std::shared_ptr<const BackendUse>> uses;  // uses of all rules and mirrors
  std::vector<Fault> faults;                            // faults of rules and weighted backends, which answer 500
  std::vector<Fault> unresolved;                        // faults of references to Backends, Services and servers
  std::vector<config::Finding> notes;
  std::vector<RefusedUse> refused;         // uses of all rules and weighted backends, attached by any object
  std::vector<RefusedUse> refusedFilters;  // the subset attached by filters, each once
  /// True if every rule answers 500 because of a fault of its own.
  bool wholeRouteFails = false;
  bool governed = false;                        // whether TrafficPolicies concern it or its Backends
  bool processed = false;                       // whether PayloadProcessors or extension policies target it
  std::vector<AskedUses> asked;                 // uses of its rules and backendRefs, where there may be any
  std::shared_ptr<const ExtensionHooks> hooks;  // the hooks of its rules

  std::size_t matchCount() const;
  Holder holder() const { return {config::kGatewayGroup, kind, route->meta.nameSpace}; }
};

/// References outlive the call.
struct RouteTools {
  const BackendCatalog& backends;
  BackendUses& uses;
  const ProcessorCompiler& processors;
  std::shared_ptr<const ExtensionHooks> hooks;
  processing::SharedStates& states;
  const TrafficPolicies& traffic;
};

/// `rejection` is set for routes that their schema refused.
RoutePlan compileRoute(const std::shared_ptr<const config::HttpRoute>& route, const RouteTools& tools,
                       std::optional<Fault> rejection);
RoutePlan compileRoute(const std::shared_ptr<const config::GrpcRoute>& route, const RouteTools& tools,
                       std::optional<Fault> rejection);

/// Returns what policies for Backends and Services say of each member of a rule of `holder`; nothing if there are none
/// for any.
std::vector<TrafficSettings> trafficOf(const std::vector<RuleMember>& members, const TrafficPolicies& policies,
                                       const Holder& holder);

/// Returns the candidates of rules.
std::shared_ptr<const routing::RouteCandidates> candidatesOf(const std::vector<RulePlan>& rules);
/// Returns those of rules that stand for the rules of the plans.
std::shared_ptr<const routing::RouteCandidates> candidatesOf(
    const std::vector<RulePlan>& plans, const std::vector<std::shared_ptr<const routing::Rule>>& rules);
/// Names the rule at that index in a fault of it.
Fault ofRule(std::size_t index, const Fault& fault);

/// Used for a route whose matches would take more room than one object may have: returns it with one rule for all
/// requests of its hostnames, which answers 500 for the fault and gives way to every other route of the same hostname.
RoutePlan withoutMatches(const RoutePlan& plan, const Fault& fault);
/// Returns the fault for which a rule must not be served; nullopt if there is none.
using RefusalOf = std::function<std::optional<Fault>(const RulePlan&)>;
/// Returns the route with the rules that have such a fault answering 500 for it; nullopt if there are none. Each fault
/// is in its conditions once.
std::optional<RoutePlan> withRefusals(const RoutePlan& plan, const RefusalOf& refusalOf);
/// Used when the Secret of the settings has no key for sessions: returns the route with the rules that persist sessions
/// answering 500 for the fault, as for any broken reference. Returns nullopt if there are no such rules.
std::optional<RoutePlan> withoutSessions(const RoutePlan& plan, const base::SessionKeyRef& key, const Fault& fault);

}  // namespace sluice::compile
