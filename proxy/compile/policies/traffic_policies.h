// TrafficPolicies finds the settings of TrafficPolicies that take effect for a rule and for each of its backendRefs.
// Each field of a policy's spec is taken as a whole from the most specific policy that has it. This is the policy for
// the rule, then that for its route, for the Backend or Service, for the listener, and for the Gateway. A field of the
// Backend itself takes precedence over a policy for the Backend.
//
// The settings of a route and its Backends are the same at every listener. The settings that they inherit differ by
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

/// A field is null if no policy has it. The fields point into the policies that they come from, or for a Backend into
/// the BackendUse that the caller passed.
struct TrafficSettings {
  const config::TrafficRetry* retry = nullptr;
  const config::FailoverSettings* failover = nullptr;
  const config::PassiveHealthSettings* passiveHealth = nullptr;
  const config::ActiveChecks* activeHealth = nullptr;
  const config::TrafficTimeouts* timeouts = nullptr;
  const base::TcpKeepalive* keepalive = nullptr;
  const config::TrafficDns* dns = nullptr;
  const config::CircuitBreakerFields* circuitBreaker = nullptr;
  const base::LoadBalancing* loadBalancing = nullptr;
  const bool* sendsVia = nullptr;                   // of Backends, and of policies for Backends and Services alone
  const base::RequestMatching* matching = nullptr;  // of policies for listeners and Gateways alone
  const config::IntegrationFields* integrations = nullptr;
  const config::RequestPriority* priority = nullptr;
  // Only policies for Backends and Services have these.
  const config::RetryConstraintFields* retryConstraint = nullptr;
  const config::TrafficPolicy* sessions = nullptr;  // the policy whose sessionPersistence takes effect
  /// The policies that they come from, the most specific first.
  std::vector<std::shared_ptr<const config::TrafficPolicy>> policies = {};
  /// Set if one of the policies cannot be served and must not be ignored.
  std::optional<Fault> fault = std::nullopt;

  /// Returns true if rules have nothing to inherit from them. No rule inherits `matching`.
  bool empty() const {
    return integrations == nullptr && retry == nullptr && failover == nullptr && passiveHealth == nullptr &&
           activeHealth == nullptr && retryConstraint == nullptr && sessions == nullptr && !governsConnections() &&
           !fault;
  }
  /// Returns whether one of the policies is merged with the policies that a rule inherits.
  bool merges() const {
    return std::any_of(policies.begin(), policies.end(), [](const auto& each) { return each->merges; });
  }
  /// Returns whether they may have settings for connections to Backends.
  bool governsConnections() const {
    return timeouts != nullptr || keepalive != nullptr || dns != nullptr || circuitBreaker != nullptr ||
           loadBalancing != nullptr || sendsVia != nullptr || priority != nullptr;
  }
  /// Takes fields that are not set here from the settings of a less specific policy.
  void inherit(const TrafficSettings& others);
  /// Replaces the fields that come from `policy` with the fields of `other`.
  void replace(const config::TrafficPolicy& policy, const config::TrafficPolicy& other);

  /// Returns true if both have the same fields of the same versions of the same policies.
  friend bool operator==(const TrafficSettings&, const TrafficSettings&) = default;
};

/// RuleTraffic has the settings of policies for a rule and for each of its Backends.
struct RuleTraffic {
  TrafficSettings own = {};  // from policies for it and its route
  std::vector<TrafficSettings> ofBackends =
      {};  // one for each weighted backend; empty if no policy targets one of them
  /// One for each mirror of the rule, then for each mirror of its weighted backends; empty likewise. Mirrors have no
  /// other settings than these.
  std::vector<TrafficSettings> ofMirrors = {};
  TrafficSettings inherited = {};  // from policies for the listener and its Gateway

  friend bool operator==(const RuleTraffic&, const RuleTraffic&) = default;

  /// Returns the settings of the rule as a whole.
  TrafficSettings ofRule() const;
  /// Returns the settings for one of its weighted backends.
  TrafficSettings ofBackend(std::size_t index) const;
};

/// The rules of a listener inherit these settings.
struct ListenerTraffic {
  TrafficSettings settings;
  /// The name of the Gateway, or of the listener if a policy targets the listener. Health and other state of Backends
  /// under these settings is kept under this name.
  std::string place;

  friend bool operator==(const ListenerTraffic&, const ListenerTraffic&) = default;
};

class TrafficPolicies {
 public:
  /// `model` must outlive it.
  explicit TrafficPolicies(const config::Model& model);

  /// Returns true if no object has such settings.
  bool empty() const { return policies_.empty() && !ofBackends_; }
  /// Returns true if a policy targets the route or Gateway, or a section of it.
  bool concern(const config::ObjectMeta& object) const { return policies_.concern(object); }
  /// Returns the settings of policies for the section and its object, such as a rule and its route.
  TrafficSettings of(const config::ObjectMeta& object, const config::PolicySection& section) const;
  /// Returns true if some policy targets a Backend or a Service, or some Backend has settings of its own.
  bool areOfBackends() const { return ofBackends_; }
  /// Returns the settings of policies for the Backend or Service to which a reference of `holder` refers, and those of
  /// the Backend itself.
  TrafficSettings of(const BackendUse& use, const Holder& holder) const;
  /// Returns the settings of policies for the listener and its Gateway.
  ListenerTraffic ofListener(const config::ObjectMeta& gateway, std::string_view listener) const;
  /// Returns the settings of a rule after merging. Each policy that merges is replaced by the result of merging it with
  /// its parent, the most specific policy of the same form among `inherited`. The fault describes what is wrong with
  /// the two together.
  TrafficSettings merged(TrafficSettings own, const TrafficSettings& inherited) const;

 private:
  using Pair = std::pair<const config::TrafficPolicy*, const config::TrafficPolicy*>;
  using Candidate = AttachedPolicies<config::TrafficPolicy>::PolicyCandidate;
  static void add(const Candidate* candidate, TrafficSettings& settings);

  /// Returns the Service to which a reference of `holder` leads; nullptr if it leads to none.
  const config::Service* serviceOf(const BackendUse& use, const Holder& holder) const;

  const config::Model& model_;
  const AttachedPolicies<config::TrafficPolicy> policies_;
  const bool ofBackends_;                                 // whether any Backend or Service may have settings
  mutable std::map<Pair, config::MergedTraffic> merged_;  // by parent and policy
};

}  // namespace sluice::compile
