// Finds the objects that policies target, and makes the entries of status.ancestors[] for them.
//
// A policy's ancestors are the objects that it targets; backend_tls_policy_status.h describes the only exception. An
// object has no entry if it belongs to another controller, or if no Gateway of this controller leads to it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "config/status/conditions.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/status/attachment.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// The objects that requests of this controller's Gateways can reach, by namespace and name.
class PolicyReach {
 public:
  explicit PolicyReach(const StatusSources& sources);

  /// Returns the object in that namespace to which the target refers; nullptr if there is none.
  const config::ObjectMeta* find(const config::PolicyTarget& target, std::string_view nameSpace) const;
  /// Calls visit(meta) with each reachable object in the namespace.
  void eachObject(std::string_view nameSpace, const std::function<void(const config::ObjectMeta&)>& visit) const;
  /// Returns the Gateways whose routes refer to that Service or Backend of a namespace, or to a Backend that leads to
  /// that Service. The Service or Backend need not exist. The Gateways have the order of the sources.
  std::vector<const GatewayPlan*> gatewaysTo(const config::ObjectRef& destination, std::string_view nameSpace) const;

 private:
  using Name = std::pair<std::string_view, std::string_view>;
  using Destination = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  using Through = std::set<const GatewayPlan*>;  // elements of gateways_, so their addresses are in its order

  void add(const config::ObjectMeta& meta) { objects_.emplace(Name(meta.nameSpace, meta.name), &meta); }
  template <typename Routes>
  void addRoutes(const Routes& routes);
  void addMirrors(const config::RouteFilters& filters, std::string_view holder, const Through& through);
  void addDestination(const config::BackendObjectReference& ref, std::string_view holder, const Through& through);
  /// Adds the Service that the Backend leads to.
  void addServiceOf(const config::Backend& backend);
  Destination destinationOf(const config::ObjectRef& ref, std::string_view nameSpace) const;

  const config::Model& model_;
  const std::vector<GatewayPlan>& gateways_;
  std::multimap<Name, const config::ObjectMeta*> objects_;
  /// The Services and Backends to which rules of this controller's routes lead, by namespace, group, kind and name.
  std::map<Destination, Through> destinations_;
  std::map<Destination, Through> throughBackends_;  // the Services to which these Backends lead
};

/// Returns the conditions of a policy for one of its targets. `object` is the target, or the object that contains the
/// target section; null if it does not exist. `unfound` is set if the object or the section does not exist.
using PolicyJudge = std::function<std::vector<config::Condition>(
    const config::ObjectMeta* object, std::string_view section, const std::optional<Fault>& unfound)>;

/// The bound of status.ancestors in the CRDs.
inline constexpr std::size_t kMostAncestors = 16;

/// Describes what a target of an unknown kind closes: every object with its name, or the section of that name in each
/// of them.
std::string closedNamesakes(const config::PolicyTarget& target);

/// Returns the ancestors of a policy, at most as many as fit into its status. `consequence`, such as "nothing is
/// refused", follows a message about a target that does not exist.
std::vector<config::ParentStatus> ancestorsOf(const StatusSources& sources, const PolicyReach& reach,
                                              const config::ObjectMeta& policy, const config::PolicyTargets& named,
                                              std::string_view consequence, const PolicyJudge& judge);

}  // namespace sluice::compile
