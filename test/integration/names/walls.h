// What stands between the requests of a test and addresses that they must not reach: the address guard, an
// EgressPolicy while the guard lets everything pass, or both.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"

namespace sluice::test {

struct Wall {
  std::string name;
  /// Value of addressGuard.allow.
  std::string allow;
  /// A document with the policy "wall", or nothing, and the rules by which it denies and lets pass.
  std::string policy = {};
  std::string denying = {};
  std::string passing = {};
  /// The error.type of requests that it stops.
  std::string error = "destination_ip_prohibited";

  /// Returns whether the policy stops requests; else the guard does.
  bool isPolicy() const { return error == "http_request_denied"; }
  /// Returns the series of the decisions that it takes as a policy.
  std::string denials() const { return decisionsOf("wall", denying, "denied"); }
  std::string passes() const { return decisionsOf("wall", passing, "allowed"); }
};

/// Networks for private and special purposes, but for loopback. Neither the unspecified addresses nor any form of IPv6
/// that carries an address of IPv4 is among them.
inline constexpr const char* kInnerNetworks =
    "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, 169.254.0.0/16, 224.0.0.0/4, 240.0.0.0/4, 'fc00::/7', "
    "'fe80::/10'";

/// The address guard, which lets these addresses pass that are not public.
inline Wall guardAlone(const std::string& networks) { return {.name = "Guard", .allow = networks}; }

inline const std::string kEveryAddress = "0.0.0.0/0, '::/0'";

/// A policy that denies these networks alone, and an open guard.
inline Wall denyRule(const std::string& networks) {
  return {
      .name = "DenyRule",
      .allow = kEveryAddress,
      .policy = egressPolicy("wall", kGatewayTarget,
                             "default: Allow, rules: [" + denying("inner", "to: {cidrs: [" + networks + "]}") + "]"),
      .denying = "inner",
      .passing = "default",
      .error = "http_request_denied"};
}
/// A policy that allows these networks alone, and an open guard.
inline Wall allowRule(const std::string& networks) {
  return {.name = "AllowRule",
          .allow = kEveryAddress,
          .policy = egressPolicy("wall", kGatewayTarget,
                                 "rules: [" + allowing("outer", "to: {cidrs: [" + networks + "]}") + "]"),
          .denying = "default",
          .passing = "outer",
          .error = "http_request_denied"};
}
/// The policy with the guard before it, which lets these addresses pass that are not public.
inline Wall behindTheGuard(const std::string& networks, Wall policy) {
  policy.name += "BehindTheGuard";
  policy.allow = networks;
  policy.error = "destination_ip_prohibited";
  return policy;
}

/// Returns a gateway with this wall. Requests below "/NAME" go to the Backend of that name.
inline GatewaySpec gatewayWith(const Wall& wall, std::vector<BackendSpec> backends) {
  GatewaySpec spec;
  spec.backends = std::move(backends);
  spec.allow = wall.allow;
  for (const BackendSpec& each : spec.backends) {
    spec.routes += "---\n" + routeOfRules(ruleOfPrefix("/" + each.name, each.name), each.name);
  }
  spec.routes += wall.policy;
  return spec;
}

}  // namespace sluice::test
