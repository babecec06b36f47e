// The objects that policies name, and the entries of status.ancestors[] for them.
//
// A policy's ancestors are the objects that it names; see backend_tls_policy_status.h for the one kind that has others.
// There is none for those that belong to other controllers, or that no Gateway of ours leads to.
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

/// The objects that requests of our Gateways can reach, by namespace and name.
class PolicyReach {
 public:
  explicit PolicyReach(const StatusSources& sources);

  /// Returns the object of that namespace that the target means; nullptr if there is none.
  const config::ObjectMeta* find(const config::PolicyTarget& target, std::string_view nameSpace) const;
  /// Calls visit(meta) with each object of the namespace.
  void eachObject(std::string_view nameSpace, const std::function<void(const config::ObjectMeta&)>& visit) const;
  /// Returns the Gateways whose routes refer to that Service or Backend of a namespace, whether it is there or not, or
  /// to a Backend that leads to that Service, in the order of the sources.
  std::vector<const GatewayPlan*> gatewaysTo(const config::ObjectRef& destination, std::string_view nameSpace) const;

 private:
  using Name = std::pair<std::string_view, std::string_view>;
  using Destination = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  using Through = std::set<const GatewayPlan*>;  // elements of gateways_, so addresses have their order

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
  /// The Services and Backends to which rules of our routes lead, by namespace, group, kind and name.
  std::map<Destination, Through> destinations_;
  std::map<Destination, Through> throughBackends_;  // the Services to which these Backends lead
};

/// Returns the conditions of a policy for one thing that it names. `object` is that thing, or the whole of which it is
/// a section; null if it is not there. `unfound` is the fault if it, or the section, is not there.
using PolicyJudge = std::function<std::vector<config::Condition>(
    const config::ObjectMeta* object, std::string_view section, const std::optional<Fault>& unfound)>;

/// Bound of status.ancestors in the CRDs.
inline constexpr std::size_t kMostAncestors = 16;

/// Says what a target closes of which the kind is not known: everything that has its name, or the section of that name
/// in it.
std::string closedNamesakes(const config::PolicyTarget& target);

/// Returns the ancestors of a policy, at most as many as its status has room for. `consequence` follows a message that
/// says that something is not there: "nothing is refused".
std::vector<config::ParentStatus> ancestorsOf(const StatusSources& sources, const PolicyReach& reach,
                                              const config::ObjectMeta& policy, const config::PolicyTargets& named,
                                              std::string_view consequence, const PolicyJudge& judge);

}  // namespace sluice::compile
