// Finds steps that may hold longer bodies than their rule keeps for retries, so that a retry may be refused although a
// step could hold the body. The configuration is served as it is written; `sluice validate` warns.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/base/settings.h"
#include "proxy/compile/gateways/gateway_plan.h"

namespace sluice::compile {

struct UnkeptBody {
  std::string route;  // "namespace/name"
  bool grpc = false;  // the route is a GRPCRoute
  std::string backend;
  std::string step;
  std::uint64_t held = 0;  // the bytes that the step may hold
  std::uint64_t kept = 0;  // the bytes that are kept for retries

  friend auto operator<=>(const UnkeptBody&, const UnkeptBody&) = default;
};

/// Returns the steps of Backends with a bound of their own that is above what a rule with that Backend keeps, each once
/// and sorted. What steps of a Gateway or a route hold is kept in any case.
std::vector<UnkeptBody> unkeptBodies(const std::vector<GatewayPlan>& gateways, const base::LimitSettings& limits);

}  // namespace sluice::compile
