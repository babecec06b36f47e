// Compiles one route independently of all listeners. The result has its rules and matches, ready to be attached, and
// its faults.
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
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/routes/route_plan.h"
#include "proxy/compile/routes/rule_policies.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"

namespace sluice::compile {

/// All references must outlive the call.
struct RouteTools {
  const BackendCatalog& backends;
  BackendUses& uses;
  const ProcessorCompiler& processors;
  std::shared_ptr<const ExtensionHooks> hooks;
  const RulePolicyList& policies;
};

/// `rejection` is set for a route that its schema refused.
RoutePlan compileRoute(const std::shared_ptr<const config::HttpRoute>& route, const RouteTools& tools,
                       std::optional<Fault> rejection);
RoutePlan compileRoute(const std::shared_ptr<const config::GrpcRoute>& route, const RouteTools& tools,
                       std::optional<Fault> rejection);

/// Returns the plan of a route that no listener may take. It has no rules.
RoutePlan turnedAwayRoute(std::string_view kind, const std::shared_ptr<const config::Route>& route,
                          std::optional<Fault> rejection);

/// Returns the candidates of rules.
std::shared_ptr<const routing::RouteCandidates> candidatesOf(const std::vector<RulePlan>& rules);
/// Returns the candidates of rules that replace the rules of the plans.
std::shared_ptr<const routing::RouteCandidates> candidatesOf(
    const std::vector<RulePlan>& plans, const std::vector<std::shared_ptr<const routing::Rule>>& rules);
/// Returns the fault with the name of the rule at that index, which has it.
Fault faultOfRule(std::size_t index, const Fault& fault);

/// Used for a route whose matches exceed the limit of one object. Returns the route with one rule for all requests of
/// its hostnames. The rule answers 500 because of the fault, and every other route of the same hostname takes
/// precedence.
RoutePlan withoutMatches(const RoutePlan& plan, const Fault& fault);
/// Returns the fault because of which a rule must not be served; nullopt if there is none.
using RefusalOf = std::function<std::optional<Fault>(const RulePlan&)>;
/// Returns the route, where the rules with such a fault answer 500; nullopt if there are no such rules. The route's
/// conditions have each fault once.
std::optional<RoutePlan> withRefusals(const RoutePlan& plan, const RefusalOf& refusalOf);
/// Used when the Secret of the settings has no key for sessions. Returns the route, where the rules that persist
/// sessions answer 500 because of the fault, as for any broken reference. Returns nullopt if there are no such rules.
std::optional<RoutePlan> withoutSessions(const RoutePlan& plan, const base::SessionKeyRef& key, const Fault& fault);

}  // namespace sluice::compile
