// A RoutePlan is a route during compilation. It has the route's rules and matches, ready to be attached, and its
// faults.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/finding.h"
#include "config/model/model.h"
#include "proxy/compile/ground/backend_use.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/grants.h"
#include "proxy/compile/ground/policy_settings.h"
#include "proxy/compile/processors/asked_uses.h"
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/routes/compile_match.h"
#include "proxy/compile/routes/rule_members.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/candidate.h"

namespace sluice::compile {

/// These settings are the rule's own; policies may add to them.
struct WrittenSettings {
  bool retries = false;  // the rule has its own retry, which no policy changes
  std::optional<base::Duration> requestTimeout = std::nullopt;
  base::Duration backendRequestTimeout = base::Duration::zero();
};

struct RulePlan {
  std::shared_ptr<const routing::Rule> rule;
  std::vector<MatchPlan> matches;
  std::string_view name = {};            // empty if the rule has none
  std::vector<RuleMember> members = {};  // in the order of Rule::backends
  UseList mirrors = {};                  // of the mirrors in the filters of the rule that can be served
  bool isWritten = false;                // false for a rule that replaces the written ones
  bool timed = false;                    // its own timeouts.backendRequest applies, even if it sets no limit
  std::string place = {};                // names the rule in the process
  WrittenSettings written = {};          // before policies added their settings
  std::vector<SharedSettings> own = {};  // settings of policies without inherited ones, by RouteTools::policies
};

/// The compiled route. It is kept from one compilation to the next, so it owns everything that it points into.
struct RoutePlan {
  std::string_view kind;
  std::shared_ptr<const config::Route> route;
  std::string name;  // "namespace/name"
  /// Set if the schema refused the route. All its rules answer 500 then.
  std::optional<Fault> rejection;
  std::vector<RulePlan> rules;
  /// The matches of all rules, for listeners whose rules inherit nothing.
  std::shared_ptr<const routing::RouteCandidates> candidates;
  std::vector<std::shared_ptr<const BackendUse>> uses;  // uses of all rules and mirrors
  std::vector<Fault> faults;                            // faults of rules and weighted backends, which answer 500
  std::vector<Fault> unresolved;                        // faults of references to Backends, Services and servers
  std::vector<config::Finding> notes;
  std::vector<RefusedUse> refused;         // refused uses of all rules and weighted backends, attached by any object
  std::vector<RefusedUse> refusedFilters;  // the subset that filters attach, each once
  /// True if every rule answers 500 because of a fault of its own.
  bool wholeRouteFails = false;
  bool turnedAway = false;                      // no listener may take it, so it has no rules (isTurnedAway())
  bool processed = false;                       // whether PayloadProcessors or extension policies target it
  std::vector<AskedUses> asked;                 // the rules and backendRefs that may have uses
  std::shared_ptr<const ExtensionHooks> hooks;  // the hooks of its rules

  std::size_t matchCount() const { return candidates->size(); }
  Holder holder() const { return {config::kGatewayGroup, kind, route->meta.nameSpace}; }
};

}  // namespace sluice::compile
