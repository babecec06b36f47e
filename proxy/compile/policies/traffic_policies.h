// The settings of TrafficPolicies that count for a rule and for each of its backendRefs. Each field of a policy's spec
// counts as a whole: that of a policy for the rule, or else that of one for its route, for the Backend or Service (or,
// before that, a field of the Backend itself), for the listener or for the Gateway.
//
// The settings of a route and its Backends are the same at every listener, but those that they inherit differ by
// listener. The object lives as long as one compilation.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model/model.h"
#include "config/read/traffic/merged_traffic.h"
#include "proxy/compile/ground/attached_policies.h"
#include "proxy/compile/ground/backend_use.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/grants.h"

namespace sluice::compile {

/// Null stands for what no policy says. The settings are in the policies that they come from, and for a Backend in the
/// BackendUse that they were asked for.
struct TrafficSettings {
  const config::TrafficRetry* retry = nullptr;
  const config::FailoverSettings* failover = nullptr;
  const config::PassiveHealthSettings* passiveHealth = nullptr;
  const config::ActiveHealthSettings* activeHealth = nullptr;
  const config::TrafficTimeouts* timeouts = nullptr;
  const base::TcpKeepalive* keepalive = nullptr;
  const config::TrafficDns* dns = nullptr;
  const config::CircuitBreakerFields* circuitBreaker = nullptr;
  // Only policies for Backends and Services have these.
  const config::RetryConstraintFields* retryConstraint = nullptr;
  const config::TrafficPolicy* sessions = nullptr;  // the one whose sessionPersistence counts
  /// The policies that they come from, the most specific first.
  std::vector<std::shared_ptr<const config::TrafficPolicy>> policies = {};
  /// Set if one of the policies must not be left out and cannot be served.
  std::optional<Fault> fault = std::nullopt;

  bool empty() const {
    return retry == nullptr && failover == nullptr && passiveHealth == nullptr && activeHealth == nullptr &&
           retryConstraint == nullptr && sessions == nullptr && !governsConnections() && !fault;
  }
  /// Returns whether one of the policies is merged with those that a rule inherits.
  bool merges() const {
    return std::any_of(policies.begin(), policies.end(), [](const auto& each) { return each->merges; });
  }
  /// Returns whether they may say something of connections to Backends.
  bool governsConnections() const {
    return timeouts != nullptr || keepalive != nullptr || dns != nullptr || circuitBreaker != nullptr;
  }
  /// Takes what these settings do not say from those of a less specific policy.
  void inherit(const TrafficSettings& others);
  /// Takes from `other` what it has taken from `policy`.
  void replace(const config::TrafficPolicy& policy, const config::TrafficPolicy& other);

  /// Returns true if the same versions of the same policies say the same.
  friend bool operator==(const TrafficSettings&, const TrafficSettings&) = default;
};

/// RuleTraffic is what policies say of a rule and of each of its Backends.
struct RuleTraffic {
  TrafficSettings own = {};                      // of policies for it and its route
  std::vector<TrafficSettings> ofBackends = {};  // one for each weighted backend; empty if none is for any
  TrafficSettings inherited = {};                // of policies for the listener and its Gateway

  friend bool operator==(const RuleTraffic&, const RuleTraffic&) = default;

  /// Returns the settings of the rule as a whole.
  TrafficSettings ofRule() const;
  /// Returns the settings for one of its weighted backends.
  TrafficSettings ofBackend(std::size_t index) const;
};

/// The rules of a listener inherit these settings.
struct ListenerTraffic {
  TrafficSettings settings;
  /// Names the Gateway, or the listener if it has a policy of its own. What is learnt of Backends by these settings is
  /// kept under this name.
  std::string place;

  friend bool operator==(const ListenerTraffic&, const ListenerTraffic&) = default;
};

class TrafficPolicies {
 public:
  /// `model` must outlive it.
  explicit TrafficPolicies(const config::Model& model);

  /// Returns true if nothing has such settings.
  bool empty() const { return policies_.empty() && !ofBackends_; }
  /// Returns true if a policy targets the route or Gateway, or a section of it.
  bool concern(const config::ObjectMeta& object) const { return policies_.concern(object); }
  /// Returns what policies for the section and its object say: those for a rule and its route.
  TrafficSettings of(const config::ObjectMeta& object, const config::PolicySection& section) const;
  /// Returns true if some policy is for a Backend or a Service, or some Backend has settings of its own.
  bool areOfBackends() const { return ofBackends_; }
  /// Returns what policies for the Backend or Service of a reference of `holder`, and the Backend itself, say.
  TrafficSettings of(const BackendUse& use, const Holder& holder) const;
  /// Returns what policies for the listener and its Gateway say.
  ListenerTraffic ofListener(const config::ObjectMeta& gateway, std::string_view listener) const;
  /// Returns the settings of a rule with each policy that merges replaced by itself merged with its parent, which is
  /// the most specific policy of the same form among `inherited`. A fault says what is wrong with the two together.
  TrafficSettings merged(TrafficSettings own, const TrafficSettings& inherited) const;

 private:
  using Pair = std::pair<const config::TrafficPolicy*, const config::TrafficPolicy*>;
  using Candidate = AttachedPolicies<config::TrafficPolicy>::PolicyCandidate;
  static void add(const Candidate* candidate, TrafficSettings& settings);

  /// Returns the Service to which a reference of `holder` leads; nullptr if it leads to none.
  const config::Service* serviceOf(const BackendUse& use, const Holder& holder) const;

  const config::Model& model_;
  const AttachedPolicies<config::TrafficPolicy> policies_;
  const bool ofBackends_;                                 // whether there is anything to say of any Backend or Service
  mutable std::map<Pair, config::MergedTraffic> merged_;  // by parent and policy
};

}  // namespace sluice::compile
