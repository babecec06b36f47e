// The settings of TrafficPolicies that count for a rule. Each field of a policy's spec counts as a whole: that of a
// policy for the rule, or else that of one for its route.
//
// It lives as long as one compilation.
#pragma once

#include <optional>
#include <string_view>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/policies/attached_policies.h"

namespace sluice::control {

/// Null stands for what no policy says.
struct TrafficSettings {
  const config::HttpRouteRetry* retry = nullptr;
  const config::FailoverSettings* failover = nullptr;
  const config::PassiveHealthSettings* passiveHealth = nullptr;
  const config::ActiveHealthSettings* activeHealth = nullptr;
  /// Set if one of the policies must not be left out and cannot be served.
  std::optional<Fault> fault = std::nullopt;
};

class TrafficPolicies {
 public:
  /// `model` must outlive it.
  explicit TrafficPolicies(const config::Model& model) : policies_(model) {}

  /// Returns true if a policy targets the route or a rule of it.
  bool concern(const config::ObjectMeta& route) const { return policies_.concern(route); }
  TrafficSettings of(const config::ObjectMeta& route, std::string_view rule) const;

 private:
  using Candidate = AttachedPolicies<config::TrafficPolicy>::PolicyCandidate;
  static void add(const Candidate* candidate, TrafficSettings& settings);

  const AttachedPolicies<config::TrafficPolicy> policies_;
};

}  // namespace sluice::control
