// The settings of TrafficPolicies that count for a rule. Each field of a policy's spec counts as a whole: that of a
// policy for the rule, or else that of one for its route, for the listener or for the Gateway.
//
// The settings of a route and its rules are the same at every listener, but those that they inherit differ by listener.
// The object lives as long as one compilation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/policies/attached_policies.h"

namespace sluice::control {

/// Null stands for what no policy says.
struct TrafficSettings {
  const config::TrafficRetry* retry = nullptr;
  const config::FailoverSettings* failover = nullptr;
  const config::PassiveHealthSettings* passiveHealth = nullptr;
  const config::ActiveHealthSettings* activeHealth = nullptr;
  /// Set if one of the policies must not be left out and cannot be served.
  std::optional<Fault> fault = std::nullopt;

  bool empty() const {
    return retry == nullptr && failover == nullptr && passiveHealth == nullptr && activeHealth == nullptr && !fault;
  }
  /// Takes what these settings do not say from those of a less specific policy.
  void inherit(const TrafficSettings& others);
};

/// The rules of a listener inherit these settings.
struct ListenerTraffic {
  TrafficSettings settings;
  /// Names the Gateway, or the listener if it has a policy of its own. What is learnt of Backends by these settings is
  /// kept under this name.
  std::string place;
};

class TrafficPolicies {
 public:
  /// `model` must outlive it.
  explicit TrafficPolicies(const config::Model& model) : policies_(model) {}

  /// Returns true if a policy targets the route or Gateway, or a section of it.
  bool concern(const config::ObjectMeta& object) const { return policies_.concern(object); }
  /// Returns what policies for the rule and its route say.
  TrafficSettings of(const config::ObjectMeta& route, std::string_view rule) const;
  /// Returns what policies for the listener and its Gateway say.
  ListenerTraffic ofListener(const config::ObjectMeta& gateway, std::string_view listener) const;

 private:
  using Candidate = AttachedPolicies<config::TrafficPolicy>::PolicyCandidate;
  static void add(const Candidate* candidate, TrafficSettings& settings);

  const AttachedPolicies<config::TrafficPolicy> policies_;
};

}  // namespace sluice::control
